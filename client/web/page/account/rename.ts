// The dialog for a new player name.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { awaitErrorText } from '../net/errors.ts';
import { countOngoingMatches } from './count-ongoing-matches.ts';

import type { App } from '../app/main.ts';

/** The server's limit on the length of a name, in Unicode scalar values. */
const NAME_CHARACTERS_MAX = 24;

export function showRenameDialog(app: App) {
  // A guest with a new name is a new player, and would leave the ongoing matches.
  const isAccount = Boolean(app.player?.account);
  const isLocked = !isAccount && countOngoingMatches(app) > 0;
  const input = h('input', {
    id: 'name',
    value: app.player?.name ?? '',
    readonly: isLocked,
    autocomplete: 'nickname',
    'aria-describedby': 'name-trouble',
  });
  const errorLine = h('p', { id: 'name-trouble', class: 'trouble', role: 'alert' });
  const dialog = h('dialog', { 'aria-labelledby': 'name-title' });
  const save = async () => {
    const error = await rename(app, input.value.trim().normalize());
    showError(errorLine, error ?? '');
    if (error === null) dialog.close();
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
          if (!isLocked) void save();
        },
      },
      h('h2', { id: 'name-title' }, translate('name.yours')),
      h('label', { for: 'name' }, translate('name.seen', { most: NAME_CHARACTERS_MAX })),
      input,
      errorLine,
      isLocked && h('p', { class: 'note' }, translate('name.bound')),
      isAccount && h('p', { class: 'note' }, translate('name.seldom')),
      h(
        'div',
        { class: 'row end' },
        h(
          'button',
          {
            type: 'button',
            class: isLocked ? '' : 'quiet',
            autofocus: isLocked,
            onclick: () => dialog.close(),
          },
          translate(isLocked ? 'dialog.close' : 'dialog.cancel'),
        ),
        !isLocked && h('button', { class: 'primary' }, translate('name.use')),
      ),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  if (!isLocked) input.select();
}

/**
 * Changes the name. Only the server checks its characters.
 * @returns an error text; `null` on success
 */
async function rename(app: App, name: string): Promise<string | null> {
  const count = [...name].length;
  if (count === 0) return translate('name.none');
  if (count > NAME_CHARACTERS_MAX) {
    return translate('name.long', { most: NAME_CHARACTERS_MAX, length: count });
  }
  if (name === app.player?.name) return null;
  if (app.player?.account) return awaitErrorText(app.connection.request({ type: 'rename', name }));
  // A match may have begun while the dialog was open.
  if (countOngoingMatches(app) > 0) return translate('name.bound');
  return app.connection.logIn({ name });
}
