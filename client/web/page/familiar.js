// The order in which people know games.

/** @import { Game } from '../protocol.js' */

/** What is not among them comes after. */
const FAMILIAR = ['chess', 'draughts', 'connect-four', 'tic-tac-toe', 'othello', 'go', 'gomoku'];

/** @param {Game[]} games */
export function familiar(games) {
  const place = (/** @type {Game} */ { game }) =>
    FAMILIAR.includes(game) ? FAMILIAR.indexOf(game) : FAMILIAR.length;
  return games.toSorted((one, other) => place(one) - place(other));
}
