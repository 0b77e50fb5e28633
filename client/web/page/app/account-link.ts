// The link in the header to the account page. It shows the player's name.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { App } from './main.ts';

export class AccountLink {
  #app;
  #name = h('bdi');
  element = h(
    'a',
    { class: 'button quiet name', href: '/you', title: translate('name.about') },
    h('span', { class: 'unseen' }, translate('name.before'), ' '),
    this.#name,
  );

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    setText(this.#name, this.#app.player?.name ?? '');
  }
}
