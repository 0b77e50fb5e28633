// A key to write down, with which one comes back when all devices are lost.

import { h } from '../ui/dom.ts';
import { markKept } from '../actions/save-prompt.ts';
import { say } from '../text/language.ts';
import { proven } from './reauthenticate.ts';
import { copyButton } from '../match/share.ts';
import { inGroups } from './codes.ts';

import type { App } from '../app/main.ts';

export function recovery(app: App) {
  const make = async () => {
    const made = await proven(app, { type: 'recovery' });
    if (!made) return;
    markKept(app);
    show(app, inGroups(made.key, 5, '-'));
  };
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'recovery-title' },
    h('h2', { id: 'recovery-title' }, say('recovery.title')),
    h('p', { class: 'note' }, say('recovery.about')),
    h('p', { class: 'note' }, say('recovery.old')),
    h('button', { type: 'button', onclick: () => void make() }, say('recovery.make')),
  );
}

/** Shows it, this once. */
function show(app: App, key: string) {
  const name = app.player?.name ?? '';
  const field = h('textarea', { id: 'recovery-key', class: 'code', readonly: true, rows: '2' });
  field.value = key;
  field.addEventListener('focus', () => field.select());
  const told = say('recovery.file', { name, address: `${location.origin}/pair`, key });
  const file = URL.createObjectURL(new Blob([`${told}\n`], { type: 'text/plain' }));
  const dialog = h(
    'dialog',
    { class: 'recovery', 'aria-labelledby': 'recovery-yours' },
    h('h2', { id: 'recovery-yours' }, say('recovery.yours', { name })),
    h('label', { for: 'recovery-key', class: 'unseen' }, say('recovery.title')),
    field,
    h('p', { class: 'where' }, say('recovery.where', { address: `${location.host}/pair` })),
    h('p', { class: 'note' }, say('recovery.once')),
    h(
      'div',
      { class: 'row' },
      copyButton(field, say('recovery.copy')),
      h(
        'a',
        { class: 'button', href: file, download: 'plyhouse-recovery-key.txt' },
        say('recovery.save'),
      ),
      h('button', { type: 'button', onclick: () => print() }, say('recovery.print')),
      h('button', { type: 'button', onclick: () => dialog.close() }, say('recovery.kept')),
    ),
  );
  dialog.addEventListener('close', () => {
    URL.revokeObjectURL(file);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}
