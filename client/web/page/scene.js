// What is to be seen of a match: its board now or in the past, and what the last move changed.

import { EMPTY } from './fen.js';
import { customsOf, landingOf } from './games.js';
import { Board } from './position.js';

/** @import { Game } from '../protocol.js' */
/** @import { Match } from './match.js' */
/** @import { Option } from './picking.js' */

/**
 * What the board shows and allows now.
 * @typedef {object} View
 * @property {Board} board
 * @property {string[]} last the squares of the last move
 * @property {string | null} check the square of a king that is attacked
 * @property {string[]} line the winning line
 * @property {string[]} legal the moves that may be chosen now
 * @property {Option[]} ahead what may be chosen ahead, while the other one is to move
 * @property {string[]} queued the squares of what is chosen ahead
 * @property {number | null} seat whose piece a chosen move brings
 * @property {boolean} moving whether new pieces arrive before one's eyes
 * @property {boolean} turned whether it is seen from the other side
 */

/**
 * The board after so many moves, the squares of the last of them, and that of a king that is attacked.
 * @param {Game} game
 * @param {Match} match
 * @param {number} ply
 * @returns {Pick<View, 'board' | 'last' | 'check'>}
 */
export function boardAfter(game, match, ply) {
  const board = new Board(game, match.past[ply] ?? match.position);
  const move = match.moves[ply - 1];
  const before = boardBefore(game, match, ply);
  const { king, path } = customsOf(game.game);
  const check = (isCheck(match, ply) && king?.(board)) || null;
  if (move === undefined) return { board, last: [], check };
  const last = path(move, board);
  if (last.length > 0 || !before) return { board, last, check };
  const filled = [...board.squares()].filter((at) => before.isEmpty(at) && !board.isEmpty(at));
  return { board, last: filled, check };
}

/** Whether the side to move was in check after so many moves, as players write them. @param {Match} match @param {number} ply */
const isCheck = ({ san, checkedAtStart }, ply) =>
  ply === 0 ? checkedAtStart : /[+#]$/.test(san?.[ply - 1] ?? '');

/**
 * The board on which a move was played, where it is known.
 * @param {Game} game
 * @param {Match} match
 * @param {number} ply how many moves there were with it
 */
export function boardBefore(game, match, ply) {
  const position = match.past[ply - 1];
  return position === undefined ? null : new Board(game, position);
}

/**
 * The match as it was after so many moves.
 * @param {Match} match
 * @param {number} ply
 * @returns {Match}
 */
export const asWas = (match, ply) =>
  ply === match.ply ? match : { ...match, ply, moves: match.moves.slice(0, ply) };

/**
 * The board as it will look when the server has taken a move of ours. The rules are the server's: a
 * move that does more than bring a piece is seen whole when it answers.
 * @param {Game} game
 * @param {Match} match
 * @param {string} move
 * @returns {Pick<View, 'board' | 'last' | 'check'>}
 */
export function boardWith(game, match, move) {
  const now = boardAfter(game, match, match.ply);
  const { board } = now;
  const square = landingOf(move, board);
  if (square === null || match.you === null) return now;
  const [from = square, ...rest] = customsOf(game.game).path(move, board);
  if (rest.length === 0) {
    const last = [square];
    return { board: board.with({ [square]: board.pieceOf(match.you) }), last, check: null };
  }
  const changes = { [from]: EMPTY, [square]: board.at(from) };
  return { board: board.with(changes), last: [from, ...rest], check: null };
}
