// An address that leads to nothing.

import { h } from '../ui/dom.ts';
import { say } from '../text/language.ts';

export class Nowhere {
  element = h(
    'div',
    { class: 'empty' },
    h('h1', {}, say('page.nowhere')),
    h('p', {}, h('a', { class: 'button', href: '/' }, say('page.lobby'))),
  );

  title() {
    return `${say('page.nowhere.title')} – Plyhouse`;
  }

  update() {}

  welcomed() {}

  leave() {}
}
