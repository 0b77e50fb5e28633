// Arrows and circles that one draws over the board with the right button of the mouse, to think with. Nobody
// else sees them.

import { s } from './dom.js';
import { squareOf } from './dragging.js';

/** @import { Layout } from './layout.js' */

/** How far before the middle of its square an arrow ends, in hundredths of a square. */
const BEFORE = 12;
const HEAD = 34;

export class Drawings {
  element = s('g', { class: 'drawings' });
  /** Each by the square where it begins and the one where it ends. @type {Map<string, [string, string]>} */
  #drawn = new Map();
  /** What was advised, in the same way. */
  #advised = '';
  #layout;
  /** On which position they were drawn. */
  #position = '';

  /** @param {Layout} layout */
  constructor(layout) {
    this.#layout = layout;
  }

  /** Draws them where the squares are now. @param {Layout} layout */
  turn(layout) {
    this.#layout = layout;
    this.#draw();
  }

  /** Those of another position are gone. @param {string} position */
  show(position) {
    if (position === this.#position) return;
    this.#position = position;
    this.clear();
  }

  /** Draws what the search thinks best, by the squares where it begins and ends. @param {string} from @param {string} to */
  advise(from, to) {
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

  /**
   * Follows the right button over a grid whose cells are called by `data-square`.
   * @param {HTMLElement} grid
   */
  follow(grid) {
    /** @type {string | null} */
    let from = null;
    grid.addEventListener('contextmenu', (event) => event.preventDefault());
    grid.addEventListener('pointerdown', ({ button, target }) => {
      if (button === 2) from = squareOf(target);
      else this.clear();
    });
    grid.addEventListener('pointerup', ({ button, target }) => {
      const to = squareOf(target);
      if (button === 2 && from !== null && to !== null) this.#toggle(from, to);
      from = null;
    });
  }

  /** @param {string} from @param {string} to */
  #toggle(from, to) {
    const key = `${from} ${to}`;
    if (!this.#drawn.delete(key)) this.#drawn.set(key, [from, to]);
    this.#draw();
  }

  #draw() {
    const mark = (/** @type {string} */ from, /** @type {string} */ to) =>
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

  /** @param {string} square */
  #circle(square) {
    const { x, y } = this.#layout.middle(square);
    return s('circle', { class: 'drawn', cx: x, cy: y, r: 44 });
  }

  /** @param {string} from @param {string} to */
  #arrow(from, to) {
    const [start, end] = [this.#layout.middle(from), this.#layout.middle(to)];
    const length = Math.hypot(end.x - start.x, end.y - start.y) - BEFORE;
    const angle = (Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI;
    const shaft = length - HEAD;
    const d = `M20-7H${shaft}v-17L${length} 0 ${shaft} 24V7H20z`;
    const transform = `translate(${start.x} ${start.y}) rotate(${angle})`;
    return s('path', { class: 'drawn arrow', d, transform });
  }
}
