// The way to the rules of each game, which are loaded when somebody wants to read them.

import { h } from './dom.js';
import { say } from './language.js';
import { come } from './wanted.js';

/** @import { Game } from '../protocol.js' */
/** @import { App } from './main.js' */

/** The games of which there is something to be read. */
const TOLD = ['chess', 'connect-four', 'draughts', 'go', 'gomoku', 'othello', 'tic-tac-toe'];

/** Whether there is anything to be read of a game. @param {string} game */
export const hasRules = (game) => TOLD.includes(game);

/** @param {App} app @param {() => Game} game */
export function rulesButton(app, game) {
  const show = async () => {
    const seldom = await come(app);
    seldom?.showRules(app, game());
  };
  return h(
    'button',
    { type: 'button', class: 'quiet', onclick: () => void show() },
    say('rules.label'),
  );
}
