// Parses match codes and match links that users enter.

/** A short match code or a match id (UUID). */
const MATCH_NAME = /^([0-9A-Z]{6}|[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12})$/;

/** Returns the code or id in a text, which may be a link or contain spaces; else `null`. */
export function parseMatchCode(text: string): string | null {
  const linked = /\/m\/([^/?#\s]+)/i.exec(text)?.[1];
  const name = (linked ?? text).replace(/\s/g, '').toUpperCase();
  return MATCH_NAME.test(name) ? name : null;
}

/** Decodes a URI component, or returns it unchanged if it is malformed. */
export function decodeUriOrKeep(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
