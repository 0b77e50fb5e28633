// Those who look for an opponent: each keeps a place while they look, so that nobody is in the place of another when one
// presses a button.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { profilePath, ratingText } from '../social/player-links.ts';
import { SEEK_SLOTS } from '../lobby/seek-list.ts';
import { formatClock } from '../text/time.ts';

import type { Seeker, Seekers } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** For so long a place stays free that somebody has left. */
const FREE_MS = 1000;

export type TakenSlot = { key: string; element: HTMLElement } | null;

export class SeekSlots {
  #app;
  #answer;
  #heading;
  #list;
  #more = h('span', { class: 'about' });
  #none;
  #taken: TakenSlot[] = Array.from({ length: SEEK_SLOTS }, () => null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, place: HTMLElement, answer: (seeker: Seeker) => void) {
    this.#app = app;
    this.#answer = answer;
    this.#heading = place.querySelector('h2') as HTMLElement;
    this.#list = place.querySelector('ul') as HTMLElement;
    this.#none = place.querySelector('.none') as HTMLElement;
    this.#heading.append(' ', this.#more);
  }

  show({ total, rows }: Seekers) {
    clearTimeout(this.#timer);
    // People and programs do not play each other for ratings.
    const all = rows.filter(({ player, rated }) => !(rated && player.bot));
    const keyOf = (seeker: Seeker) => JSON.stringify(seeker);
    const keys = new Set(all.map(keyOf));
    const free = this.#taken.map((taken) => taken === null);
    this.#taken = this.#taken.map((taken) => (taken && keys.has(taken.key) ? taken : null));
    const there = new Set(this.#taken.map((taken) => taken?.key));
    const waiting = all.filter((seeker) => !there.has(keyOf(seeker)));
    this.#taken = this.#taken.map((taken, at) => {
      const next = free[at] ? waiting.shift() : undefined;
      return next ? { key: keyOf(next), element: this.#row(next) } : taken;
    });
    this.#draw();
    const more = total - this.#taken.filter(Boolean).length - (rows.length - all.length);
    setText(this.#more, more > 0 ? translate('list.more', { more }) : '');
    const isLeft = this.#taken.some((taken) => taken === null);
    if (waiting.length > 0 && isLeft)
      this.#timer = setTimeout(() => this.show({ type: 'seekers', total, rows }), FREE_MS);
  }

  #draw() {
    const hadFocus = this.#list.contains(document.activeElement);
    const isEmpty = this.#taken.every((taken) => taken === null);
    this.#taken.forEach((taken, at) => {
      const there = this.#list.children[at];
      const isNone = isEmpty && at === 0;
      if (taken) {
        if (there !== taken.element) there?.replaceWith(taken.element);
      } else if (!there?.classList.contains('free') || there.contains(this.#none) !== isNone) {
        const hidden = isNone ? false : 'true';
        const place = h('li', { class: 'free', 'aria-hidden': hidden }, isNone && this.#none);
        there?.replaceWith(place);
      }
    });
    // Whoever had the focus has gone.
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
    // Guests have no rating: the server would refuse them.
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
