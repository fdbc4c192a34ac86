// Reads the proxy's flags the way kube-proxy does: `--name=value`, `--name value`, `_` for `-`, `-v2`.
import { PointsmanError } from '../base/errors.ts';
import { FLAGS, type Flag } from './flag-table.ts';
import { DEFAULT_VALUES, type FlagValues } from './flag-values.ts';
import { nearest } from './nearest.ts';

/** What the arguments ask for. */
export type Request =
  | { readonly kind: 'run'; readonly values: FlagValues; readonly given: readonly GivenFlag[] }
  | { readonly kind: 'help' }
  | { readonly kind: 'version'; readonly raw: boolean };

/** A flag as it was given, for the log. */
export interface GivenFlag {
  readonly name: string;
  readonly text: string;
}

/** Flags that end the program before it begins. */
const HELP = 'help';
const VERSION = 'version';
const OTHERS: Readonly<Record<string, string>> = { [HELP]: 'true', [VERSION]: 'true' };
const SHORTHANDS: Readonly<Record<string, string>> = { h: HELP };

const usage = (message: string, hint = 'see pointsman --help'): PointsmanError =>
  new PointsmanError('E_USAGE', message, { hint });

/** Throws E_USAGE for the first thing that is wrong. */
export function parseFlags(args: readonly string[], flags: readonly Flag[] = FLAGS): Request {
  const byName = new Map(flags.map((flag) => [flag.name, flag]));
  const byLetter = new Map(
    flags.flatMap((flag) => (flag.shorthand === undefined ? [] : [[flag.shorthand, flag.name] as const])),
  );
  const given: GivenFlag[] = [];
  const rest = [...args];

  const bareOf = (name: string): string | undefined => OTHERS[name] ?? byName.get(name)?.bare;
  const take = (name: string, shown: string, attached: string | undefined): void => {
    const text = attached ?? bareOf(name) ?? rest.shift();
    if (text === undefined) throw usage(`flag needs an argument: ${shown}`);
    given.push({ name, text });
  };

  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      const [extra] = rest;
      if (extra !== undefined) throw unexpected(extra);
    } else if (word.startsWith('--')) {
      const [, written = '', attached] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      const name = written.replaceAll('_', '-');
      if (!byName.has(name) && !(name in OTHERS)) {
        const meant = nearest(name, [...byName.keys(), ...Object.keys(OTHERS)]);
        throw usage(
          `unknown flag: --${written}`,
          meant === undefined ? undefined : `did you mean --${meant}? See pointsman --help`,
        );
      }
      take(name, `--${name}`, attached);
    } else if (word.startsWith('-') && word !== '-') takeShorthands(word.slice(1));
    else throw unexpected(word);
  }
  return requestOf(given, byName);

  /** Letters without value may stand together; the first that has one takes all that follows. */
  function takeShorthands(word: string): void {
    for (let at = 0; at < word.length; at++) {
      const letter = word[at] ?? '';
      const name = byLetter.get(letter) ?? SHORTHANDS[letter];
      if (name === undefined) throw usage(`unknown shorthand flag: "${letter}" in -${word}`);
      const following = word.slice(at + 1);
      const attached = following.startsWith('=') ? following.slice(1) : following;
      if (following.startsWith('=') || bareOf(name) === undefined) {
        take(name, `-${letter}`, following === '' ? undefined : attached);
        return;
      }
      take(name, `-${letter}`, undefined);
    }
  }
}

function unexpected(word: string): PointsmanError {
  return usage(`unexpected argument "${word}"`, 'the proxy takes flags only, and a command stands first');
}

function requestOf(given: readonly GivenFlag[], byName: ReadonlyMap<string, Flag>): Request {
  if (given.some(({ name }) => name === HELP)) return { kind: 'help' };
  const version = given.findLast(({ name }) => name === VERSION);
  if (version !== undefined && version.text !== 'false') {
    if (version.text !== 'raw' && version.text !== 'true')
      throw usage(`invalid argument "${version.text}" for --version: is none of true, false, raw`);
    return { kind: 'version', raw: version.text === 'raw' };
  }
  let values = DEFAULT_VALUES;
  for (const { name, text } of given) {
    const read = byName.get(name)?.read(text);
    if (read?.kind === 'wrong') throw usage(`invalid argument "${text}" for --${name}: ${read.because}`);
    if (read !== undefined) values = { ...values, ...read.value };
  }
  return { kind: 'run', values, given };
}
