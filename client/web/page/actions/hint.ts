// What is to be known beside how the match stands: how one plays, what the rules demand, what is in
// the way.

import { customsOf } from '../model/games.ts';
import { say, sentences } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { speechOf } from '../text/phrase-context.ts';
import { clockGoesOn, nameIn } from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/**
 * @param match one that is not over
 * @param ahead what is chosen ahead
 */
export function hintOf(app: App, match: Match, ahead: string) {
  if (match.status === 'open') return match.you === null ? '' : say('room.begins');
  const speech = speechOf(app, match);
  if (app.connection.link.state !== 'open') return clockGoesOn(match, speech);
  if (match.you === null) return say('room.watching');
  if (ahead) return ahead;
  if (!isMyTurn(match)) return '';
  const { forced, afterPass } = customsOf(match.game);
  const passed =
    match.moves.at(-1) === 'pass' &&
    say('event.passed', { name: nameIn(match, 1 - match.you, speech) });
  const says = sentences(passed, passed && afterPass, forced(match.legal));
  return says || (match.ply < 2 ? howTo(match.game) : '');
}

/** How one plays with what there is at hand. */
function howTo(game: string) {
  const { hint, touchHint } = customsOf(game);
  return matchMedia('(hover: none)').matches ? touchHint : hint;
}
