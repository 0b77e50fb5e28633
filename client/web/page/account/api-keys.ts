// Keys for programs that play as oneself, or by a name of their own.

import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { proven } from './reauthenticate.ts';
import { copyButton } from '../match/share.ts';

import type { KeyTold } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Keys {
  #app;
  #made;
  #label = h('input', { id: 'key-label', maxlength: 24, autocomplete: 'off' });
  #bot = h('input', { id: 'key-bot', maxlength: 24, autocomplete: 'off' });
  #botField;
  element;

  /** @param made there is another key */
  constructor(app: App, made: () => void) {
    this.#app = app;
    this.#made = made;
    this.#botField = h(
      'label',
      { class: 'field' },
      h('span', {}, say('keys.bot')),
      this.#bot,
      h('span', { class: 'note' }, say('keys.bot.about')),
    );
    const onsubmit = (event: Event) => {
      event.preventDefault();
      void this.#make();
    };
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'keys-title', hidden: true },
      h('h2', { id: 'keys-title' }, say('keys.title')),
      h('p', { class: 'note' }, say('keys.about')),
      h(
        'form',
        { class: 'new-password', novalidate: true, onsubmit },
        h('label', { class: 'field' }, h('span', {}, say('keys.label')), this.#label),
        this.#botField,
        h('button', {}, say('keys.make')),
      ),
    );
  }

  update() {
    const { player, connection } = this.#app;
    this.element.hidden = connection.welcome?.accounts === undefined;
    // Programs' accounts are owned by accounts.
    this.#botField.hidden = !player?.account;
  }

  async #make() {
    const label = this.#label.value.trim().normalize();
    const bot = this.#botField.hidden ? '' : this.#bot.value.trim().normalize();
    const wish = { ...(label ? { label } : {}), ...(bot ? { bot } : {}) };
    const told = await proven(this.#app, { type: 'create_key', ...wish });
    if (!told) return;
    this.#label.value = '';
    this.#bot.value = '';
    show(told);
    this.#made();
  }
}

/** Shows it, this once. */
function show({ key, player }: KeyTold) {
  const field = h('input', { id: 'key-text', class: 'code', readonly: true, value: key });
  field.addEventListener('focus', () => field.select());
  const yours = h('h2', { id: 'key-yours' });
  write(yours, say('keys.yours', { name: player.name }));
  const dialog = h(
    'dialog',
    { class: 'recovery', 'aria-labelledby': 'key-yours' },
    yours,
    h('label', { for: 'key-text', class: 'unseen' }, say('keys.key')),
    field,
    h('p', { class: 'note' }, say('keys.use')),
    h('p', { class: 'note' }, say('keys.once')),
    h(
      'div',
      { class: 'row' },
      copyButton(field, say('recovery.copy')),
      h('button', { type: 'button', onclick: () => dialog.close() }, say('recovery.kept')),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
