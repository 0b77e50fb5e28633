// How a piece looks: as its game draws it, or else a disc with its letter.

import { s } from '../ui/dom.ts';
import { customsOf } from '../model/games.ts';

import type { Board } from '../model/position.ts';

/**
 * A piece around the origin, in a square of 100 by 100.
 * @param piece the character that positions have for it
 */
export function drawPiece(board: Board, piece: string): SVGElement {
  const seat = board.seatOf(piece);
  const drawn = seat === null ? null : customsOf(board.game).piece?.(seat, piece);
  return s(
    'g',
    { class: `piece seat-${seat ?? 'none'} of-${board.game}` },
    drawn ?? s('g', {}, s('circle', { class: 'disc', r: 40 }), letter(piece)),
  );
}

const letter = (piece: string) =>
  s('text', { class: 'letter', 'text-anchor': 'middle', 'dominant-baseline': 'central' }, piece);

/** A picture of one piece. */
export const iconOf = (board: Board, piece: string) =>
  s(
    'svg',
    { class: 'icon-piece', viewBox: '-50 -50 100 100', 'aria-hidden': 'true' },
    drawPiece(board, piece),
  );

/** A picture of what a seat plays with. */
export const pieceIcon = (board: Board, seat: number) => iconOf(board, board.pieceOf(seat));
