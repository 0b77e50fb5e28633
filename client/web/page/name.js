// Who one is, in the header: the way to one's name, devices and keys.

import { h, write } from './dom.js';
import { say } from './language.js';

/** @import { App } from './main.js' */

/** @param {App} app */
export function nameLink(app) {
  const name = h('bdi');
  const link = h(
    'a',
    { class: 'button quiet name', href: '/you', title: say('name.about') },
    h('span', { class: 'unseen' }, say('name.before'), ' '),
    name,
  );
  new MutationObserver(() => write(name, app.player?.name ?? '')).observe(
    document.documentElement,
    { attributeFilter: ['data-link'] },
  );
  return link;
}
