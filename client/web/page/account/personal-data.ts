// What the server keeps of oneself: taken along, or given up.

import { getStored } from '../ui/storage.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';

import type { App } from '../app/main.ts';

const TOO_MANY_REQUESTS = 429;

export class PersonalDataCard {
  #app;
  #take = h('button', { type: 'button' }, translate('data.take'));
  #told = h('p', { class: 'note', role: 'status' });
  #forget = h('button', { type: 'button', class: 'danger' }, translate('forget.ask'));
  #sure = h('div', { class: 'sure' });
  #forgetting;
  element;

  constructor(app: App) {
    this.#app = app;
    this.#take.addEventListener('click', () => void this.#fetch());
    this.#forget.addEventListener('click', () => this.#askFirst());
    this.#forgetting = h(
      'div',
      { class: 'forgetting', hidden: true },
      h('h2', { id: 'forget-title' }, translate('forget.title')),
      h('p', { class: 'note' }, translate('forget.about')),
      this.#forget,
      this.#sure,
    );
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'data-title' },
      h('h2', { id: 'data-title' }, translate('data.title')),
      h('p', { class: 'note' }, translate('data.about')),
      this.#take,
      this.#told,
      this.#forgetting,
    );
  }

  update() {
    this.#forgetting.hidden = this.#app.connection.welcome?.accounts === undefined;
  }

  async #fetch() {
    setText(this.#told, '');
    this.#take.disabled = true;
    try {
      const headers = {
        Authorization: `Bearer ${getStored('token') ?? this.#app.connection.welcome?.token}`,
      };
      const answer = await fetch('/me.jsonl', { headers, cache: 'no-store' });
      if (answer.ok) save(await answer.blob());
      else
        setText(
          this.#told,
          translate(answer.status === TOO_MANY_REQUESTS ? 'data.soon' : 'data.none'),
        );
    } catch {
      setText(this.#told, translate('refusal.lost'));
    }
    this.#take.disabled = false;
  }

  #askFirst() {
    const stay = h('button', { type: 'button' }, translate('dialog.cancel'));
    const go = h('button', { type: 'button', class: 'danger' }, translate('forget.go'));
    stay.addEventListener('click', () => {
      replaceChildren(this.#sure);
      this.#forget.hidden = false;
      this.#forget.focus();
    });
    // Whoever is forgotten is logged out everywhere, here first.
    go.addEventListener('click', () => void requestWithReauth(this.#app, { type: 'forget_me' }));
    replaceChildren(
      this.#sure,
      h('p', {}, translate('forget.sure', { name: this.#app.player?.name ?? '' })),
      h('p', {}, translate('forget.copies')),
      h('div', { class: 'row' }, stay, go),
    );
    this.#forget.hidden = true;
    stay.focus();
  }
}

function save(file: Blob) {
  const href = URL.createObjectURL(file);
  h('a', { href, download: 'plyhouse-me.jsonl' }).click();
  // The browser takes it in its own time.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
