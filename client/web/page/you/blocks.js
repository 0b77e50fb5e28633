// Whom one does not want to meet.

import { fill, h } from '../dom.js';
import { say } from '../language.js';
import { block, blocked } from '../people/block.js';

/** @import { Blocked } from '../../protocol.js' */
/** @import { App } from '../main.js' */

export class Blocks {
  #app;
  #list = h('ul', { class: 'devices' });
  element;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'blocks-title', hidden: true },
      h('h2', { id: 'blocks-title', tabindex: '-1' }, say('block.title')),
      h('p', { class: 'note' }, say('block.about')),
      this.#list,
    );
  }

  /** Shows who they are now. */
  async ask() {
    this.#show(await blocked(this.#app));
  }

  /** @param {Blocked | null} told */
  #show(told) {
    if (!told) return;
    const hadFocus = this.#list.contains(document.activeElement);
    fill(this.#list, ...told.players.map((player) => this.#row(player)));
    this.element.hidden = told.players.length === 0;
    const next = this.#list.querySelector('button') ?? document.getElementById('main');
    if (hadFocus) next?.focus();
  }

  /** @param {{ id: string, name: string }} player */
  #row({ id, name }) {
    const off = async () => this.#show(await block(this.#app, { player: id, name }, false));
    const label = `${say('block.off')}: ${name}`;
    return h(
      'li',
      {},
      h('bdi', { class: 'label' }, name),
      h(
        'button',
        { type: 'button', 'aria-label': label, onclick: () => void off() },
        say('block.off'),
      ),
    );
  }
}
