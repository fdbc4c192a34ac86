// The register file of an nf_tables rule: sixteen 32-bit words in which one expression leaves values for the next.

declare const WORD: unique symbol;

/**
 * A place in the register file, by its word, 0 to 15. A value takes as many words as it needs from there on; parts of
 * a concatenation stand one after the other, each padded to whole words.
 */
export type Register = number & { readonly [WORD]: true };

const WORDS = 16;
/** enum nft_registers: NFT_REG_1 to NFT_REG_4 are every fourth word, NFT_REG32_00 to NFT_REG32_15 all of them. */
const NFT_REG_1 = 1;
const NFT_REG_4 = 4;
const NFT_REG32_00 = 8;
/** Where a verdict map puts what it found. */
export const NFT_REG_VERDICT = 0;

/** The register at a word. */
export function register(word: number): Register {
  if (!Number.isInteger(word) || word < 0 || word >= WORDS)
    throw new RangeError(`no register at word ${word}`);
  return word as Register;
}

/** The kernel's number of a register, in the form in which it dumps it: the 16-byte one where there is one. */
export function registerNumber(at: Register): number {
  return at % 4 === 0 ? NFT_REG_1 + at / 4 : NFT_REG32_00 + at;
}

/** The register of a kernel's number, in either form; undefined for the verdict register and beyond. */
export function registerOfNumber(number: number): Register | undefined {
  if (number >= NFT_REG_1 && number <= NFT_REG_4) return register((number - NFT_REG_1) * 4);
  if (number >= NFT_REG32_00 && number < NFT_REG32_00 + WORDS) return register(number - NFT_REG32_00);
  return undefined;
}
