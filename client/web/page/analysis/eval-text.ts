// Formats evaluations and move hints as text.

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

/**
 * Value in hundredths above any material: the side has a won position, if the move limit allows the
 * win.
 */
const WINNING_VALUE = 5000;

/** Capitalizes a sentence, unless it begins with a square. */
export const capitalizeSentence = (text: string) =>
  /^[a-z]\d/.test(text) ? text : capitalize(text);

/** Number of moves that the side to move plays within this many plies. */
export const pliesToMoves = (plies: number) => Math.max(1, Math.ceil(plies / 2));

export function evalText(
  { value, exact, wins, in: count, points }: PositionEvaluation,
  sides: string[],
  game: string,
) {
  if (wins !== undefined) {
    const side = sides[wins] ?? '';
    if (points !== undefined) return translate('thinking.wins.by', { side, points });
    // At the end of the match, no move is left.
    return count
      ? translate('thinking.wins.in', { side, count: pliesToMoves(count) })
      : translate('thinking.wins', { side });
  }
  if (exact) return translate('thinking.draw');
  if (Math.abs(value) < 1) return translate('thinking.even');
  const side = sides[value > 0 ? 0 : 1] ?? '';
  const lead = Math.abs(value);
  if (lead >= WINNING_VALUE) return translate('thinking.shouldWin', { side });
  // In games with points, the text gives the lead in points.
  return (
    tryTranslate(`thinking.leads.${game}`, { side, count: lead }) ??
    translate('thinking.leads', { side, value: formatDecimal(lead / 100, 2) })
  );
}

/** Evaluation as a sentence, with the chance of the player. */
export function evalSentence({ game, seats, you }: Match, evaluation: PositionEvaluation) {
  const { win, wins, exact } = evaluation;
  const sides = seats.map(({ side }) => capitalize(sideName(side)));
  const seat = you ?? 0;
  const percent = Math.round((seat === 0 ? win : 1 - win) * 100);
  const isKnown = exact || wins !== undefined;
  const chance = isKnown ? '' : translate('thinking.chance', { side: sides[seat] ?? '', percent });
  return translate('hint.told', {
    worth: [evalText(evaluation, sides, game), chance].filter(Boolean).join(' · '),
  });
}

/** Text of a hint: the evaluation and the expected reply. */
export function hintText(match: Match, hint: Hint) {
  const { pv, san = pv } = hint;
  const [, reply] = san;
  return joinSentences(
    evalSentence(match, hint),
    reply !== undefined && translate('why.answer', { line: reply }),
  );
}
