// What a square is called for those who do not see the board.

import { formatList, translate, joinSentences } from '../text/language.ts';

import type { BoardState } from '../model/board-state.ts';

/** @param label what players call it */
export function describeSquare(
  { board, last, winningLine: line, premoveSquares: queued }: BoardState,
  square: string,
  label: string,
  { isChecked, isTarget, way }: { isChecked: boolean; isTarget: boolean; way: string[] },
) {
  const parts = [
    label || translate('cell.out'),
    board.isEmpty(square) ? translate('cell.empty') : board.pieceName(board.pieceAt(square)),
    isChecked && translate('cell.check'),
    way.includes(square) && translate(square === way[0] ? 'cell.taken' : 'cell.way'),
    isTarget && translate('cell.target'),
    last.includes(square) && translate('cell.last'),
    line.includes(square) && translate('cell.line'),
    queued.includes(square) && translate('cell.ahead'),
  ];
  return parts.filter(Boolean).join(', ');
}

/** What is picked up, and where it can go, where that is known. */
export const describeSelection = (from: string, piece: string, targets: string[]) =>
  joinSentences(
    translate('board.taken', { square: from, piece }),
    targets.length > 0 && translate('board.targets', { squares: formatList(targets) }),
  );
