// A list of matches that changes while one reads it.

import { fill, h, write } from './dom.js';

/** @import { Listed } from '../protocol.js' */

/** @typedef {Pick<Listed, 'match' | 'code' | 'game' | 'seats' | 'ply' | 'spectators'>} Row */

/**
 * What is told of a match.
 * @typedef {object} Told
 * @property {Row} row
 * @property {string[]} names
 * @property {string} about
 * @property {string} action what one can do with it
 */

/** Matches of one kind, the newest first. A row stays the same element, with its focus. */
export class Section {
  #heading;
  #list = h('ul', { class: 'rows' });
  #none;
  #more = h('p', { class: 'none' });
  #go;
  /** @type {Map<string, Line>} */
  #lines = new Map();
  element;

  /**
   * @param {string} title
   * @param {string} none what is said if there are none
   * @param {(row: Row) => void} go
   */
  constructor(title, none, go) {
    this.#go = go;
    this.#heading = h('h2', { tabindex: -1 }, title);
    this.#none = h('p', { class: 'none' }, none);
    this.element = h('div', { class: 'kind' }, this.#heading, this.#list, this.#none, this.#more);
  }

  /** @param {Told[]} all @param {number} [more] how many there are that are not among them */
  show(all, more = 0) {
    const before = this.#lines;
    this.#lines = new Map(
      all.map((told) => {
        const line = before.get(told.row.match) ?? new Line(told.row, this.#go);
        line.show(told);
        return [told.row.match, line];
      }),
    );
    const hadFocus = this.#list.contains(document.activeElement);
    for (const [match, { element }] of before) if (!this.#lines.has(match)) element.remove();
    // What stands where it belongs is not touched: an element that is moved loses the focus.
    [...this.#lines.values()].forEach(({ element }, at) => {
      const there = this.#list.children[at] ?? null;
      if (there !== element) this.#list.insertBefore(element, there);
    });
    this.#none.hidden = all.length > 0 || more > 0;
    this.#more.hidden = more <= 0;
    write(this.#more, all.length > 0 ? `The newest; and ${more} more.` : `There are ${more} more.`);
    this.element.hidden = all.length === 0 && !this.#none.textContent;
    // The match that had the focus is over.
    if (hadFocus && !this.#list.contains(document.activeElement)) this.#heading.focus();
  }
}

/** One match in the list. */
class Line {
  #names = h('p', { class: 'names' });
  #about = h('p', { class: 'about' });
  #button;
  #drawn = '';
  element;

  /** @param {Row} row @param {(row: Row) => void} go */
  constructor(row, go) {
    this.#button = h('button', { type: 'button', onclick: () => go(row) });
    const who = h('div', { class: 'who' }, this.#names, this.#about);
    this.element = h('li', {}, who, this.#button);
  }

  /** @param {Told} told */
  show({ row, names, about, action }) {
    if (this.#drawn !== names.join('\n')) {
      this.#drawn = names.join('\n');
      const [one, other] = names.map((name) => h('bdi', {}, name));
      fill(this.#names, one, h('span', { class: 'against' }, ' – '), other);
    }
    write(this.#about, about);
    write(this.#button, action);
    this.#button.setAttribute('aria-label', `${action}: ${row.code}`);
  }
}
