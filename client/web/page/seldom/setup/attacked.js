// Whether a king of chess could be taken. Of matches the server tells it; a position that is set up has no match yet.

/** @import { Board } from '../../position.js' */

/** The steps of a piece that goes on until something is in the way. */
const STRAIGHT = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // prettier-ignore
const SLANTED = [[1, 1], [1, -1], [-1, 1], [-1, -1]]; // prettier-ignore
const LEAPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]; // prettier-ignore

/**
 * @param {Board} board
 * @param {string} square where a king stands
 * @param {boolean} white whose king it is
 */
export function isAttacked(board, square, white) {
  const place = board.place(square);
  if (!place) return false;
  const { file, rank } = place;
  const at = (/** @type {number} */ right, /** @type {number} */ up) =>
    board.at(board.name(file + right, rank + up));
  const is = (/** @type {string} */ piece, /** @type {string} */ kinds) =>
    [...kinds].some((kind) => piece === (white ? kind : kind.toUpperCase()));
  const ray = (/** @type {number[]} */ [right = 0, up = 0]) => {
    for (let step = 1; step < 8; step++) {
      const piece = at(right * step, up * step);
      if (piece !== '.') return { piece, step };
    }
    return { piece: '.', step: 0 };
  };
  const along = (/** @type {number[][]} */ ways, /** @type {string} */ kinds) =>
    ways.map(ray).some(({ piece, step }) => is(piece, kinds) || (step === 1 && is(piece, 'k')));
  return (
    along(STRAIGHT, 'rq') ||
    along(SLANTED, 'bq') ||
    LEAPS.some(([right = 0, up = 0]) => is(at(right, up), 'n')) ||
    [-1, 1].some((right) => is(at(right, white ? 1 : -1), 'p'))
  );
}
