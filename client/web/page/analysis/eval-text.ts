// What a search thinks of a position, in a few words, and of the move that it would play.

import {
  capitalize,
  formatDecimal,
  tryTranslate,
  translate,
  joinSentences,
} from '../text/language.ts';
import { sideName } from '../text/labels.ts';

import type { Hint, PositionEvaluation } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** No material is worth so many hundredths: it is known who wins, but not whether that takes too many moves. */
const AS_GOOD_AS_WON = 5000;

/** As a text begins; a square is written there as everywhere. */
export const capitalizeSentence = (text: string) =>
  /^[a-z]\d/.test(text) ? text : capitalize(text);

/** So many moves of one side are so many plies, the first of them being theirs. */
export const pliesToMoves = (plies: number) => Math.max(1, Math.ceil(plies / 2));

/** How it stands, by what is known of it. */
export function evalText(
  { value, exact, wins, in: count, points }: PositionEvaluation,
  sides: string[],
  game: string,
) {
  if (wins !== undefined) {
    const side = sides[wins] ?? '';
    if (points !== undefined) return translate('thinking.wins.by', { side, points });
    // At the end nobody has to move any more for it.
    return count
      ? translate('thinking.wins.in', { side, count: pliesToMoves(count) })
      : translate('thinking.wins', { side });
  }
  if (exact) return translate('thinking.draw');
  if (Math.abs(value) < 1) return translate('thinking.even');
  const side = sides[value > 0 ? 0 : 1] ?? '';
  const much = Math.abs(value);
  if (much >= AS_GOOD_AS_WON) return translate('thinking.shouldWin', { side });
  // Where points decide, it is told in them.
  return (
    tryTranslate(`thinking.leads.${game}`, { side, count: much }) ??
    translate('thinking.leads', { side, value: formatDecimal(much / 100, 2) })
  );
}

/** How it stands, in a sentence. */
export function evalSentence({ game, seats, you }: Match, told: PositionEvaluation) {
  const { win, wins, exact } = told;
  const sides = seats.map(({ side }) => capitalize(sideName(side)));
  const ours = you ?? 0;
  const percent = Math.round((ours === 0 ? win : 1 - win) * 100);
  const isKnown = exact || wins !== undefined;
  const chance = isKnown ? '' : translate('thinking.chance', { side: sides[ours] ?? '', percent });
  return translate('hint.told', {
    worth: [evalText(told, sides, game), chance].filter(Boolean).join(' · '),
  });
}

/** What a move that is advised comes to: how it stands with it, and what is expected then. */
export function hintText(match: Match, hint: Hint) {
  const { pv, san = pv } = hint;
  const [, answer] = san;
  return joinSentences(
    evalSentence(match, hint),
    answer !== undefined && translate('why.answer', { line: answer }),
  );
}
