// What brings a player to another device: codes and keys, as people read and type them.

/** Characters of a pairing code. */
const CODE = /^[0-9A-Z]{8}$/;
/** 130 bits in base32. */
const KEY = /^[A-Z2-7]{26}$/;

/** The code or the key in what was typed or pasted, with blanks or hyphens or without, or as a link. */
export function parseSignInCode(text: string): { pair: string } | { recovery: string } | null {
  const linked = /\/pair#([^/?#\s]+)/i.exec(text)?.[1];
  const secret = (linked ?? text).replace(/[\s-]/g, '').toUpperCase();
  if (CODE.test(secret)) return { pair: secret };
  return KEY.test(secret) ? { recovery: secret } : null;
}

/**
 * A text in groups that are easily read; none is of one character alone.
 * @param length of a group
 */
export const groupCharacters = (text: string, length: number, gap: string = ' ') =>
  text.match(new RegExp(`.{${length}}(?!.?$)|.+`, 'g'))?.join(gap) ?? '';
