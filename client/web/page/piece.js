// How a piece looks: as its game draws it, or else a disc with its letter.

import { s } from './dom.js';
import { customsOf } from './games.js';

/** @import { Board } from './position.js' */

/**
 * A piece around the origin, in a square of 100 by 100.
 * @param {Board} board
 * @param {string} piece the character that positions have for it
 * @returns {SVGElement}
 */
export function drawPiece(board, piece) {
  const seat = board.seatOf(piece);
  const drawn = seat === null ? null : customsOf(board.game).piece?.(seat, piece);
  return s(
    'g',
    { class: `piece seat-${seat ?? 'none'} of-${board.game}` },
    drawn ?? s('g', {}, s('circle', { class: 'disc', r: 40 }), letter(piece)),
  );
}

/** @param {string} piece */
const letter = (piece) =>
  s('text', { class: 'letter', 'text-anchor': 'middle', 'dominant-baseline': 'central' }, piece);

/**
 * A picture of one piece.
 * @param {Board} board
 * @param {string} piece
 */
export const iconOf = (board, piece) =>
  s(
    'svg',
    { class: 'icon-piece', viewBox: '-50 -50 100 100', 'aria-hidden': 'true' },
    drawPiece(board, piece),
  );

/**
 * A picture of what a seat plays with.
 * @param {Board} board
 * @param {number} seat
 */
export const pieceIcon = (board, seat) => iconOf(board, board.pieceOf(seat));
