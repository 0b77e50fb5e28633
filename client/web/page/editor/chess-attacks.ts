// Detects check in a chess position for the editor. The server only reports check in matches.

import type { Board } from '../model/position.ts';

const ROOK_STEPS = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // prettier-ignore
const BISHOP_STEPS = [[1, 1], [1, -1], [-1, 1], [-1, -1]]; // prettier-ignore
const KNIGHT_STEPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]; // prettier-ignore

/** @param isWhite whether the king on the square is white */
export function isAttacked(board: Board, square: string, isWhite: boolean) {
  const coordinates = board.coordinatesOf(square);
  if (!coordinates) return false;
  const { file, rank } = coordinates;
  const at = (right: number, up: number) =>
    board.pieceAt(board.squareName(file + right, rank + up));
  const isEnemy = (piece: string, kinds: string) =>
    [...kinds].some((kind) => piece === (isWhite ? kind : kind.toUpperCase()));
  const firstPiece = ([right = 0, up = 0]: number[]) => {
    for (let step = 1; step < 8; step++) {
      const piece = at(right * step, up * step);
      if (piece !== '.') return { piece, step };
    }
    return { piece: '.', step: 0 };
  };
  const isAttackedAlong = (directions: number[][], kinds: string) =>
    directions
      .map(firstPiece)
      .some(({ piece, step }) => isEnemy(piece, kinds) || (step === 1 && isEnemy(piece, 'k')));
  return (
    isAttackedAlong(ROOK_STEPS, 'rq') ||
    isAttackedAlong(BISHOP_STEPS, 'bq') ||
    KNIGHT_STEPS.some(([right = 0, up = 0]) => isEnemy(at(right, up), 'n')) ||
    [-1, 1].some((right) => isEnemy(at(right, isWhite ? 1 : -1), 'p'))
  );
}
