// Explains how the rules ended a game, in one sentence.

import { tryTranslate, formatList, translate } from './language.ts';

import type { Outcome } from '../net/protocol.ts';

/**
 * Returns the sentence, or an empty string if the board shows the reason.
 * @param sides capitalized names of the sides
 */
export function endReasonText({ detail = '', scores, line }: Outcome, sides: string[]) {
  const sentence = tryTranslate(`way.${detail}`);
  if (sentence !== null) return sentence;
  if (scores) {
    const points = scores.map((score, seat) =>
      translate('ended.points', { side: sides[seat] ?? '', points: score }),
    );
    return translate('ended.scores', { scores: formatList(points) });
  }
  // The page has no text for this detail.
  return detail && !line ? translate('ended.by', { detail: detail.replaceAll('-', ' ') }) : '';
}
