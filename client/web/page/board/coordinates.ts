// The letters and numbers at the edges of a board.

import { h, setText } from '../ui/dom.ts';

/** What stands at an edge; nothing, where its game has no labels there. */
export function coordinateLabels(name: 'files' | 'ranks', texts: string[]) {
  const spans = texts.map((text) => {
    const span = h('span', {});
    setText(span, text);
    return span;
  });
  const isBare = texts.every((text) => text === '');
  return h('div', { class: `labels ${name}`, 'aria-hidden': 'true', hidden: isBare }, ...spans);
}
