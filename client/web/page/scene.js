// What is to be seen of a match: its board now or in the past, and what the last move changed.

import { customsOf } from './games.js';
import { Board } from './position.js';

/** @import { Game } from '../protocol.js' */
/** @import { Match } from './match.js' */

/**
 * The board after so many moves, and the squares of the last of them.
 * @param {Game} game
 * @param {Match} match
 * @param {number} ply
 * @returns {{ board: Board, last: string[] }}
 */
export function boardAfter(game, match, ply) {
  const board = new Board(game, match.past[ply] ?? match.position);
  const move = match.moves[ply - 1];
  const before = match.past[ply - 1];
  if (move === undefined) return { board, last: [] };
  if (board.has(move)) return { board, last: [move] };
  if (before === undefined) return { board, last: [] };
  const old = new Board(game, before);
  const last = [...board.squares()].filter((at) => old.isEmpty(at) && !board.isEmpty(at));
  return { board, last };
}

/**
 * The board as it will look when the server has taken a move of ours. The rules are the server's: a
 * move that does more than bring a piece is seen whole when it answers.
 * @param {Game} game
 * @param {Match} match
 * @param {string} move
 * @returns {{ board: Board, last: string[] }}
 */
export function boardWith(game, match, move) {
  const now = boardAfter(game, match, match.ply);
  const square = customsOf(game.game).landing(move, now.board);
  if (square === null || match.you === null) return now;
  return { board: now.board.with(square, now.board.pieceOf(match.you)), last: [square] };
}
