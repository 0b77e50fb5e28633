// Card that creates API keys for programs, which play as the user or as a bot account.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';
import { copyButton } from '../match/share.ts';

import type { ApiKeyCreated } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class ApiKeysCard {
  #app;
  #onCreated;
  #label = h('input', { id: 'key-label', maxlength: 24, autocomplete: 'off' });
  #bot = h('input', { id: 'key-bot', maxlength: 24, autocomplete: 'off' });
  #botField;
  element;

  constructor(app: App, onCreated: () => void) {
    this.#app = app;
    this.#onCreated = onCreated;
    this.#botField = h(
      'label',
      { class: 'field' },
      h('span', {}, translate('keys.bot')),
      this.#bot,
      h('span', { class: 'note' }, translate('keys.bot.about')),
    );
    const onsubmit = (event: Event) => {
      event.preventDefault();
      void this.#create();
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
    // Only accounts can own bot accounts.
    this.#botField.hidden = !player?.account;
  }

  async #create() {
    const label = this.#label.value.trim().normalize();
    const bot = this.#botField.hidden ? '' : this.#bot.value.trim().normalize();
    const options = { ...(label ? { label } : {}), ...(bot ? { bot } : {}) };
    const created = await requestWithReauth(this.#app, { type: 'create_key', ...options });
    if (!created) return;
    this.#label.value = '';
    this.#bot.value = '';
    showCreatedKey(created);
    this.#onCreated();
  }
}

/** Shows the key in a dialog. The server sends it only once. */
function showCreatedKey({ key, player }: ApiKeyCreated) {
  const field = h('input', { id: 'key-text', class: 'code', readonly: true, value: key });
  field.addEventListener('focus', () => field.select());
  const heading = h('h2', { id: 'key-yours' });
  setText(heading, translate('keys.yours', { name: player.name }));
  const dialog = h(
    'dialog',
    { class: 'recovery', 'aria-labelledby': 'key-yours' },
    heading,
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
