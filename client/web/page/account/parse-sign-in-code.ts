// Parses pairing codes and recovery keys, and formats them for display.

const PAIRING_CODE = /^[0-9A-Z]{8}$/;
/** 130 bits in base32. */
const RECOVERY_KEY = /^[A-Z2-7]{26}$/;

/** Accepts a code or a key with spaces and hyphens, and a pairing link. */
export function parseSignInCode(text: string): { pair: string } | { recovery: string } | null {
  const linked = /\/pair#([^/?#\s]+)/i.exec(text)?.[1];
  const secret = (linked ?? text).replace(/[\s-]/g, '').toUpperCase();
  if (PAIRING_CODE.test(secret)) return { pair: secret };
  return RECOVERY_KEY.test(secret) ? { recovery: secret } : null;
}

/** Splits a text into groups of `length` characters. No group has a single character. */
export const groupCharacters = (text: string, length: number, separator = ' ') =>
  text.match(new RegExp(`.{${length}}(?!.?$)|.+`, 'g'))?.join(separator) ?? '';
