// What a square is called for those who do not see the board.

/** @import { View } from './scene.js' */

/**
 * @param {View} view
 * @param {string} square
 * @param {string} label what players call it
 * @param {{ isChecked: boolean, isTarget: boolean, way: string[] }} now
 */
export function cellWords(
  { board, last, line, queued },
  square,
  label,
  { isChecked, isTarget, way },
) {
  const parts = [
    label || 'out of play',
    board.isEmpty(square) ? 'empty' : board.called(board.at(square)),
    isChecked && 'in check',
    way.includes(square) && (square === way[0] ? 'picked up' : 'on its way'),
    isTarget && 'can go here',
    last.includes(square) && 'last move',
    line.includes(square) && 'winning line',
    queued.includes(square) && 'chosen ahead',
  ];
  return parts.filter(Boolean).join(', ');
}

/**
 * What is picked up, and where it can go, where that is known.
 * @param {string} from
 * @param {string} piece
 * @param {string[]} targets
 */
export const takenWords = (from, piece, targets) =>
  `${from}, ${piece}, picked up.${targets.length > 0 ? ` It can go to ${targets.join(', ')}.` : ''}`;
