// Collects the data that the phrases about a match need.

import { challengedOpponent } from '../social/send-challenge.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { boardBefore } from '../model/board-state.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from './phrases.ts';

export function phraseContextOf(app: App, match: Match): PhraseContext {
  const { describeMove, describeWinningLine, scoringNote } = conventionsOf(match.game);
  const game = app.game(match.game);
  return {
    levels: app.levels,
    describeMove: (move) => describeMove(move, game ? boardBefore(game, match, match.ply) : null),
    describeWinningLine,
    scoringNote,
    challengedOpponent: challengedOpponent(match),
  };
}
