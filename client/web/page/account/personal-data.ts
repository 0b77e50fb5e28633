// Card to download the player's data, and to delete the account.

import { getStored } from '../ui/storage.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';

import type { App } from '../app/main.ts';

const TOO_MANY_REQUESTS = 429;

export class PersonalDataCard {
  #app;
  #downloadButton = h('button', { type: 'button' }, translate('data.take'));
  #status = h('p', { class: 'note', role: 'status' });
  #deleteButton = h('button', { type: 'button', class: 'danger' }, translate('forget.ask'));
  #confirmation = h('div', { class: 'sure' });
  #deletion;
  element;

  constructor(app: App) {
    this.#app = app;
    this.#downloadButton.addEventListener('click', () => void this.#download());
    this.#deleteButton.addEventListener('click', () => this.#confirmDeletion());
    this.#deletion = h(
      'div',
      { class: 'forgetting', hidden: true },
      h('h2', { id: 'forget-title' }, translate('forget.title')),
      h('p', { class: 'note' }, translate('forget.about')),
      this.#deleteButton,
      this.#confirmation,
    );
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'data-title' },
      h('h2', { id: 'data-title' }, translate('data.title')),
      h('p', { class: 'note' }, translate('data.about')),
      this.#downloadButton,
      this.#status,
      this.#deletion,
    );
  }

  update() {
    this.#deletion.hidden = this.#app.connection.welcome?.accounts === undefined;
  }

  async #download() {
    setText(this.#status, '');
    this.#downloadButton.disabled = true;
    try {
      const headers = {
        Authorization: `Bearer ${getStored('token') ?? this.#app.connection.welcome?.token}`,
      };
      const response = await fetch('/me.jsonl', { headers, cache: 'no-store' });
      if (response.ok) saveFile(await response.blob());
      else
        setText(
          this.#status,
          translate(response.status === TOO_MANY_REQUESTS ? 'data.soon' : 'data.none'),
        );
    } catch {
      setText(this.#status, translate('refusal.lost'));
    }
    this.#downloadButton.disabled = false;
  }

  #confirmDeletion() {
    const cancel = h('button', { type: 'button' }, translate('dialog.cancel'));
    const confirm = h('button', { type: 'button', class: 'danger' }, translate('forget.go'));
    cancel.addEventListener('click', () => {
      replaceChildren(this.#confirmation);
      this.#deleteButton.hidden = false;
      this.#deleteButton.focus();
    });
    // The server then ends all of the player's sessions, this one first.
    confirm.addEventListener(
      'click',
      () => void requestWithReauth(this.#app, { type: 'forget_me' }),
    );
    replaceChildren(
      this.#confirmation,
      h('p', {}, translate('forget.sure', { name: this.#app.player?.name ?? '' })),
      h('p', {}, translate('forget.copies')),
      h('div', { class: 'row' }, cancel, confirm),
    );
    this.#deleteButton.hidden = true;
    cancel.focus();
  }
}

function saveFile(file: Blob) {
  const href = URL.createObjectURL(file);
  h('a', { href, download: 'plyhouse-me.jsonl' }).click();
  // The download may still read the file.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
