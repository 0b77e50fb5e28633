// The way to the rules of each game, which are loaded when somebody wants to read them.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { Game } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** The games of which there is something to be read. */
const TOLD = ['chess', 'connect-four', 'draughts', 'go', 'gomoku', 'othello', 'tic-tac-toe'];

/** Whether there is anything to be read of a game. */
export const hasRules = (game: string) => TOLD.includes(game);

export function rulesButton(app: App, game: () => Game) {
  const show = async () => {
    const seldom = await tryLoadLazyChunk(app);
    seldom?.showRulesDialog(app, game());
  };
  return h(
    'button',
    { type: 'button', class: 'quiet', onclick: () => void show() },
    translate('rules.label'),
  );
}
