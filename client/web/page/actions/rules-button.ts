// Button that opens the rules of a game from the lazy chunk.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { Game } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

const GAMES_WITH_RULES = [
  'chess',
  'connect-four',
  'draughts',
  'go',
  'gomoku',
  'othello',
  'tic-tac-toe',
];

export const hasRules = (game: string) => GAMES_WITH_RULES.includes(game);

export function rulesButton(app: App, game: () => Game) {
  const show = async () => {
    const chunk = await tryLoadLazyBundle(app);
    chunk?.showRulesDialog(app, game());
  };
  return h(
    'button',
    { type: 'button', class: 'quiet', onclick: () => void show() },
    translate('rules.label'),
  );
}
