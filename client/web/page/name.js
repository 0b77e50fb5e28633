// Who one is, in the header, and how one becomes somebody else.

import { fill, h, write } from './dom.js';
import { sentence } from './words.js';

/** @import { App } from './main.js' */

/** The server's bound on names, in Unicode scalar values. */
const NAME_CHARACTERS_MAX = 24;

const BOUND =
  'You sit in a match under this name. It can be changed when the match is over, or called off.';

/** Whether one would give up a seat with the name. @param {App} app */
const sits = (app) => app.days.rows.length > 0 || app.mine().some(({ you }) => you !== null);

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
  const isBound = sits(app);
  const input = h('input', {
    id: 'name',
    value: app.player?.name ?? '',
    readonly: isBound,
    autocomplete: 'nickname',
    'aria-describedby': 'name-trouble',
  });
  const trouble = h('p', { id: 'name-trouble', class: 'trouble', role: 'alert' });
  const dialog = h('dialog', { 'aria-labelledby': 'name-title' });
  const save = async () => {
    const why = await renamed(app, input.value.trim().normalize());
    write(trouble, why ?? '');
    if (why === null) dialog.close();
    else input.select();
  };
  fill(
    dialog,
    h(
      'form',
      {
        method: 'dialog',
        novalidate: true,
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (!isBound) void save();
        },
      },
      h('h2', { id: 'name-title' }, 'Your name'),
      h('label', { for: 'name' }, `What others see, up to ${NAME_CHARACTERS_MAX} characters`),
      input,
      trouble,
      isBound && h('p', { class: 'note' }, BOUND),
      h(
        'div',
        { class: 'row end' },
        h(
          'button',
          {
            type: 'button',
            class: isBound ? '' : 'quiet',
            autofocus: isBound,
            onclick: () => dialog.close(),
          },
          isBound ? 'Close' : 'Cancel',
        ),
        !isBound && h('button', { class: 'primary' }, 'Use this name'),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  if (!isBound) input.select();
}

/**
 * Takes another name; tells why not, if it is not to be had. What is in it is judged by the server.
 * @param {App} app
 * @param {string} wish
 * @returns {Promise<string | null>}
 */
async function renamed(app, wish) {
  const count = [...wish].length;
  if (count === 0) return 'A name has at least one character.';
  if (count > NAME_CHARACTERS_MAX) {
    return `A name has at most ${NAME_CHARACTERS_MAX} characters; this one has ${count}.`;
  }
  if (wish === app.player?.name) return null;
  // It may have begun while one thought of a name.
  if (sits(app)) return BOUND;
  const why = await app.connection.rename(wish);
  return why === null ? null : sentence(why);
}
