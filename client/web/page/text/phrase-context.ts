// What sentences about a match need to know beside the match.

import { challengedTo } from '../social/challenge.ts';
import { customsOf } from '../model/games.ts';
import { boardBefore } from '../model/board-state.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { Speech } from './phrases.ts';

export function speechOf(app: App, match: Match): Speech {
  const { sayMove, line, scored } = customsOf(match.game);
  const game = app.game(match.game);
  return {
    levels: app.levels,
    move: (move) => sayMove(move, game ? boardBefore(game, match, match.ply) : null),
    line,
    scored,
    invited: challengedTo(match),
  };
}
