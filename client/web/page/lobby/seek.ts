// Looking for an opponent: whoever looks for the same, or a bot after a while.

import { fill, h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { botWord, ratedWord } from '../text/labels.ts';
import { isOfDays } from './custom-clock.ts';
import { clockWords, secondsLeft } from '../text/time.ts';

import type { Clock, Snapshot } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** How much weaker or stronger than oneself an opponent may be at first, where it counts. */
const RATING: [number, number] = [-200, 200];

/** After so long a bot plays with whoever found nobody. */
export const SEEK_MS = 20_000;

/** What is looked for, and the bot that will do as well. As an answer to somebody it is whoever that is, however strong. */
export interface Wish {
  game: string;
  level: string;
  clock?: Clock;
  stand_in?: string;
  rated?: boolean;
  isAnswer?: boolean;
}

export class Search {
  element = h('section', { class: 'desk searching', 'aria-labelledby': 'seek-title' });
  #app;
  #wish: Wish | null = null;
  /** When the bot comes. */
  #until = 0;
  #about = h('p');
  #line = h('p', { class: 'count', role: 'timer' });
  #ticking: ReturnType<typeof setInterval> | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  get isOn() {
    return this.#wish !== null;
  }

  async begin(wish: Wish) {
    this.#wish = wish;
    this.#draw(wish);
    await this.#ask(wish);
  }

  /** A search ends with the connection, and begins anew with the next. */
  welcomed() {
    if (this.#wish) void this.#ask(this.#wish);
  }

  async stop() {
    this.fail();
    this.#app.update();
    // Without a connection there is no search any more.
    if (this.#app.connection.link.state === 'open') await this.#app.ask({ type: 'unseek' });
  }

  /** There is no search any more. */
  fail() {
    this.#wish = null;
    clearInterval(this.#ticking);
  }

  /** Where the search has led. */
  matched(snapshot: Snapshot) {
    const { re, ply, status } = snapshot;
    if (!this.#wish || re !== undefined || ply !== 0 || status !== 'running') return;
    this.fail();
    this.#app.goTo(snapshot);
  }

  async #ask(wish: Wish) {
    this.#until = performance.now() + SEEK_MS;
    clearInterval(this.#ticking);
    this.#ticking = setInterval(() => this.update(), 250);
    this.update();
    this.#app.update();
    const { level, isAnswer, ...sought } = wish;
    const bot = { bot: level, bot_after_ms: SEEK_MS };
    const window = isAnswer ? {} : { rating: RATING };
    const more = wish.rated ? window : comesBot(wish) ? bot : {};
    const isSought = await this.#app.ask({ type: 'seek', ...sought, ...more });
    // What was lost with the connection is asked again with the next.
    if (!isSought && this.#app.connection.link.state === 'open') {
      this.fail();
      this.#app.update();
    }
  }

  /** Counts down. */
  update() {
    if (!this.#wish) return;
    if (this.#app.connection.link.state !== 'open') {
      write(this.#line, '…');
      write(this.#about, say('search.offline'));
      return;
    }
    if (!comesBot(this.#wish)) {
      write(this.#line, '…');
      write(this.#about, say('search.days'));
      return;
    }
    const bot = botWord(this.#wish.level, this.#app.levels);
    write(this.#about, say('search.bot', { bot }));
    write(this.#line, secondsLeft(Math.max(0, this.#until - performance.now())));
  }

  #draw({ game, clock, rated }: Wish) {
    const title = this.#app.game(game)?.title ?? '';
    const terms = [title, clock && clockWords(clock), ratedWord(this.#app, rated)];
    const sought = terms.filter(Boolean).join(', ');
    const stop = () => void this.stop();
    fill(
      this.element,
      h('h1', { id: 'seek-title' }, say('search.title', { game: sought })),
      this.#about,
      this.#line,
      h('button', { class: 'search', type: 'button', onclick: stop }, say('search.stop')),
    );
  }
}

/** Whether a bot plays with whoever found nobody: none does by days, or where it counts. */
const comesBot = ({ clock, rated }: Wish) => !rated && !isOfDays(clock);
