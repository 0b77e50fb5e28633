// An address that leads to nothing.

import { h } from './dom.js';

export class Nowhere {
  element = h(
    'div',
    { class: 'empty' },
    h('h1', {}, 'There is nothing at this address.'),
    h('p', {}, h('a', { class: 'button', href: '/' }, 'To the lobby')),
  );

  title() {
    return 'Nothing here – Plyhouse';
  }

  update() {}

  welcomed() {}

  leave() {}
}
