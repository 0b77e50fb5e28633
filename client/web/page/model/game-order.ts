// Sorts games by how well known they are.

import type { Game } from '../net/protocol.ts';

/** The well-known games, the best known first. All others follow. */
const FAMILIAR = ['chess', 'draughts', 'connect-four', 'tic-tac-toe', 'othello', 'go', 'gomoku'];

export function sortByFamiliarity(games: Game[]) {
  const place = ({ game }: Game) =>
    FAMILIAR.includes(game) ? FAMILIAR.indexOf(game) : FAMILIAR.length;
  return games.toSorted((a, b) => place(a) - place(b));
}
