// Describes squares and selections for screen readers.

import { formatList, translate, joinSentences } from '../text/language.ts';

import type { BoardState } from '../model/board-state.ts';

/** @param label the players' name of the square */
export function describeSquare(
  { board, last, winningLine, premoveSquares }: BoardState,
  square: string,
  label: string,
  {
    isChecked,
    isTarget,
    selectedSquares,
  }: { isChecked: boolean; isTarget: boolean; selectedSquares: string[] },
) {
  const parts = [
    label || translate('cell.out'),
    board.isEmpty(square) ? translate('cell.empty') : board.pieceName(board.pieceAt(square)),
    isChecked && translate('cell.check'),
    selectedSquares.includes(square) &&
      translate(square === selectedSquares[0] ? 'cell.taken' : 'cell.way'),
    isTarget && translate('cell.target'),
    last.includes(square) && translate('cell.last'),
    winningLine.includes(square) && translate('cell.line'),
    premoveSquares.includes(square) && translate('cell.ahead'),
  ];
  return parts.filter(Boolean).join(', ');
}

/** Describes the selected piece and, if known, its targets. */
export const describeSelection = (from: string, piece: string, targets: string[]) =>
  joinSentences(
    translate('board.taken', { square: from, piece }),
    targets.length > 0 && translate('board.targets', { squares: formatList(targets) }),
  );
