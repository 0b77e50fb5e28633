// What a square is called for those who do not see the board.

import { list, say, sentences } from '../text/language.ts';

import type { View } from '../model/board-state.ts';

/** @param label what players call it */
export function cellWords(
  { board, last, line, queued }: View,
  square: string,
  label: string,
  { isChecked, isTarget, way }: { isChecked: boolean; isTarget: boolean; way: string[] },
) {
  const parts = [
    label || say('cell.out'),
    board.isEmpty(square) ? say('cell.empty') : board.called(board.at(square)),
    isChecked && say('cell.check'),
    way.includes(square) && say(square === way[0] ? 'cell.taken' : 'cell.way'),
    isTarget && say('cell.target'),
    last.includes(square) && say('cell.last'),
    line.includes(square) && say('cell.line'),
    queued.includes(square) && say('cell.ahead'),
  ];
  return parts.filter(Boolean).join(', ');
}

/** What is picked up, and where it can go, where that is known. */
export const takenWords = (from: string, piece: string, targets: string[]) =>
  sentences(
    say('board.taken', { square: from, piece }),
    targets.length > 0 && say('board.targets', { squares: list(targets) }),
  );
