// Card that lists the blocked players and unblocks them.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { setBlocked, fetchBlockedPlayers } from '../people/block-button.ts';

import type { BlockList } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class BlockedPlayersCard {
  #app;
  #list = h('ul', { class: 'devices' });
  element;

  constructor(app: App) {
    this.#app = app;
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'blocks-title', hidden: true },
      h('h2', { id: 'blocks-title', tabindex: '-1' }, translate('block.title')),
      h('p', { class: 'note' }, translate('block.about')),
      this.#list,
    );
  }

  async refresh() {
    this.#show(await fetchBlockedPlayers(this.#app));
  }

  #show(blockList: BlockList | null) {
    if (!blockList) return;
    const hadFocus = this.#list.contains(document.activeElement);
    replaceChildren(this.#list, ...blockList.players.map((player) => this.#row(player)));
    this.element.hidden = blockList.players.length === 0;
    const next = this.#list.querySelector('button') ?? document.getElementById('main');
    if (hadFocus) next?.focus();
  }

  #row({ id, name }: { id: string; name: string }) {
    const unblock = async () =>
      this.#show(await setBlocked(this.#app, { player: id, name }, false));
    const label = `${translate('block.off')}: ${name}`;
    return h(
      'li',
      {},
      h('bdi', { class: 'label' }, name),
      h(
        'button',
        { type: 'button', 'aria-label': label, onclick: () => void unblock() },
        translate('block.off'),
      ),
    );
  }
}
