// What would be done at the square under the mouse or the focus, so that it can be shown before.

import { destinationOf, clickSquaresOf } from '../model/game-conventions.ts';

import type { MoveSelection } from '../model/move-selection.ts';
import type { BoardState } from '../model/board-state.ts';

export interface HoverState {
  boardState: BoardState;
  selection: MoveSelection;
  /** which move each square stands for */
  moveBySquare: Map<string, string>;
  /** the square; empty if there is none */
  hoverSquare: string;
}

/** The squares of what would be done. */
export function previewSquares({
  boardState: view,
  selection: picking,
  moveBySquare: moves,
  hoverSquare: aim,
}: HoverState) {
  const move = moves.get(aim);
  if (move !== undefined) return clickSquaresOf(move, view.board);
  return picking.origins().has(aim) || picking.targets().has(aim) ? [aim] : [];
}

/** What could come to stand where. */
export function ghostPiece({
  boardState: view,
  selection: picking,
  moveBySquare: moves,
  hoverSquare: aim,
}: HoverState) {
  const { board, seat } = view;
  const { selectedSquares: way } = picking;
  const [from] = way;
  if (from !== undefined) {
    const square = picking.targets().has(aim) ? aim : way.at(-1);
    return square === undefined || square === from ? null : { square, piece: board.pieceAt(from) };
  }
  const move = moves.get(aim);
  const square = move === undefined ? null : destinationOf(move, board);
  return square !== null && seat !== null ? { square, piece: board.pieceOf(seat) } : null;
}
