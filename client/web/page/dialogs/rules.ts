// Dialog with the rules of a game, a diagram and a button that starts a match against a bot.

import { BOT_PACE_MS } from '../lobby/lobby-prefs.ts';
import { h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translateList, tryTranslate, translate } from '../text/language.ts';
import { botName } from '../text/labels.ts';
import { BoardSvg } from '../board/board-svg.ts';
import { Board } from '../model/position.ts';
import { RULES_DIAGRAMS } from './rules-diagrams.ts';

import type { Game } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export function showRulesDialog(app: App, game: Game) {
  const diagram = RULES_DIAGRAMS.get(game.game);
  if (!diagram) return;
  const { position, move, ...marks } = diagram;
  const board = new Board(game, position);
  const picture = new BoardSvg(game);
  const last = move === undefined ? [] : conventionsOf(game.game).path(move, board);
  picture.show({ board, last, ...marks });
  const level = app.levels[0];
  const tryIt = () => {
    dialog.close();
    if (!level) return;
    void app.enterMatch({
      ...{ type: 'create', game: game.game, pace_ms: BOT_PACE_MS },
      seats: ['me', { bot: level.level }],
    });
  };
  const dialog = h(
    'dialog',
    { class: 'rules', 'aria-labelledby': 'rules-title' },
    h(
      'h2',
      { id: 'rules-title', tabindex: -1, autofocus: true },
      translate('rules.of', { game: game.title }),
    ),
    h(
      'figure',
      {},
      picture.element,
      h('figcaption', {}, tryTranslate(`rules.${game.game}.caption`)),
    ),
    h('ul', {}, ...translateList(`rules.${game.game}`).map((rule) => h('li', {}, rule))),
    h(
      'div',
      { class: 'row end' },
      level &&
        h(
          'button',
          { type: 'button', onclick: tryIt },
          translate('rules.try', { bot: botName(level.level, app.levels) }),
        ),
      h(
        'button',
        { type: 'button', class: 'primary', onclick: () => dialog.close() },
        translate('dialog.close'),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
