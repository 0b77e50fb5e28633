// Who one is: the name, and how one comes to be the same on another device, or after all are lost.

import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { pathOf } from '../social/player-links.ts';
import { chooseName } from './rename.ts';
import { Account } from './credentials.ts';
import { Blocks } from './blocked-players.ts';
import { Data } from './data-export.ts';
import { Devices } from './sessions.ts';
import { Keys } from './api-keys.ts';
import { Pairing } from './pairing.ts';
import { recovery } from './recovery.ts';

import type { Message } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class You {
  #app;
  #name = h('bdi');
  #profile = h('a', { class: 'button', hidden: true }, say('profile.own'));
  #account;
  #pairing;
  #devices;
  #keys;
  #blocks;
  #data;
  #recovery;
  #entrance = h(
    'section',
    { class: 'card', 'aria-labelledby': 'back-title' },
    h('h2', { id: 'back-title' }, say('arrive.entrance')),
    h('p', { class: 'note' }, say('arrive.entrance.about')),
    h('a', { class: 'button', href: '/pair' }, say('arrive.enter')),
  );
  element;

  constructor(app: App) {
    this.#app = app;
    this.#account = new Account(app);
    this.#pairing = new Pairing(app);
    this.#devices = new Devices(app);
    this.#keys = new Keys(app, () => this.#devices.ask());
    this.#blocks = new Blocks(app);
    this.#data = new Data(app);
    this.#recovery = recovery(app);
    const choose = { type: 'button', onclick: () => chooseName(app) };
    this.element = h(
      'div',
      { class: 'you' },
      h(
        'div',
        { class: 'row myself' },
        h('h1', {}, this.#name),
        h('button', choose, say('name.choose')),
        h('a', { class: 'button', href: '/games' }, say('games.title')),
        this.#profile,
      ),
      this.#account.element,
      this.#pairing.element,
      this.#devices.element,
      this.#recovery,
      this.#keys.element,
      this.#blocks.element,
      this.#entrance,
      this.#data.element,
    );
  }

  title() {
    return `${say('you.title')} – Plyhouse`;
  }

  update() {
    this.#account.update();
    this.#keys.update();
    this.#data.update();
    // Who one is where a proxy tells is the proxy's business, on every device.
    const { isByProxy } = this.#app.connection;
    for (const way of [this.#pairing.element, this.#recovery, this.#entrance])
      way.hidden = isByProxy;
    const { name = '', account = false } = this.#app.player ?? {};
    write(this.#name, name);
    this.#profile.hidden = !account;
    this.#profile.href = pathOf(name);
  }

  welcomed() {
    this.#devices.ask();
    void this.#blocks.ask();
  }

  hear(message: Message) {
    if (message.type !== 'session_added') return;
    this.#pairing.used(message.label);
    this.#devices.ask();
  }

  leave() {
    this.#pairing.stop();
  }
}
