// What people type or paste where a code is asked for.

/** A code, or the id that a match has for good. */
const NAME = /^([0-9A-Z]{6}|[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12})$/;

/** The match that a text names: by its code, with spaces or without, or by a link. */
export function parseMatchCode(text: string): string | null {
  const linked = /\/m\/([^/?#\s]+)/i.exec(text)?.[1];
  const name = (linked ?? text).replace(/\s/g, '').toUpperCase();
  return NAME.test(name) ? name : null;
}

/** What an address spells, or as it is where it spells nothing. */
export function decodeUriOrKeep(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
