// Labels of files and ranks at the edges of a board.

import { h, setText } from '../ui/dom.ts';

export function coordinateLabels(name: 'files' | 'ranks', texts: string[]) {
  const spans = texts.map((text) => {
    const span = h('span', {});
    setText(span, text);
    return span;
  });
  const isEmpty = texts.every((text) => text === '');
  return h('div', { class: `labels ${name}`, 'aria-hidden': 'true', hidden: isEmpty }, ...spans);
}
