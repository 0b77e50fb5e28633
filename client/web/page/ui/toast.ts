// A short word at the foot of the page, which goes away by itself.

import { replaceChildren, h } from './dom.ts';

const SHOWN_MS = 6_000;
/** What is longer stays until it can have been read, with care. */
const SHOWN_MS_PER_CHARACTER = 80;
/** What leads somewhere stays until one can have decided, and come there by keyboard. */
const SHOWN_WITH_WAY_MS = 15_000;

export class Toast {
  #element;
  /** The match that it speaks of. */
  #about: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /**
   * @param way where it leads
   * @param about the match that it speaks of
   */
  show(text: string, way?: { href: string; says: string }, about?: string) {
    // Emptied first: the same text is then heard a second time.
    this.hide();
    this.#about = about;
    replaceChildren(
      this.#element,
      h('p', {}, text),
      way && h('a', { href: way.href, onclick: () => this.hide() }, way.says),
    );
    const least = way ? SHOWN_WITH_WAY_MS : SHOWN_MS;
    this.#hideIn(Math.max(least, text.length * SHOWN_MS_PER_CHARACTER));
  }

  hide() {
    clearTimeout(this.#timer);
    this.#about = undefined;
    replaceChildren(this.#element);
  }

  /** Leaves out what speaks of a match that has gone on since, or is seen no more. */
  clearForMatch(match: string) {
    if (this.#about === match) this.hide();
  }

  /** Leaves out what leads to where one is now. */
  clearLinkTo(path: string) {
    if (this.#element.querySelector('a')?.getAttribute('href') === path) this.hide();
  }

  #hideIn(after: number) {
    this.#timer = setTimeout(() => {
      // Not from under the hand of whoever is about to follow it.
      if (this.#element.matches(':hover, :focus-within')) this.#hideIn(SHOWN_MS);
      else this.hide();
    }, after);
  }
}
