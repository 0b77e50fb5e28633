// Who one is, in the header, and how one becomes somebody else.

import { fill, h, write } from './dom.js';

/** @import { App } from './main.js' */

/** The server's bound on names. */
const NAME_CHARACTERS_MAX = 24;

/** @param {App} app */
export function nameButton(app) {
  const name = h('bdi');
  const button = h(
    'button',
    { class: 'quiet name', type: 'button', title: 'Choose a name', onclick: () => ask(app) },
    h('span', { class: 'unseen' }, 'Your name: '),
    name,
  );
  new MutationObserver(() => write(name, app.player?.name ?? '')).observe(
    document.documentElement,
    { attributeFilter: ['data-link'] },
  );
  return button;
}

/** @param {App} app */
function ask(app) {
  const input = h('input', {
    id: 'name',
    maxlength: NAME_CHARACTERS_MAX,
    value: app.player?.name ?? '',
    required: true,
    autocomplete: 'nickname',
  });
  const live = [...app.matches.values()].some(
    ({ status, you }) => status !== 'ended' && you !== null,
  );
  const dialog = h('dialog', { 'aria-labelledby': 'name-title' });
  const save = () => {
    const wish = input.value.trim();
    dialog.close();
    if (wish && wish !== app.player?.name) app.connection.rename(wish);
  };
  fill(
    dialog,
    h(
      'form',
      {
        method: 'dialog',
        onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), save()),
      },
      h('h2', { id: 'name-title' }, 'Your name'),
      h('label', { for: 'name' }, 'What others see, up to 24 characters'),
      input,
      live &&
        h(
          'p',
          { class: 'note' },
          'You sit in a match. Under another name you are another player, and give up your seat.',
        ),
      h(
        'div',
        { class: 'row end' },
        h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel'),
        h('button', { class: 'primary', disabled: live }, 'Use this name'),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}
