// Shows a short message at the bottom of the page, which disappears after some seconds.

import { replaceChildren, h } from './dom.ts';

const SHOWN_MS = 6_000;
/** Long texts stay long enough for slow readers. */
const SHOWN_MS_PER_CHARACTER = 80;
/** A toast with a link stays long enough to reach the link by keyboard. */
const SHOWN_WITH_LINK_MS = 15_000;

export class Toast {
  #element;
  /** The match that the text is about. */
  #match: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** @param match the match that the text is about */
  show(text: string, link?: { href: string; says: string }, match?: string) {
    // Removing the old text first lets screen readers announce the same text again.
    this.hide();
    this.#match = match;
    replaceChildren(
      this.#element,
      h('p', {}, text),
      link && h('a', { href: link.href, onclick: () => this.hide() }, link.says),
    );
    const minimum = link ? SHOWN_WITH_LINK_MS : SHOWN_MS;
    this.#hideIn(Math.max(minimum, text.length * SHOWN_MS_PER_CHARACTER));
  }

  hide() {
    clearTimeout(this.#timer);
    this.#match = undefined;
    replaceChildren(this.#element);
  }

  /** Hides the toast if it is about this match. */
  clearForMatch(match: string) {
    if (this.#match === match) this.hide();
  }

  /** Hides the toast if its link leads to this path. */
  clearLinkTo(path: string) {
    if (this.#element.querySelector('a')?.getAttribute('href') === path) this.hide();
  }

  #hideIn(ms: number) {
    this.#timer = setTimeout(() => {
      // The user may be about to click the link.
      if (this.#element.matches(':hover, :focus-within')) this.#hideIn(SHOWN_MS);
      else this.hide();
    }, ms);
  }
}
