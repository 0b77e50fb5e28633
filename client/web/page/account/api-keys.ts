// Keys for programs that play as oneself, or by a name of their own.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';
import { copyButton } from '../match/share.ts';

import type { ApiKeyCreated } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class ApiKeysCard {
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
      h('span', {}, translate('keys.bot')),
      this.#bot,
      h('span', { class: 'note' }, translate('keys.bot.about')),
    );
    const onsubmit = (event: Event) => {
      event.preventDefault();
      void this.#make();
    };
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'keys-title', hidden: true },
      h('h2', { id: 'keys-title' }, translate('keys.title')),
      h('p', { class: 'note' }, translate('keys.about')),
      h(
        'form',
        { class: 'new-password', novalidate: true, onsubmit },
        h('label', { class: 'field' }, h('span', {}, translate('keys.label')), this.#label),
        this.#botField,
        h('button', {}, translate('keys.make')),
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
    const told = await requestWithReauth(this.#app, { type: 'create_key', ...wish });
    if (!told) return;
    this.#label.value = '';
    this.#bot.value = '';
    show(told);
    this.#made();
  }
}

/** Shows it, this once. */
function show({ key, player }: ApiKeyCreated) {
  const field = h('input', { id: 'key-text', class: 'code', readonly: true, value: key });
  field.addEventListener('focus', () => field.select());
  const yours = h('h2', { id: 'key-yours' });
  setText(yours, translate('keys.yours', { name: player.name }));
  const dialog = h(
    'dialog',
    { class: 'recovery', 'aria-labelledby': 'key-yours' },
    yours,
    h('label', { for: 'key-text', class: 'unseen' }, translate('keys.key')),
    field,
    h('p', { class: 'note' }, translate('keys.use')),
    h('p', { class: 'note' }, translate('keys.once')),
    h(
      'div',
      { class: 'row' },
      copyButton(field, translate('recovery.copy')),
      h('button', { type: 'button', onclick: () => dialog.close() }, translate('recovery.kept')),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
