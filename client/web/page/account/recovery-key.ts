// Card that creates a recovery key, so that the player can sign in after the loss of all devices.

import { h } from '../ui/dom.ts';
import { markPlayerSaved } from './guest-save-reminder.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';
import { copyButton } from '../match/share.ts';
import { groupCharacters } from './parse-sign-in-code.ts';

import type { App } from '../app/main.ts';

export function recoveryKeyCard(app: App) {
  const create = async () => {
    const reply = await requestWithReauth(app, { type: 'recovery' });
    if (!reply) return;
    markPlayerSaved(app);
    showKey(app, groupCharacters(reply.key, 5, '-'));
  };
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'recovery-title' },
    h('h2', { id: 'recovery-title' }, translate('recovery.title')),
    h('p', { class: 'note' }, translate('recovery.about')),
    h('p', { class: 'note' }, translate('recovery.old')),
    h('button', { type: 'button', onclick: () => void create() }, translate('recovery.make')),
  );
}

/** Shows the key in a dialog. The server sends it only once. */
function showKey(app: App, key: string) {
  const name = app.player?.name ?? '';
  const field = h('textarea', { id: 'recovery-key', class: 'code', readonly: true, rows: '2' });
  field.value = key;
  field.addEventListener('focus', () => field.select());
  const text = translate('recovery.file', { name, address: `${location.origin}/pair`, key });
  const file = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }));
  const dialog = h(
    'dialog',
    { class: 'recovery', 'aria-labelledby': 'recovery-yours' },
    h('h2', { id: 'recovery-yours' }, translate('recovery.yours', { name })),
    h('label', { for: 'recovery-key', class: 'unseen' }, translate('recovery.title')),
    field,
    h('p', { class: 'where' }, translate('recovery.where', { address: `${location.host}/pair` })),
    h('p', { class: 'note' }, translate('recovery.once')),
    h(
      'div',
      { class: 'row' },
      copyButton(field, translate('recovery.copy')),
      h(
        'a',
        { class: 'button', href: file, download: 'plyhouse-recovery-key.txt' },
        translate('recovery.save'),
      ),
      h('button', { type: 'button', onclick: () => print() }, translate('recovery.print')),
      h('button', { type: 'button', onclick: () => dialog.close() }, translate('recovery.kept')),
    ),
  );
  dialog.addEventListener('close', () => {
    URL.revokeObjectURL(file);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}
