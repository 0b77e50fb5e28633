// Whether a king of chess could be taken. Of matches the server tells it; a position that is set up has no match yet.

import type { Board } from '../model/position.ts';

/** The steps of a piece that goes on until something is in the way. */
const STRAIGHT = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // prettier-ignore
const SLANTED = [[1, 1], [1, -1], [-1, 1], [-1, -1]]; // prettier-ignore
const LEAPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]; // prettier-ignore

/**
 * @param square where a king stands
 * @param white whose king it is
 */
export function isAttacked(board: Board, square: string, white: boolean) {
  const place = board.coordinatesOf(square);
  if (!place) return false;
  const { file, rank } = place;
  const at = (right: number, up: number) =>
    board.pieceAt(board.squareName(file + right, rank + up));
  const is = (piece: string, kinds: string) =>
    [...kinds].some((kind) => piece === (white ? kind : kind.toUpperCase()));
  const ray = ([right = 0, up = 0]: number[]) => {
    for (let step = 1; step < 8; step++) {
      const piece = at(right * step, up * step);
      if (piece !== '.') return { piece, step };
    }
    return { piece: '.', step: 0 };
  };
  const along = (ways: number[][], kinds: string) =>
    ways.map(ray).some(({ piece, step }) => is(piece, kinds) || (step === 1 && is(piece, 'k')));
  return (
    along(STRAIGHT, 'rq') ||
    along(SLANTED, 'bq') ||
    LEAPS.some(([right = 0, up = 0]) => is(at(right, up), 'n')) ||
    [-1, 1].some((right) => is(at(right, white ? 1 : -1), 'p'))
  );
}
