// What the header calls an attribute that the kernel complains about.
import {
  NFT_MSG_DELCHAIN,
  NFT_MSG_DELRULE,
  NFT_MSG_DELSET,
  NFT_MSG_DELSETELEM,
  NFT_MSG_DELTABLE,
  NFT_MSG_DESTROYSETELEM,
  NFT_MSG_NEWCHAIN,
  NFT_MSG_NEWRULE,
  NFT_MSG_NEWSET,
  NFT_MSG_NEWSETELEM,
  NFT_MSG_NEWTABLE,
} from './constants.ts';

/** Attribute type → its name and, for a nested one, what stands in it. */
interface Names {
  readonly [type: number]: string | readonly [string, Names];
}

const DATA: Names = {
  1: 'NFTA_DATA_VALUE',
  2: ['NFTA_DATA_VERDICT', { 1: 'NFTA_VERDICT_CODE', 2: 'NFTA_VERDICT_CHAIN' }],
};
const TABLE: Names = { 1: 'NFTA_TABLE_NAME' };
const CHAIN: Names = {
  1: 'NFTA_CHAIN_TABLE',
  3: 'NFTA_CHAIN_NAME',
  4: ['NFTA_CHAIN_HOOK', { 1: 'NFTA_HOOK_HOOKNUM', 2: 'NFTA_HOOK_PRIORITY' }],
  5: 'NFTA_CHAIN_POLICY',
  7: 'NFTA_CHAIN_TYPE',
};
const RULE: Names = {
  1: 'NFTA_RULE_TABLE',
  2: 'NFTA_RULE_CHAIN',
  4: ['NFTA_RULE_EXPRESSIONS', { 1: ['NFTA_LIST_ELEM', { 1: 'NFTA_EXPR_NAME', 2: ['NFTA_EXPR_DATA', {}] }] }],
  7: 'NFTA_RULE_USERDATA',
};
const SET: Names = {
  1: 'NFTA_SET_TABLE',
  2: 'NFTA_SET_NAME',
  3: 'NFTA_SET_FLAGS',
  4: 'NFTA_SET_KEY_TYPE',
  5: 'NFTA_SET_KEY_LEN',
  6: 'NFTA_SET_DATA_TYPE',
  7: 'NFTA_SET_DATA_LEN',
  9: ['NFTA_SET_DESC', { 1: 'NFTA_SET_DESC_SIZE', 2: 'NFTA_SET_DESC_CONCAT' }],
  10: 'NFTA_SET_ID',
  11: 'NFTA_SET_TIMEOUT',
  13: 'NFTA_SET_USERDATA',
};
const ELEMENT: Names = {
  1: ['NFTA_SET_ELEM_KEY', DATA],
  2: ['NFTA_SET_ELEM_DATA', DATA],
  3: 'NFTA_SET_ELEM_FLAGS',
  4: 'NFTA_SET_ELEM_TIMEOUT',
  5: 'NFTA_SET_ELEM_EXPIRATION',
  10: ['NFTA_SET_ELEM_KEY_END', DATA],
};
const ELEMENTS: Names = {
  1: 'NFTA_SET_ELEM_LIST_TABLE',
  2: 'NFTA_SET_ELEM_LIST_SET',
  3: ['NFTA_SET_ELEM_LIST_ELEMENTS', { 1: ['NFTA_LIST_ELEM', ELEMENT] }],
  4: 'NFTA_SET_ELEM_LIST_SET_ID',
};
const MESSAGES: Readonly<Record<number, Names>> = {
  [NFT_MSG_NEWTABLE]: TABLE,
  [NFT_MSG_DELTABLE]: TABLE,
  [NFT_MSG_NEWCHAIN]: CHAIN,
  [NFT_MSG_DELCHAIN]: CHAIN,
  [NFT_MSG_NEWRULE]: RULE,
  [NFT_MSG_DELRULE]: RULE,
  [NFT_MSG_NEWSET]: SET,
  [NFT_MSG_DELSET]: SET,
  [NFT_MSG_NEWSETELEM]: ELEMENTS,
  [NFT_MSG_DELSETELEM]: ELEMENTS,
  [NFT_MSG_DESTROYSETELEM]: ELEMENTS,
};

/** The names along a path of attribute types, the outermost first; a number where the header's name is not known. */
export function attributeNames(message: number, path: readonly number[]): readonly string[] {
  let names: Names = MESSAGES[message] ?? {};
  return path.map((type) => {
    const found = names[type];
    if (found === undefined || typeof found === 'string') {
      names = {};
      return found ?? String(type);
    }
    names = found[1];
    return found[0];
  });
}
