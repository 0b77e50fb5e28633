// Arrows and circles that the user draws with the right mouse button. They stay on this page.

import { svg } from '../ui/dom.ts';
import { squareOfTarget } from './dragging.ts';

import type { Layout } from './layout.ts';

/** Distance of an arrow's tip from the centre of its square, in hundredths of a square. */
const TIP_GAP = 12;
const HEAD_LENGTH = 34;

export class Annotations {
  element = svg('g', { class: 'drawings' });
  /** Start and end squares, keyed by both. A circle starts and ends on the same square. */
  #drawn: Map<string, [string, string]> = new Map();
  /** Start and end squares of the best move, separated by a space. */
  #bestMove = '';
  #layout;
  #position = '';

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  setLayout(layout: Layout) {
    this.#layout = layout;
    this.#draw();
  }

  /** Clears the annotations if the position changes. */
  setPosition(position: string) {
    if (position === this.#position) return;
    this.#position = position;
    this.clear();
  }

  /** Draws the best move of an analysis. */
  showBestMove(from: string, to: string) {
    const key = `${from} ${to}`;
    if (this.#bestMove === key) return;
    this.#bestMove = key;
    this.#draw();
  }

  clear() {
    if (this.#drawn.size === 0 && this.#bestMove === '') return;
    this.#drawn.clear();
    this.#bestMove = '';
    this.#draw();
  }

  /** Listens for the right button on a grid whose cells have `data-square`. */
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
    const [from, to] = this.#bestMove.split(' ');
    if (from && to) {
      const bestMove = mark(from, to);
      bestMove.classList.add('advised');
      marks.push(bestMove);
    }
    this.element.replaceChildren(...marks);
  }

  #circle(square: string) {
    const { x, y } = this.#layout.center(square);
    return svg('circle', { class: 'drawn', cx: x, cy: y, r: 44 });
  }

  #arrow(from: string, to: string) {
    const [start, end] = [this.#layout.center(from), this.#layout.center(to)];
    const length = Math.hypot(end.x - start.x, end.y - start.y) - TIP_GAP;
    const angle = (Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI;
    const shaft = length - HEAD_LENGTH;
    const d = `M20-7H${shaft}v-17L${length} 0 ${shaft} 24V7H20z`;
    const transform = `translate(${start.x} ${start.y}) rotate(${angle})`;
    return svg('path', { class: 'drawn arrow', d, transform });
  }
}
