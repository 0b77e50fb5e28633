// What is said while there is no connection.

import { fill, h, write } from './dom.js';

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
        link.isSlow && h('div', { class: 'banner', role: 'status' }, h('p', {}, 'No answer yet …')),
      );
      break;
    case 'connecting':
      // At the very first, nothing is wrong yet.
      if (connection.welcome) {
        fill(place, h('div', { class: 'banner' }, h('p', {}, 'Connecting …')));
      }
      break;
    case 'waiting': {
      const seconds = h('strong');
      const tick = () => {
        const left = Math.max(0, Math.ceil((link.at - performance.now()) / 1000));
        write(seconds, `${left}\u00a0s`);
      };
      tick();
      ticking = setInterval(tick, 250);
      fill(
        place,
        h(
          'div',
          { class: 'banner', role: 'alert' },
          h('p', {}, `${link.why} Next try in `, h('span', { 'aria-hidden': true }, seconds, '.')),
          h('button', { type: 'button', onclick: () => connection.open() }, 'Try now'),
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
          h('p', {}, 'You are playing in another tab or window now.'),
          h('button', { type: 'button', onclick: () => connection.open() }, 'Take it back here'),
        ),
      );
      break;
    case 'broken':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, `${link.why} Load the page anew.`),
          h('button', { type: 'button', onclick: () => location.reload() }, 'Load anew'),
        ),
      );
  }
}
