// The letters and numbers at the edges of a board.

import { h, write } from './dom.js';

/**
 * What stands at an edge; nothing, where its game has no labels there.
 * @param {'files' | 'ranks'} name
 * @param {string[]} texts
 */
export function labels(name, texts) {
  const spans = texts.map((text) => {
    const span = h('span', {});
    write(span, text);
    return span;
  });
  const isBare = texts.every((text) => text === '');
  return h('div', { class: `labels ${name}`, 'aria-hidden': 'true', hidden: isBare }, ...spans);
}
