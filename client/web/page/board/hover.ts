// What would be done at the square under the mouse or the focus, so that it can be shown before.

import { landingOf, squaresOf } from '../model/games.ts';

import type { Picking } from '../model/move-selection.ts';
import type { View } from '../model/board-state.ts';

export interface Intent {
  view: View;
  picking: Picking;
  /** which move each square stands for */
  moves: Map<string, string>;
  /** the square; empty if there is none */
  aim: string;
}

/** The squares of what would be done. */
export function aimedAt({ view, picking, moves, aim }: Intent) {
  const move = moves.get(aim);
  if (move !== undefined) return squaresOf(move, view.board);
  return picking.origins().has(aim) || picking.targets().has(aim) ? [aim] : [];
}

/** What could come to stand where. */
export function ghostOf({ view, picking, moves, aim }: Intent) {
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
