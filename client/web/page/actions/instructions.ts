// Composes the instruction below the match status, for example how to move or which move the rules
// force.

import { conventionsOf } from '../model/game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { runningClockText, seatName } from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/**
 * @param match a match that has not ended
 * @param premoveText describes the premove, if any
 */
export function instructionText(app: App, match: Match, premoveText: string) {
  if (match.status === 'open') return match.you === null ? '' : translate('room.begins');
  const context = phraseContextOf(app, match);
  if (app.connection.status.state !== 'open') return runningClockText(match, context);
  if (match.you === null) return translate('room.watching');
  if (premoveText) return premoveText;
  if (!isMyTurn(match)) return '';
  const { forcedMoveText, afterPassText } = conventionsOf(match.game);
  const passText =
    match.moves.at(-1) === 'pass' &&
    translate('event.passed', { name: seatName(match, 1 - match.you, context) });
  const text = joinSentences(passText, passText && afterPassText, forcedMoveText(match.legal));
  return text || (match.ply < 2 ? howToPlayText(match.game) : '');
}

function howToPlayText(game: string) {
  const { howToPlay, howToPlayByTouch } = conventionsOf(game);
  return matchMedia('(hover: none)').matches ? howToPlayByTouch : howToPlay;
}
