// How a piece looks: as its game draws it, or else a disc with its letter.

import { svg } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';

import type { Board } from '../model/position.ts';

/**
 * A piece around the origin, in a square of 100 by 100.
 * @param piece the character that positions have for it
 */
export function drawPiece(board: Board, piece: string): SVGElement {
  const seat = board.seatOf(piece);
  const drawn = seat === null ? null : conventionsOf(board.game).drawPiece?.(seat, piece);
  return svg(
    'g',
    { class: `piece seat-${seat ?? 'none'} of-${board.game}` },
    drawn ?? svg('g', {}, svg('circle', { class: 'disc', r: 40 }), letter(piece)),
  );
}

const letter = (piece: string) =>
  svg('text', { class: 'letter', 'text-anchor': 'middle', 'dominant-baseline': 'central' }, piece);

/** A picture of one piece. */
export const drawPieceIcon = (board: Board, piece: string) =>
  svg(
    'svg',
    { class: 'icon-piece', viewBox: '-50 -50 100 100', 'aria-hidden': 'true' },
    drawPiece(board, piece),
  );

/** A picture of what a seat plays with. */
export const drawSeatIcon = (board: Board, seat: number) =>
  drawPieceIcon(board, board.pieceOf(seat));
