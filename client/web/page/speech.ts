// What sentences about a match need to know beside the match.

import { challengedTo } from './challenging.ts';
import { customsOf } from './games.ts';
import { boardBefore } from './scene.ts';

import type { App } from './main.ts';
import type { Match } from './match.ts';
import type { Speech } from './words.ts';

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
