// List of players who seek an opponent. Each seeker stays in the same row, so that a button does
// not change under the pointer.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { profilePath, ratingText } from '../social/player-links.ts';
import { SEEK_SLOTS } from '../lobby/seek-list.ts';
import { formatClock } from '../text/time.ts';

import type { Seeker, Seekers } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Time that the row of a seeker stays free after they leave. */
const FREE_MS = 1000;

export type TakenSlot = { key: string; element: HTMLElement } | null;

export class SeekSlots {
  #app;
  #answer;
  #heading;
  #list;
  #more = h('span', { class: 'about' });
  #none;
  #slots: TakenSlot[] = Array.from({ length: SEEK_SLOTS }, () => null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, container: HTMLElement, answer: (seeker: Seeker) => void) {
    this.#app = app;
    this.#answer = answer;
    this.#heading = container.querySelector('h2') as HTMLElement;
    this.#list = container.querySelector('ul') as HTMLElement;
    this.#none = container.querySelector('.none') as HTMLElement;
    this.#heading.append(' ', this.#more);
  }

  show({ total, rows }: Seekers) {
    clearTimeout(this.#timer);
    // Humans and bot accounts do not play rated matches against each other.
    const seekers = rows.filter(({ player, rated }) => !(rated && player.bot));
    const keyOf = (seeker: Seeker) => JSON.stringify(seeker);
    const keys = new Set(seekers.map(keyOf));
    const free = this.#slots.map((slot) => slot === null);
    this.#slots = this.#slots.map((slot) => (slot && keys.has(slot.key) ? slot : null));
    const shown = new Set(this.#slots.map((slot) => slot?.key));
    const waiting = seekers.filter((seeker) => !shown.has(keyOf(seeker)));
    this.#slots = this.#slots.map((slot, index) => {
      const next = free[index] ? waiting.shift() : undefined;
      return next ? { key: keyOf(next), element: this.#row(next) } : slot;
    });
    this.#draw();
    const more = total - this.#slots.filter(Boolean).length - (rows.length - seekers.length);
    setText(this.#more, more > 0 ? translate('list.more', { more }) : '');
    const hasFreeSlot = this.#slots.some((slot) => slot === null);
    if (waiting.length > 0 && hasFreeSlot)
      this.#timer = setTimeout(() => this.show({ type: 'seekers', total, rows }), FREE_MS);
  }

  #draw() {
    const hadFocus = this.#list.contains(document.activeElement);
    const isEmpty = this.#slots.every((slot) => slot === null);
    this.#slots.forEach((slot, index) => {
      const row = this.#list.children[index];
      const hasNote = isEmpty && index === 0;
      if (slot) {
        if (row !== slot.element) row?.replaceWith(slot.element);
      } else if (!row?.classList.contains('free') || row.contains(this.#none) !== hasNote) {
        const hidden = hasNote ? false : 'true';
        const freeRow = h('li', { class: 'free', 'aria-hidden': hidden }, hasNote && this.#none);
        row?.replaceWith(freeRow);
      }
    });
    // The focused row was removed.
    if (hadFocus && !this.#list.contains(document.activeElement)) this.#heading.focus();
  }

  #row(seeker: Seeker) {
    const { player, game, clock, rated, rating, provisional } = seeker;
    const name = h('bdi', {}, player.name);
    const who = player.account
      ? h('a', { class: 'person', href: profilePath(player.name) }, name)
      : name;
    const terms = [this.#app.game(game)?.title ?? game, clock && formatClock(clock)];
    const action = translate('seekers.play');
    const names = h('p', { class: 'names' }, who);
    if (rating !== undefined) names.append(` (${ratingText(rating, provisional)})`);
    const about = h('p', { class: 'about' });
    // Guests have no rating, so the server would reject a rated match.
    const isClosed = rated === true && !this.#app.player?.account;
    const counts = [rated && translate('rated.short'), isClosed && translate('seekers.registered')];
    setText(about, [...terms, ...counts].filter(Boolean).join(' · '));
    const button = h('button', { type: 'button', onclick: () => this.#answer(seeker) }, action);
    button.setAttribute('aria-label', translate('list.action', { action, code: player.name }));
    const row = h('li');
    replaceChildren(row, h('div', { class: 'who' }, names, about), !isClosed && button);
    return row;
  }
}
