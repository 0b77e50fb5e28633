// Reads and writes the ply of a displayed position in the URL fragment.

/** Returns the ply of a URL fragment, or `null`. */
export function parsePlyHash(hash: string) {
  const ply = /^#(\d{1,5})$/.exec(hash)?.[1];
  return ply === undefined ? null : Number(ply);
}

/** Sets the ply in the URL fragment, or removes it for `null`. */
export function setPlyHash(ply: number | null) {
  const hash = ply === null ? '' : `#${ply}`;
  if (location.hash !== hash) history.replaceState(history.state, '', location.pathname + hash);
}
