// What a search thinks of a position, in a few words, and of the move that it would play.

import { capital, decimal, known, say, sentences } from '../text/language.ts';
import { sideName } from '../text/labels.ts';

import type { Hint, Valuation } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** No material is worth so many hundredths: it is known who wins, but not whether that takes too many moves. */
const AS_GOOD_AS_WON = 5000;

/** As a text begins; a square is written there as everywhere. */
export const begin = (text: string) => (/^[a-z]\d/.test(text) ? text : capital(text));

/** So many moves of one side are so many plies, the first of them being theirs. */
export const movesIn = (plies: number) => Math.max(1, Math.ceil(plies / 2));

/** How it stands, by what is known of it. */
export function worth(
  { value, exact, wins, in: count, points }: Valuation,
  sides: string[],
  game: string,
) {
  if (wins !== undefined) {
    const side = sides[wins] ?? '';
    if (points !== undefined) return say('thinking.wins.by', { side, points });
    // At the end nobody has to move any more for it.
    return count
      ? say('thinking.wins.in', { side, count: movesIn(count) })
      : say('thinking.wins', { side });
  }
  if (exact) return say('thinking.draw');
  if (Math.abs(value) < 1) return say('thinking.even');
  const side = sides[value > 0 ? 0 : 1] ?? '';
  const much = Math.abs(value);
  if (much >= AS_GOOD_AS_WON) return say('thinking.shouldWin', { side });
  // Where points decide, it is told in them.
  return (
    known(`thinking.leads.${game}`, { side, count: much }) ??
    say('thinking.leads', { side, value: decimal(much / 100, 2) })
  );
}

/** How it stands, in a sentence. */
export function toldWorth({ game, seats, you }: Match, told: Valuation) {
  const { win, wins, exact } = told;
  const sides = seats.map(({ side }) => capital(sideName(side)));
  const ours = you ?? 0;
  const percent = Math.round((ours === 0 ? win : 1 - win) * 100);
  const isKnown = exact || wins !== undefined;
  const chance = isKnown ? '' : say('thinking.chance', { side: sides[ours] ?? '', percent });
  return say('hint.told', {
    worth: [worth(told, sides, game), chance].filter(Boolean).join(' · '),
  });
}

/** What a move that is advised comes to: how it stands with it, and what is expected then. */
export function toldOfHint(match: Match, hint: Hint) {
  const { pv, san = pv } = hint;
  const [, answer] = san;
  return sentences(
    toldWorth(match, hint),
    answer !== undefined && say('why.answer', { line: answer }),
  );
}
