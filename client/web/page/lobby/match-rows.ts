// A list of matches that keeps its elements, and so the focus, across updates.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { icon } from '../app/header-toggles.ts';

import type { ListedMatch } from '../net/protocol.ts';

export type MatchRef = Pick<ListedMatch, 'match' | 'code'>;

/** Content of one row. */
export interface MatchRow {
  ref: MatchRef;
  /** names of both players, or of the opponent only */
  names: string[];
  /** profile path of each name; `null` for a player without a profile */
  profileLinks?: (string | null)[];
  about: string;
  /** label of the main button */
  action: string;
  onCancel?: () => void;
  /** outcome of an ended match */
  result?: string;
}

const CROSS = 'M7 7l10 10M17 7 7 17';

/** A titled list of matches. A match keeps its row element while it is listed. */
export class MatchListSection {
  #heading;
  #list = h('ul', { class: 'rows' });
  #emptyNote;
  #moreNote = h('p', { class: 'none' });
  #expandButton;
  #onOpen;
  #maxRows;
  #rows = new Map<string, Row>();
  element;

  /**
   * @param emptyText shown while the list is empty
   * @param maxRows number of rows that are visible before the user expands the list
   */
  constructor(
    title: string,
    emptyText: string,
    onOpen: (ref: MatchRef) => void,
    maxRows = Infinity,
  ) {
    this.#onOpen = onOpen;
    this.#maxRows = maxRows;
    this.#heading = h('h2', { tabindex: -1 }, title);
    this.#emptyNote = h('p', { class: 'none' }, emptyText);
    this.#expandButton = h('button', { type: 'button', class: 'quiet', hidden: true });
    const parts = [this.#heading, this.#list, this.#emptyNote, this.#moreNote, this.#expandButton];
    this.element = h('div', { class: 'kind' }, ...parts);
  }

  set emptyText(text: string) {
    setText(this.#emptyNote, text);
  }

  /** @param more number of further matches that are not in `all` */
  show(all: MatchRow[], more = 0) {
    const shown = all.slice(0, this.#maxRows);
    this.#drawRows(shown);
    this.#emptyNote.hidden = all.length > 0 || more > 0;
    this.#moreNote.hidden = more <= 0;
    setText(this.#moreNote, translate(all.length > 0 ? 'list.newest' : 'list.others', { more }));
    this.#expandButton.hidden = shown.length === all.length;
    setText(this.#expandButton, translate('list.more', { more: all.length - shown.length }));
    this.#expandButton.onclick = () => {
      this.#maxRows = Infinity;
      this.show(all, more);
      this.#list.children[shown.length]?.querySelector('button')?.focus();
    };
    this.element.hidden = all.length === 0 && !this.#emptyNote.textContent;
  }

  /** Focuses the main button of a row. */
  focus(at: number) {
    const button = this.#list.children[at]?.querySelector('button:last-child');
    if (button instanceof HTMLElement) button.focus();
  }

  #drawRows(shown: MatchRow[]) {
    const before = this.#rows;
    this.#rows = new Map(
      shown.map((content) => {
        const { ref } = content;
        const row = before.get(ref.match) ?? new Row(ref, this.#onOpen);
        row.show(content);
        return [ref.match, row];
      }),
    );
    const hadFocus = this.#list.contains(document.activeElement);
    for (const [match, { element }] of before) if (!this.#rows.has(match)) element.remove();
    // Elements in the right place are not moved, because a moved element loses the focus.
    [...this.#rows.values()].forEach(({ element }, at) => {
      const current = this.#list.children[at] ?? null;
      if (current !== element) this.#list.insertBefore(element, current);
    });
    // The focused row was removed.
    if (hadFocus && !this.#list.contains(document.activeElement)) this.#heading.focus();
  }
}

class Row {
  #names = h('p', { class: 'names' });
  #about = h('p', { class: 'about' });
  #button;
  #cancelButton;
  #drawnNames = '';
  element;

  constructor(ref: MatchRef, onOpen: (ref: MatchRef) => void) {
    this.#button = h('button', { type: 'button', onclick: () => onOpen(ref) });
    const cancel = translate('list.callOff');
    const label = translate('list.action', { action: cancel, code: ref.code });
    this.#cancelButton = h(
      'button',
      { type: 'button', class: 'quiet round', 'aria-label': label, title: cancel },
      icon(CROSS),
    );
    const text = h('div', { class: 'who' }, this.#names, this.#about);
    this.element = h('li', {}, text, this.#cancelButton, this.#button);
  }

  show({ ref, names, profileLinks = [], about, action, onCancel, result }: MatchRow) {
    if (result) this.element.dataset.result = result;
    const key = JSON.stringify([names, profileLinks]);
    if (this.#drawnNames !== key) {
      this.#drawnNames = key;
      const [first, second] = names.map((name, at) => {
        const label = h('bdi', {}, name);
        const href = profileLinks[at];
        return href ? h('a', { class: 'person', href }, label) : label;
      });
      // If the line breaks, the dash stays with the first name.
      const dash = second && h('span', { class: 'against' }, '\u00a0–');
      replaceChildren(
        this.#names,
        dash ? h('span', {}, first, dash) : first,
        second && ' ',
        second,
      );
    }
    setText(this.#about, about);
    setText(this.#button, action);
    this.#button.setAttribute('aria-label', translate('list.action', { action, code: ref.code }));
    this.#cancelButton.hidden = !onCancel;
    this.#cancelButton.onclick = onCancel ?? null;
  }
}
