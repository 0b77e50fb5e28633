// In which way a game ended by its rules, in a sentence.

/** @import { Outcome } from '../protocol.js' */

/** @type {Map<string, string>} */
const WAYS = new Map([
  ['checkmate', 'Checkmate.'],
  ['stalemate', 'Stalemate: there is no legal move, and no check.'],
  ['fifty-moves', 'Fifty moves on each side without a capture or a pawn’s move.'],
  ['forty-moves', 'Forty moves on each side without a capture or a man’s move.'],
  ['repetition', 'The same position for the third time.'],
  ['dead-position', 'Neither side has enough left to mate.'],
  ['no-moves', 'There is no move left.'],
  ['full', 'The board is full.'],
]);

/**
 * The sentence, where the server tells the way and the board does not show it.
 * @param {Outcome} outcome
 * @param {string[]} sides as they begin a sentence
 */
export function way({ detail, scores, line }, sides) {
  const known = WAYS.get(detail ?? '');
  if (known) return known;
  if (scores) return `${scores.map((points, seat) => `${sides[seat]} ${points}`).join(', ')}.`;
  // A game that this page does not know.
  return detail && !line ? `It ended by ${detail.replaceAll('-', ' ')}.` : '';
}
