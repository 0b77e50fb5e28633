// The address of a position that is set up: which game, and the position as a match would begin with it.

/** @param {string} game @param {string} position */
export const addressOf = (game, position) =>
  `/setup#${new URLSearchParams({ game, position }).toString()}`;

/** @param {string} hash @returns {{ game?: string, position?: string }} */
export function wishedIn(hash) {
  const told = new URLSearchParams(hash.slice(1));
  const [game, position] = [told.get('game'), told.get('position')];
  return { ...(game ? { game } : {}), ...(position ? { position } : {}) };
}
