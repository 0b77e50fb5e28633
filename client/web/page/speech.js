// What sentences about a match need to know beside the match.

import { challengedTo } from './challenging.js';
import { customsOf } from './games.js';
import { boardBefore } from './scene.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */
/** @import { Speech } from './words.js' */

/**
 * @param {App} app
 * @param {Match} match
 * @returns {Speech}
 */
export function speechOf(app, match) {
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
