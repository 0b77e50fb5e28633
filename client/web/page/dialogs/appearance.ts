// Dialog for the style of boards, pieces and move notation.

import { checkbox, fieldset, radio } from '../ui/form-controls.ts';
import { h } from '../ui/dom.ts';
import { setStored } from '../ui/storage.ts';
import { translate } from '../text/language.ts';
import { sampleBoardSvg } from '../board/board-svg.ts';

import type { App } from '../app/main.ts';

const BOARDS = [
  { value: 'sea', title: translate('looks.sea') },
  { value: 'wood', title: translate('looks.wood') },
  { value: 'slate', title: translate('looks.slate') },
];
const PIECES = [
  { value: 'carved', title: translate('looks.carved') },
  { value: 'bold', title: translate('looks.bold') },
  { value: 'letters', title: translate('looks.letters') },
];
/** Game of the sample board. Its pieces differ in every set. */
const SAMPLE_GAME = 'chess';

export function showAppearanceDialog(app: App) {
  const { dataset } = document.documentElement;
  const game = app.game(SAMPLE_GAME) ?? app.games[0];
  const close = h(
    'button',
    { class: 'primary', onclick: () => dialog.close() },
    translate('dialog.done'),
  );
  const dialog = h(
    'dialog',
    { class: 'looks', 'aria-labelledby': 'looks-title' },
    h('h2', { id: 'looks-title' }, translate('looks.title')),
    game && h('div', { class: 'shown' }, sampleBoardSvg(game)),
    options(translate('looks.board'), 'board', BOARDS),
    options(translate('looks.pieces'), 'pieces', PIECES),
    checkbox(translate('looks.figurines'), dataset.notation === 'figurines', (isOn) =>
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
  setting: 'board' | 'pieces',
  values: { value: string; title: string }[],
) {
  const { dataset } = document.documentElement;
  return fieldset(
    legend,
    'options',
    values.map(({ value, title }) =>
      radio(
        `look-${setting}`,
        value,
        dataset[setting] === value,
        () => choose(setting, value),
        title,
      ),
    ),
  );
}

function choose(setting: 'board' | 'pieces' | 'notation', value: string) {
  document.documentElement.dataset[setting] = value;
  setStored(setting, value);
}
