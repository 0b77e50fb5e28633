// Who one is, in the header: the way to one's name, devices and keys.

import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';

import type { App } from './main.ts';

export class NameLink {
  #app;
  #name = h('bdi');
  element = h(
    'a',
    { class: 'button quiet name', href: '/you', title: say('name.about') },
    h('span', { class: 'unseen' }, say('name.before'), ' '),
    this.#name,
  );

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    write(this.#name, this.#app.player?.name ?? '');
  }
}
