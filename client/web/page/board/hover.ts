// Computes the preview of the move at the square under the mouse or the focus.

import { destinationOf, clickSquaresOf } from '../model/game-conventions.ts';

import type { MoveSelection } from '../model/move-selection.ts';
import type { BoardState } from '../model/board-state.ts';

export interface HoverState {
  boardState: BoardState;
  selection: MoveSelection;
  /** the moves that a click on a square plays */
  moveBySquare: Map<string, string>;
  /** the square under the mouse or the focus, or an empty string */
  hoverSquare: string;
}

/** Returns the squares that a click would affect. */
export function previewSquares({ boardState, selection, moveBySquare, hoverSquare }: HoverState) {
  const move = moveBySquare.get(hoverSquare);
  if (move !== undefined) return clickSquaresOf(move, boardState.board);
  return selection.origins().has(hoverSquare) || selection.targets().has(hoverSquare)
    ? [hoverSquare]
    : [];
}

/** Returns the piece to preview and its square, or `null`. */
export function ghostPiece({ boardState, selection, moveBySquare, hoverSquare }: HoverState) {
  const { board, seat } = boardState;
  const { selectedSquares } = selection;
  const [from] = selectedSquares;
  if (from !== undefined) {
    const square = selection.targets().has(hoverSquare) ? hoverSquare : selectedSquares.at(-1);
    return square === undefined || square === from ? null : { square, piece: board.pieceAt(from) };
  }
  const move = moveBySquare.get(hoverSquare);
  const square = move === undefined ? null : destinationOf(move, board);
  return square !== null && seat !== null ? { square, piece: board.pieceOf(seat) } : null;
}
