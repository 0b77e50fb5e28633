// How one takes another name.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { awaitErrorText } from '../net/errors.ts';
import { countOngoingMatches } from './ongoing-matches.ts';

import type { App } from '../app/main.ts';

/** The server's bound on names, in Unicode scalar values. */
const NAME_CHARACTERS_MAX = 24;

/** Asks for another name. */
export function showRenameDialog(app: App) {
  // An account takes its name along; a guest would be another.
  const isAccount = Boolean(app.player?.account);
  const isBound = !isAccount && countOngoingMatches(app) > 0;
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
    showError(trouble, why ?? '');
    if (why === null) dialog.close();
    else input.select();
  };
  replaceChildren(
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
      h('h2', { id: 'name-title' }, translate('name.yours')),
      h('label', { for: 'name' }, translate('name.seen', { most: NAME_CHARACTERS_MAX })),
      input,
      trouble,
      isBound && h('p', { class: 'note' }, translate('name.bound')),
      isAccount && h('p', { class: 'note' }, translate('name.seldom')),
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
          translate(isBound ? 'dialog.close' : 'dialog.cancel'),
        ),
        !isBound && h('button', { class: 'primary' }, translate('name.use')),
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
  if (count === 0) return translate('name.none');
  if (count > NAME_CHARACTERS_MAX) {
    return translate('name.long', { most: NAME_CHARACTERS_MAX, length: count });
  }
  if (wish === app.player?.name) return null;
  if (app.player?.account)
    return awaitErrorText(app.connection.request({ type: 'rename', name: wish }));
  // It may have begun while one thought of a name.
  if (countOngoingMatches(app) > 0) return translate('name.bound');
  return app.connection.logIn({ name: wish });
}
