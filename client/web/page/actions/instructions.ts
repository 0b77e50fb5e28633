// What is to be known beside how the match stands: how one plays, what the rules demand, what is in
// the way.

import { conventionsOf } from '../model/game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { runningClockText, seatName } from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/**
 * @param match one that is not over
 * @param ahead what is chosen ahead
 */
export function instructionText(app: App, match: Match, ahead: string) {
  if (match.status === 'open') return match.you === null ? '' : translate('room.begins');
  const speech = phraseContextOf(app, match);
  if (app.connection.status.state !== 'open') return runningClockText(match, speech);
  if (match.you === null) return translate('room.watching');
  if (ahead) return ahead;
  if (!isMyTurn(match)) return '';
  const { forcedMoveText: forced, afterPassText: afterPass } = conventionsOf(match.game);
  const passed =
    match.moves.at(-1) === 'pass' &&
    translate('event.passed', { name: seatName(match, 1 - match.you, speech) });
  const says = joinSentences(passed, passed && afterPass, forced(match.legal));
  return says || (match.ply < 2 ? howTo(match.game) : '');
}

/** How one plays with what there is at hand. */
function howTo(game: string) {
  const { howToPlay: hint, howToPlayByTouch: touchHint } = conventionsOf(game);
  return matchMedia('(hover: none)').matches ? touchHint : hint;
}
