// In which way a game ended by its rules, in a sentence.

import { tryTranslate, formatList, translate } from './language.ts';

import type { Outcome } from '../net/protocol.ts';

/**
 * The sentence, where the server tells the way and the board does not show it.
 * @param sides as they begin a sentence
 */
export function endReasonText({ detail = '', scores, line }: Outcome, sides: string[]) {
  const told = tryTranslate(`way.${detail}`);
  if (told !== null) return told;
  if (scores) {
    const each = scores.map((points, seat) =>
      translate('ended.points', { side: sides[seat] ?? '', points }),
    );
    return translate('ended.scores', { scores: formatList(each) });
  }
  // A game that this page does not know.
  return detail && !line ? translate('ended.by', { detail: detail.replaceAll('-', ' ') }) : '';
}
