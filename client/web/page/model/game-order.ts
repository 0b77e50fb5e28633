// The order in which people know games.

import type { Game } from '../net/protocol.ts';

/** What is not among them comes after. */
const FAMILIAR = ['chess', 'draughts', 'connect-four', 'tic-tac-toe', 'othello', 'go', 'gomoku'];

export function sortByFamiliarity(games: Game[]) {
  const place = ({ game }: Game) =>
    FAMILIAR.includes(game) ? FAMILIAR.indexOf(game) : FAMILIAR.length;
  return games.toSorted((one, other) => place(one) - place(other));
}
