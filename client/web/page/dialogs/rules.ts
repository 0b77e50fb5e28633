// The rules of each game in half a screen, with a board that shows them, and a bot to try them on.

import { BOT_PACE_MS } from '../lobby/lobby-prefs.ts';
import { h } from '../ui/dom.ts';
import { customsOf } from '../model/games.ts';
import { all, known, say } from '../text/language.ts';
import { botWord } from '../text/labels.ts';
import { Picture } from '../board/picture.ts';
import { Board } from '../model/position.ts';
import { RULES } from './rules-diagrams.ts';

import type { Game } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export function showRules(app: App, game: Game) {
  const rules = RULES.get(game.game);
  if (!rules) return;
  const { position, move, ...marks } = rules;
  const board = new Board(game, position);
  const picture = new Picture(game);
  const last = move === undefined ? [] : customsOf(game.game).path(move, board);
  picture.show({ board, last, ...marks });
  const level = app.levels[0];
  const tryIt = () => {
    dialog.close();
    if (!level) return;
    const seats = ['me', { bot: level.level }] as const;
    const wish = { type: 'create' as const, game: game.game, pace_ms: BOT_PACE_MS };
    void app.enter({ ...wish, seats: [...seats] });
  };
  const dialog = h(
    'dialog',
    { class: 'rules', 'aria-labelledby': 'rules-title' },
    h(
      'h2',
      { id: 'rules-title', tabindex: -1, autofocus: true },
      say('rules.of', { game: game.title }),
    ),
    h('figure', {}, picture.element, h('figcaption', {}, known(`rules.${game.game}.caption`))),
    h('ul', {}, ...all(`rules.${game.game}`).map((rule) => h('li', {}, rule))),
    h(
      'div',
      { class: 'row end' },
      level &&
        h(
          'button',
          { type: 'button', onclick: tryIt },
          say('rules.try', { bot: botWord(level.level, app.levels) }),
        ),
      h(
        'button',
        { type: 'button', class: 'primary', onclick: () => dialog.close() },
        say('dialog.close'),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
