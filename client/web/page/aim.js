// What would be done at the square under the mouse or the focus, so that it can be shown before.

import { landingOf, squaresOf } from './games.js';

/** @import { Picking } from './picking.js' */
/** @import { View } from './scene.js' */

/**
 * @typedef {object} Intent
 * @property {View} view
 * @property {Picking} picking
 * @property {Map<string, string>} moves which move each square stands for
 * @property {string} aim the square; empty if there is none
 */

/** The squares of what would be done. @param {Intent} intent */
export function aimedAt({ view, picking, moves, aim }) {
  const move = moves.get(aim);
  if (move !== undefined) return squaresOf(move, view.board);
  return picking.origins().has(aim) || picking.targets().has(aim) ? [aim] : [];
}

/** What could come to stand where. @param {Intent} intent */
export function ghostOf({ view, picking, moves, aim }) {
  const { board, seat } = view;
  const { way } = picking;
  const [from] = way;
  if (from !== undefined) {
    const square = picking.targets().has(aim) ? aim : way.at(-1);
    return square === undefined || square === from ? null : { square, piece: board.at(from) };
  }
  const move = moves.get(aim);
  const square = move === undefined ? null : landingOf(move, board);
  return square !== null && seat !== null ? { square, piece: board.pieceOf(seat) } : null;
}
