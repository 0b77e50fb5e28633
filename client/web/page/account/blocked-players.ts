// Whom one does not want to meet.

import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { block, blocked } from '../people/block-button.ts';

import type { Blocked } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Blocks {
  #app;
  #list = h('ul', { class: 'devices' });
  element;

  constructor(app: App) {
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

  #show(told: Blocked | null) {
    if (!told) return;
    const hadFocus = this.#list.contains(document.activeElement);
    fill(this.#list, ...told.players.map((player) => this.#row(player)));
    this.element.hidden = told.players.length === 0;
    const next = this.#list.querySelector('button') ?? document.getElementById('main');
    if (hadFocus) next?.focus();
  }

  #row({ id, name }: { id: string; name: string }) {
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
