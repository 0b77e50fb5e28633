// How boards and pieces are drawn: chosen by each for their own eyes, and remembered.

import { checkbox, group, radio } from '../ui/controls.ts';
import { h } from '../ui/dom.ts';
import { remember } from '../ui/storage.ts';
import { say } from '../text/language.ts';
import { sample } from '../board/picture.ts';

import type { App } from '../app/main.ts';

const BOARDS = [
  { value: 'sea', title: say('looks.sea') },
  { value: 'wood', title: say('looks.wood') },
  { value: 'slate', title: say('looks.slate') },
];
const PIECES = [
  { value: 'carved', title: say('looks.carved') },
  { value: 'bold', title: say('looks.bold') },
  { value: 'letters', title: say('looks.letters') },
];
/** A game whose pieces tell more than one set apart. */
const SHOWN = 'chess';

export function chooseLooks(app: App) {
  const { dataset } = document.documentElement;
  const game = app.game(SHOWN) ?? app.games[0];
  const close = h(
    'button',
    { class: 'primary', onclick: () => dialog.close() },
    say('dialog.done'),
  );
  const dialog = h(
    'dialog',
    { class: 'looks', 'aria-labelledby': 'looks-title' },
    h('h2', { id: 'looks-title' }, say('looks.title')),
    game && h('div', { class: 'shown' }, sample(game)),
    options(say('looks.board'), 'board', BOARDS),
    options(say('looks.pieces'), 'pieces', PIECES),
    checkbox(say('looks.figurines'), dataset.notation === 'figurines', (isOn) =>
      choose('notation', isOn ? 'figurines' : 'letters'),
    ),
    h('div', { class: 'row end' }, close),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function options(
  legend: string,
  what: 'board' | 'pieces',
  values: { value: string; title: string }[],
) {
  const { dataset } = document.documentElement;
  return group(
    legend,
    'options',
    values.map(({ value, title }) =>
      radio(`look-${what}`, value, dataset[what] === value, () => choose(what, value), title),
    ),
  );
}

function choose(what: 'board' | 'pieces' | 'notation', value: string) {
  document.documentElement.dataset[what] = value;
  remember(what, value);
}
