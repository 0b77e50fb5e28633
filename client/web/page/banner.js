// What is said while there is no connection.

import { fill, h, write } from './dom.js';
import { say, sentences, soon } from './language.js';

/** @import { Connection } from './connection.js' */

/** @type {ReturnType<typeof setInterval> | undefined} */
let ticking;

/**
 * @param {HTMLElement} place
 * @param {Connection} connection
 */
export function showBanner(place, connection) {
  clearInterval(ticking);
  const { link } = connection;
  switch (link.state) {
    case 'open':
      fill(
        place,
        link.isSlow && h('div', { class: 'banner', role: 'status' }, h('p', {}, say('link.slow'))),
      );
      break;
    case 'connecting':
      // At the very first, nothing is wrong yet.
      if (connection.welcome) {
        fill(place, h('div', { class: 'banner' }, h('p', {}, say('link.connecting'))));
      }
      break;
    case 'waiting': {
      const next = h('span', { 'aria-hidden': true });
      const tick = () => {
        const left = Math.max(0, Math.ceil((link.at - performance.now()) / 1000));
        write(next, say('link.next', { when: soon(left) }));
      };
      tick();
      ticking = setInterval(tick, 250);
      fill(
        place,
        h(
          'div',
          { class: 'banner', role: 'alert' },
          h('p', {}, `${link.why} `, next),
          h('button', { type: 'button', onclick: () => connection.open() }, say('link.now')),
        ),
      );
      break;
    }
    case 'replaced':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, say('link.replaced')),
          h('button', { type: 'button', onclick: () => connection.open() }, say('link.take')),
        ),
      );
      break;
    case 'ended':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('h1', {}, say('link.ended')),
          h('button', { type: 'button', onclick: () => connection.beginAnew() }, say('link.guest')),
          h('a', { class: 'button', href: '/pair' }, say('link.back')),
        ),
      );
      break;
    case 'broken':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, sentences(link.why, say('link.anew'))),
          h('button', { type: 'button', onclick: () => location.reload() }, say('link.load')),
        ),
      );
  }
}
