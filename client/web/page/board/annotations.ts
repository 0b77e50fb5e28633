// Arrows and circles that one draws over the board with the right button of the mouse, to think with. Nobody
// else sees them.

import { svg } from '../ui/dom.ts';
import { squareOfTarget } from './dragging.ts';

import type { Layout } from './layout.ts';

/** How far before the middle of its square an arrow ends, in hundredths of a square. */
const BEFORE = 12;
const HEAD = 34;

export class Annotations {
  element = svg('g', { class: 'drawings' });
  /** Each by the square where it begins and the one where it ends. */
  #drawn: Map<string, [string, string]> = new Map();
  /** What was advised, in the same way. */
  #advised = '';
  #layout;
  /** On which position they were drawn. */
  #position = '';

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Draws them where the squares are now. */
  setLayout(layout: Layout) {
    this.#layout = layout;
    this.#draw();
  }

  /** Those of another position are gone. */
  setPosition(position: string) {
    if (position === this.#position) return;
    this.#position = position;
    this.clear();
  }

  /** Draws what the search thinks best, by the squares where it begins and ends. */
  showBestMove(from: string, to: string) {
    const key = `${from} ${to}`;
    if (this.#advised === key) return;
    this.#advised = key;
    this.#draw();
  }

  clear() {
    if (this.#drawn.size === 0 && this.#advised === '') return;
    this.#drawn.clear();
    this.#advised = '';
    this.#draw();
  }

  /** Follows the right button over a grid whose cells are called by `data-square`. */
  attachTo(grid: HTMLElement) {
    let from: string | null = null;
    grid.addEventListener('contextmenu', (event) => event.preventDefault());
    grid.addEventListener('pointerdown', ({ button, target }) => {
      if (button === 2) from = squareOfTarget(target);
      else this.clear();
    });
    grid.addEventListener('pointerup', ({ button, target }) => {
      const to = squareOfTarget(target);
      if (button === 2 && from !== null && to !== null) this.#toggle(from, to);
      from = null;
    });
  }

  #toggle(from: string, to: string) {
    const key = `${from} ${to}`;
    if (!this.#drawn.delete(key)) this.#drawn.set(key, [from, to]);
    this.#draw();
  }

  #draw() {
    const mark = (from: string, to: string) =>
      from === to ? this.#circle(from) : this.#arrow(from, to);
    const marks = [...this.#drawn.values()].map(([from, to]) => mark(from, to));
    const [from, to] = this.#advised.split(' ');
    if (from && to) {
      const advised = mark(from, to);
      advised.classList.add('advised');
      marks.push(advised);
    }
    this.element.replaceChildren(...marks);
  }

  #circle(square: string) {
    const { x, y } = this.#layout.center(square);
    return svg('circle', { class: 'drawn', cx: x, cy: y, r: 44 });
  }

  #arrow(from: string, to: string) {
    const [start, end] = [this.#layout.center(from), this.#layout.center(to)];
    const length = Math.hypot(end.x - start.x, end.y - start.y) - BEFORE;
    const angle = (Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI;
    const shaft = length - HEAD;
    const d = `M20-7H${shaft}v-17L${length} 0 ${shaft} 24V7H20z`;
    const transform = `translate(${start.x} ${start.y}) rotate(${angle})`;
    return svg('path', { class: 'drawn arrow', d, transform });
  }
}
