// How one takes another name.

import { complain, fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { refusalOf } from '../net/errors.ts';
import { seats } from './seats.ts';

import type { App } from '../app/main.ts';

/** The server's bound on names, in Unicode scalar values. */
const NAME_CHARACTERS_MAX = 24;

/** Asks for another name. */
export function chooseName(app: App) {
  // An account takes its name along; a guest would be another.
  const isAccount = Boolean(app.player?.account);
  const isBound = !isAccount && seats(app) > 0;
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
    complain(trouble, why ?? '');
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
        onsubmit: (event: Event) => {
          event.preventDefault();
          if (!isBound) void save();
        },
      },
      h('h2', { id: 'name-title' }, say('name.yours')),
      h('label', { for: 'name' }, say('name.seen', { most: NAME_CHARACTERS_MAX })),
      input,
      trouble,
      isBound && h('p', { class: 'note' }, say('name.bound')),
      isAccount && h('p', { class: 'note' }, say('name.seldom')),
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
          say(isBound ? 'dialog.close' : 'dialog.cancel'),
        ),
        !isBound && h('button', { class: 'primary' }, say('name.use')),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  if (!isBound) input.select();
}

/** Takes another name; tells why not, if it is not to be had. What is in it is judged by the server. */
async function renamed(app: App, wish: string): Promise<string | null> {
  const count = [...wish].length;
  if (count === 0) return say('name.none');
  if (count > NAME_CHARACTERS_MAX) {
    return say('name.long', { most: NAME_CHARACTERS_MAX, length: count });
  }
  if (wish === app.player?.name) return null;
  if (app.player?.account) return refusalOf(app.connection.ask({ type: 'rename', name: wish }));
  // It may have begun while one thought of a name.
  if (seats(app) > 0) return say('name.bound');
  return app.connection.become({ name: wish });
}
