// A list of matches that changes while one reads it.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { icon } from '../app/header-toggles.ts';

import type { ListedMatch } from '../net/protocol.ts';

export type MatchRef = Pick<ListedMatch, 'match' | 'code'>;

/** What is told of a match. */
export interface MatchRow {
  ref: MatchRef;
  /** of both who play, or of the opponent alone */
  names: string[];
  /** where one reads about them, where one can */
  profileLinks?: (string | null)[];
  about: string;
  /** what one can do with it */
  action: string;
  onCancel?: () => void;
  /** what it came to, of a match that is over */
  result?: string;
}

const CROSS = 'M7 7l10 10M17 7 7 17';

/** Matches of one kind, in the order in which they are given. A row stays the same element, with its focus. */
export class MatchListSection {
  #heading;
  #list = h('ul', { class: 'rows' });
  #none;
  #more = h('p', { class: 'none' });
  #unfold;
  #go;
  #atMost;
  #lines: Map<string, Line> = new Map();
  element;

  /**
   * @param none what is said if there are none
   * @param atMost how many are shown before one asks for the others
   */
  constructor(title: string, none: string, go: (row: MatchRef) => void, atMost: number = Infinity) {
    this.#go = go;
    this.#atMost = atMost;
    this.#heading = h('h2', { tabindex: -1 }, title);
    this.#none = h('p', { class: 'none' }, none);
    this.#unfold = h('button', { type: 'button', class: 'quiet', hidden: true });
    const parts = [this.#heading, this.#list, this.#none, this.#more, this.#unfold];
    this.element = h('div', { class: 'kind' }, ...parts);
  }

  /** What is said if there are none. */
  set emptyText(text: string) {
    setText(this.#none, text);
  }

  /** @param more how many there are that are not among them */
  show(all: MatchRow[], more: number = 0) {
    const shown = all.slice(0, this.#atMost);
    this.#draw(shown);
    this.#none.hidden = all.length > 0 || more > 0;
    this.#more.hidden = more <= 0;
    setText(this.#more, translate(all.length > 0 ? 'list.newest' : 'list.others', { more }));
    this.#unfold.hidden = shown.length === all.length;
    setText(this.#unfold, translate('list.more', { more: all.length - shown.length }));
    this.#unfold.onclick = () => {
      this.#atMost = Infinity;
      this.show(all, more);
      this.#list.children[shown.length]?.querySelector('button')?.focus();
    };
    this.element.hidden = all.length === 0 && !this.#none.textContent;
  }

  /** Goes to what can be done with one of them. */
  focus(at: number) {
    const button = this.#list.children[at]?.querySelector('button:last-child');
    if (button instanceof HTMLElement) button.focus();
  }

  #draw(shown: MatchRow[]) {
    const before = this.#lines;
    this.#lines = new Map(
      shown.map((told) => {
        const line = before.get(told.ref.match) ?? new Line(told.ref, this.#go);
        line.show(told);
        return [told.ref.match, line];
      }),
    );
    const hadFocus = this.#list.contains(document.activeElement);
    for (const [match, { element }] of before) if (!this.#lines.has(match)) element.remove();
    // What stands where it belongs is not touched: an element that is moved loses the focus.
    [...this.#lines.values()].forEach(({ element }, at) => {
      const there = this.#list.children[at] ?? null;
      if (there !== element) this.#list.insertBefore(element, there);
    });
    // The match that had the focus is over.
    if (hadFocus && !this.#list.contains(document.activeElement)) this.#heading.focus();
  }
}

/** One match in the list. */
class Line {
  #names = h('p', { class: 'names' });
  #about = h('p', { class: 'about' });
  #button;
  #callOff;
  #drawn = '';
  element;

  constructor(row: MatchRef, go: (row: MatchRef) => void) {
    this.#button = h('button', { type: 'button', onclick: () => go(row) });
    const callOff = translate('list.callOff');
    const label = translate('list.action', { action: callOff, code: row.code });
    this.#callOff = h(
      'button',
      { type: 'button', class: 'quiet round', 'aria-label': label, title: callOff },
      icon(CROSS),
    );
    const who = h('div', { class: 'who' }, this.#names, this.#about);
    this.element = h('li', {}, who, this.#callOff, this.#button);
  }

  show({
    ref: row,
    names,
    profileLinks: pages = [],
    about,
    action,
    onCancel: callOff,
    result,
  }: MatchRow) {
    if (result) this.element.dataset.result = result;
    const drawn = JSON.stringify([names, pages]);
    if (this.#drawn !== drawn) {
      this.#drawn = drawn;
      const [one, other] = names.map((name, at) => {
        const says = h('bdi', {}, name);
        return pages[at] ? h('a', { class: 'person', href: pages[at] }, says) : says;
      });
      // The dash stays with the first name where the second comes on a line of its own.
      const first = other && h('span', {}, one, h('span', { class: 'against' }, '\u00a0–'));
      replaceChildren(this.#names, first ?? one, other && ' ', other);
    }
    setText(this.#about, about);
    setText(this.#button, action);
    this.#button.setAttribute('aria-label', translate('list.action', { action, code: row.code }));
    this.#callOff.hidden = !callOff;
    this.#callOff.onclick = callOff ?? null;
  }
}
