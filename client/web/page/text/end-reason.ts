// In which way a game ended by its rules, in a sentence.

import { known, list, say } from './language.ts';

import type { Outcome } from '../net/protocol.ts';

/**
 * The sentence, where the server tells the way and the board does not show it.
 * @param sides as they begin a sentence
 */
export function way({ detail = '', scores, line }: Outcome, sides: string[]) {
  const told = known(`way.${detail}`);
  if (told !== null) return told;
  if (scores) {
    const each = scores.map((points, seat) =>
      say('ended.points', { side: sides[seat] ?? '', points }),
    );
    return say('ended.scores', { scores: list(each) });
  }
  // A game that this page does not know.
  return detail && !line ? say('ended.by', { detail: detail.replaceAll('-', ' ') }) : '';
}
