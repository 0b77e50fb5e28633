// What is to be known beside how the match stands: how one plays, what the rules demand, what is in
// the way.

import { customsOf } from './games.js';
import { isMyTurn } from './match.js';
import { speechOf } from './speech.js';
import { clockGoesOn, who } from './words.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/**
 * @param {App} app
 * @param {Match} match one that is not over
 * @param {string} ahead what is chosen ahead
 */
export function hintOf(app, match, ahead) {
  if (match.status === 'open')
    return match.you === null ? '' : 'It begins when somebody sits down.';
  const speech = speechOf(app, match);
  if (app.connection.link.state !== 'open') return clockGoesOn(match, speech);
  if (match.you === null) return 'You are watching.';
  if (ahead) return ahead;
  if (!isMyTurn(match)) return '';
  const { forced, afterPass } = customsOf(match.game);
  const passed = match.moves.at(-1) === 'pass' && `${who(match, 1 - match.you, speech)} passed.`;
  const says = [passed, passed && afterPass, forced(match.legal)].filter(Boolean);
  return says.join(' ') || (match.ply < 2 ? howTo(match.game) : '');
}

/** How one plays with what there is at hand. @param {string} game */
function howTo(game) {
  const { hint, touchHint } = customsOf(game);
  return matchMedia('(hover: none)').matches ? touchHint : hint;
}
