// Draws a piece as its game defines it, or as a disc with a letter.

import { svg } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';

import type { Board } from '../model/position.ts';

/** Draws a piece centred on the origin, in a square of 100 by 100 units. */
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

export const drawPieceIcon = (board: Board, piece: string) =>
  svg(
    'svg',
    { class: 'icon-piece', viewBox: '-50 -50 100 100', 'aria-hidden': 'true' },
    drawPiece(board, piece),
  );

/** Draws the typical piece of a seat. */
export const drawSeatIcon = (board: Board, seat: number) =>
  drawPieceIcon(board, board.pieceOf(seat));
