// The search for an opponent: sends the seek and counts down until a bot joins.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { botName, ratedLabel } from '../text/labels.ts';
import { isCorrespondenceClock } from '../model/clocks.ts';
import { formatClock, formatSeconds } from '../text/time.ts';

import type { Clock, Snapshot } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Initial range of accepted ratings, as offsets from the player's rating. */
const RATING_RANGE: [number, number] = [-200, 200];

/** Time until a bot joins a seek without an opponent. */
export const BOT_AFTER_MS = 20_000;

/** A seek, and the level of the bot that joins it. */
export interface SeekOptions {
  game: string;
  level: string;
  clock?: Clock;
  stand_in?: string;
  rated?: boolean;
  /** whether it answers a listed seek, whose player may have any rating */
  isAnswer?: boolean;
}

export class SeekPanel {
  element = h('section', { class: 'desk searching', 'aria-labelledby': 'seek-title' });
  #app;
  #seek: SeekOptions | null = null;
  #botJoinsAt = 0;
  #about = h('p');
  #countdown = h('p', { class: 'count', role: 'timer' });
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  get isSeeking() {
    return this.#seek !== null;
  }

  async start(seek: SeekOptions) {
    this.#seek = seek;
    this.#draw(seek);
    await this.#send(seek);
  }

  /** Sends the seek again: the server drops it when the connection closes. */
  onWelcome() {
    if (this.#seek) void this.#send(this.#seek);
  }

  async stop() {
    this.clear();
    this.#app.update();
    if (this.#app.connection.status.state === 'open') await this.#app.request({ type: 'unseek' });
  }

  /** Forgets the seek without a message to the server. */
  clear() {
    this.#seek = null;
    clearInterval(this.#timer);
  }

  /** Opens the match when the seek is paired. */
  onSnapshot(snapshot: Snapshot) {
    const { re, ply, status } = snapshot;
    if (!this.#seek || re !== undefined || ply !== 0 || status !== 'running') return;
    this.clear();
    this.#app.goToMatch(snapshot);
  }

  async #send(seek: SeekOptions) {
    this.#botJoinsAt = performance.now() + BOT_AFTER_MS;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.update(), 250);
    this.update();
    this.#app.update();
    const { level, isAnswer, ...fields } = seek;
    const bot = { bot: level, bot_after_ms: BOT_AFTER_MS };
    const ratingRange = isAnswer ? {} : { rating: RATING_RANGE };
    const options = seek.rated ? ratingRange : botCanJoin(seek) ? bot : {};
    const isAccepted = await this.#app.request({ type: 'seek', ...fields, ...options });
    // If the connection was lost, `onWelcome` sends the seek again.
    if (!isAccepted && this.#app.connection.status.state === 'open') {
      this.clear();
      this.#app.update();
    }
  }

  /** Updates the countdown. */
  update() {
    if (!this.#seek) return;
    if (this.#app.connection.status.state !== 'open') {
      setText(this.#countdown, '…');
      setText(this.#about, translate('search.offline'));
      return;
    }
    if (!botCanJoin(this.#seek)) {
      setText(this.#countdown, '…');
      setText(this.#about, translate('search.days'));
      return;
    }
    const bot = botName(this.#seek.level, this.#app.levels);
    setText(this.#about, translate('search.bot', { bot }));
    setText(this.#countdown, formatSeconds(Math.max(0, this.#botJoinsAt - performance.now())));
  }

  #draw({ game, clock, rated }: SeekOptions) {
    const title = this.#app.game(game)?.title ?? '';
    const terms = [title, clock && formatClock(clock), ratedLabel(this.#app, rated)];
    const summary = terms.filter(Boolean).join(', ');
    const stop = () => void this.stop();
    replaceChildren(
      this.element,
      h('h1', { id: 'seek-title' }, translate('search.title', { game: summary })),
      this.#about,
      this.#countdown,
      h('button', { class: 'search', type: 'button', onclick: stop }, translate('search.stop')),
    );
  }
}

/** Bots play neither correspondence nor rated matches. */
const botCanJoin = ({ clock, rated }: SeekOptions) => !rated && !isCorrespondenceClock(clock);
