// The view of an unknown path.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

export class NotFound {
  element = h(
    'div',
    { class: 'empty' },
    h('h1', {}, translate('page.nowhere')),
    h('p', {}, h('a', { class: 'button', href: '/' }, translate('page.lobby'))),
  );

  title() {
    return `${translate('page.nowhere.title')} – Plyhouse`;
  }
}
