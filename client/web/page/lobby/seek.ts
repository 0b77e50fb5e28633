// Looking for an opponent: whoever looks for the same, or a bot after a while.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { botName, ratedLabel } from '../text/labels.ts';
import { isCorrespondenceClock } from './custom-clock.ts';
import { formatClock, formatSeconds } from '../text/time.ts';

import type { Clock, Snapshot } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** How much weaker or stronger than oneself an opponent may be at first, where it counts. */
const RATING: [number, number] = [-200, 200];

/** After so long a bot plays with whoever found nobody. */
export const BOT_AFTER_MS = 20_000;

/** What is looked for, and the bot that will do as well. As an answer to somebody it is whoever that is, however strong. */
export interface SeekOptions {
  game: string;
  level: string;
  clock?: Clock;
  stand_in?: string;
  rated?: boolean;
  isAnswer?: boolean;
}

export class SeekPanel {
  element = h('section', { class: 'desk searching', 'aria-labelledby': 'seek-title' });
  #app;
  #wish: SeekOptions | null = null;
  /** When the bot comes. */
  #until = 0;
  #about = h('p');
  #line = h('p', { class: 'count', role: 'timer' });
  #ticking: ReturnType<typeof setInterval> | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  get isSeeking() {
    return this.#wish !== null;
  }

  async start(wish: SeekOptions) {
    this.#wish = wish;
    this.#draw(wish);
    await this.#ask(wish);
  }

  /** A search ends with the connection, and begins anew with the next. */
  onWelcome() {
    if (this.#wish) void this.#ask(this.#wish);
  }

  async stop() {
    this.clear();
    this.#app.update();
    // Without a connection there is no search any more.
    if (this.#app.connection.status.state === 'open') await this.#app.request({ type: 'unseek' });
  }

  /** There is no search any more. */
  clear() {
    this.#wish = null;
    clearInterval(this.#ticking);
  }

  /** Where the search has led. */
  onSnapshot(snapshot: Snapshot) {
    const { re, ply, status } = snapshot;
    if (!this.#wish || re !== undefined || ply !== 0 || status !== 'running') return;
    this.clear();
    this.#app.goToMatch(snapshot);
  }

  async #ask(wish: SeekOptions) {
    this.#until = performance.now() + BOT_AFTER_MS;
    clearInterval(this.#ticking);
    this.#ticking = setInterval(() => this.update(), 250);
    this.update();
    this.#app.update();
    const { level, isAnswer, ...sought } = wish;
    const bot = { bot: level, bot_after_ms: BOT_AFTER_MS };
    const window = isAnswer ? {} : { rating: RATING };
    const more = wish.rated ? window : comesBot(wish) ? bot : {};
    const isSought = await this.#app.request({ type: 'seek', ...sought, ...more });
    // What was lost with the connection is asked again with the next.
    if (!isSought && this.#app.connection.status.state === 'open') {
      this.clear();
      this.#app.update();
    }
  }

  /** Counts down. */
  update() {
    if (!this.#wish) return;
    if (this.#app.connection.status.state !== 'open') {
      setText(this.#line, '…');
      setText(this.#about, translate('search.offline'));
      return;
    }
    if (!comesBot(this.#wish)) {
      setText(this.#line, '…');
      setText(this.#about, translate('search.days'));
      return;
    }
    const bot = botName(this.#wish.level, this.#app.levels);
    setText(this.#about, translate('search.bot', { bot }));
    setText(this.#line, formatSeconds(Math.max(0, this.#until - performance.now())));
  }

  #draw({ game, clock, rated }: SeekOptions) {
    const title = this.#app.game(game)?.title ?? '';
    const terms = [title, clock && formatClock(clock), ratedLabel(this.#app, rated)];
    const sought = terms.filter(Boolean).join(', ');
    const stop = () => void this.stop();
    replaceChildren(
      this.element,
      h('h1', { id: 'seek-title' }, translate('search.title', { game: sought })),
      this.#about,
      this.#line,
      h('button', { class: 'search', type: 'button', onclick: stop }, translate('search.stop')),
    );
  }
}

/** Whether a bot plays with whoever found nobody: none does by days, or where it counts. */
const comesBot = ({ clock, rated }: SeekOptions) => !rated && !isCorrespondenceClock(clock);
