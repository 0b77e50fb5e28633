// A link to a position of a match that is over: behind `#` stands after how many moves.

/** After how many moves a link shows the board; `null` if it does not say. */
export function parsePlyHash(hash: string) {
  const ply = /^#(\d{1,5})$/.exec(hash)?.[1];
  return ply === undefined ? null : Number(ply);
}

/** Has the address lead to what is shown. */
export function setPlyHash(ply: number | null) {
  const hash = ply === null ? '' : `#${ply}`;
  if (location.hash !== hash) history.replaceState(history.state, '', location.pathname + hash);
}
