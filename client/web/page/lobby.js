// Where one chooses what to play, and sees what others play.

import { BOT_PACE_MS, firstLevel, recallChoice, rememberChoice } from './choice.js';
import { fill, h, write } from './dom.js';
import { Listing } from './listing.js';
import { sample } from './picture.js';
import { pieceIcon } from './piece.js';
import { Board } from './position.js';
import { capital } from './words.js';

/** @import { Game, Request, SeatWish, Snapshot } from '../protocol.js' */
/** @import { Choice } from './choice.js' */
/** @import { App } from './main.js' */

/** After so long a bot plays with whoever found nobody. */
const SEEK_MS = 20_000;

const PACES = [
  { ms: 300, title: 'Fast' },
  { ms: 1000, title: 'Calm' },
  { ms: 3000, title: 'Slow' },
];

export class Lobby {
  element = h('div', { class: 'lobby' });
  #app;
  #listing;
  /** @type {Partial<Choice>} */
  #choice = recallChoice();
  /** @type {{ game: string, level: string, until: number } | null} */
  #seek = null;
  #seekAbout = h('p');
  #seekLine = h('p', { class: 'count', role: 'timer' });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;
  /** @type {HTMLElement | null} */
  #shownDesk = null;
  /** What the options were made from; they are made anew only if that changes. */
  #madeFrom = '';

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.#listing = new Listing(app);
  }

  title() {
    return '';
  }

  welcomed() {
    this.#listing.start();
    // A search for an opponent ends with the connection.
    if (this.#seek) void this.#startSeek();
  }

  leave() {
    this.#listing.stop();
    if (this.#seek) void this.#stopSeek();
  }

  update() {
    const { games, levels } = this.#app;
    this.#endLostSeek();
    this.#countDown();
    // In another tab one plays on; here nothing can be asked until one takes it back.
    this.element.inert = this.#isOver();
    if (games.length === 0) fill(this.element, h('p', { class: 'none' }, 'Connecting …'));
    const madeFrom = JSON.stringify([games, levels, this.#seek !== null]);
    if (madeFrom !== this.#madeFrom && games.length > 0) {
      this.#madeFrom = madeFrom;
      this.#settle();
      this.#showDesk(this.#seek ? this.#searching() : this.#desk());
    }
    this.#listing.update();
  }

  /** Puts this in place of what was chosen from; the list beside it stays where it is. @param {HTMLElement} desk */
  #showDesk(desk) {
    const before = this.#shownDesk;
    const hadFocus = before?.contains(document.activeElement);
    this.#shownDesk = desk;
    if (before) before.replaceWith(desk);
    else fill(this.element, desk, this.#listing.element);
    // From "Find an opponent" to "Stop looking", and back.
    /** @type {HTMLElement | null} */
    const search = desk.querySelector('.search');
    if (hadFocus) search?.focus();
  }

  /** Where the search for an opponent has led. @param {Snapshot} snapshot */
  matched(snapshot) {
    if (
      this.#seek &&
      snapshot.re === undefined &&
      snapshot.ply === 0 &&
      snapshot.status === 'running'
    ) {
      this.#seek = null;
      clearInterval(this.#ticking);
      this.#app.goTo(snapshot);
    }
  }

  seekFailed() {
    this.#seek = null;
    clearInterval(this.#ticking);
  }

  /** A search ends with the connection; it begins anew with the next, unless that is another tab's. */
  #endLostSeek() {
    if (this.#isOver()) this.seekFailed();
  }

  /** Whether the connection does not come back by itself. */
  #isOver() {
    const { state } = this.#app.connection.link;
    return state === 'replaced' || state === 'broken';
  }

  /** Makes the choice one that this server offers. */
  #settle() {
    const { games, levels } = this.#app;
    const choice = this.#choice;
    const level = (
      /** @type {string | undefined} */ wish,
      /** @type {string | undefined} */ or = firstLevel(levels),
    ) => (levels.some((known) => known.level === wish) ? wish : or);
    if (!games.some(({ game }) => game === choice.game)) choice.game = games[0]?.game;
    choice.level = level(choice.level);
    choice.one = level(choice.one);
    choice.other = level(choice.other, levels.at(-1)?.level);
    choice.side ??= 'first';
    if (!PACES.some(({ ms }) => ms === choice.pace)) choice.pace = 1000;
  }

  /** @param {Partial<Choice>} change */
  #choose(change) {
    Object.assign(this.#choice, change);
    rememberChoice(this.#choice);
  }

  #game() {
    return /** @type {Game} */ (this.#app.game(this.#choice.game ?? '') ?? this.#app.games[0]);
  }

  #levelTitle(level = this.#choice.level) {
    return this.#app.levels.find((known) => known.level === level)?.title ?? level ?? '';
  }

  /** @param {SeatWish} other @returns {Request} */
  #create(other) {
    const { side } = this.#choice;
    /** @type {SeatWish[]} */
    const seats = side === 'second' ? [other, 'me'] : ['me', other];
    const game = this.#game().game;
    const pace = typeof other === 'object' ? { pace_ms: BOT_PACE_MS } : {};
    return { type: 'create', game, seats, shuffle: side === 'chance', ...pace };
  }

  #desk() {
    const { games, levels } = this.#app;
    const start = h('button', {
      class: 'primary large',
      type: 'button',
      onclick: () => {
        void this.#app.enter(this.#create({ bot: this.#choice.level ?? '' }));
      },
    });
    const sides = h('div', { class: 'options' });
    const show = () => {
      write(start, `Play the ${this.#levelTitle().toLowerCase()} bot`);
      fill(sides, ...this.#sides());
    };
    const choose = (/** @type {Partial<Choice>} */ change) => {
      this.#choose(change);
      show();
    };
    show();
    return h(
      'section',
      { class: 'desk', 'aria-labelledby': 'desk-title' },
      h('h1', { id: 'desk-title' }, 'What shall we play?'),
      group(
        'Game',
        'games',
        games.map((game) =>
          radio(
            'game',
            game.game,
            game.game === this.#choice.game,
            () => choose({ game: game.game }),
            sample(game),
            h('span', {}, game.title),
          ),
        ),
      ),
      group(
        'How strong is the bot?',
        'options',
        levels.map(({ level, title }) =>
          radio('level', level, level === this.#choice.level, () => choose({ level }), title),
        ),
      ),
      h('fieldset', {}, h('legend', {}, 'Your side'), sides),
      h('div', { class: 'row main-action' }, start),
      h(
        'div',
        { class: 'with-people' },
        h('h2', {}, 'Or with a person'),
        h(
          'div',
          { class: 'row' },
          h(
            'button',
            { type: 'button', onclick: () => void this.#app.enter(this.#create('open')) },
            'Invite a friend',
          ),
          h(
            'button',
            { class: 'search', type: 'button', onclick: () => void this.#beginSeek() },
            'Find an opponent',
          ),
        ),
      ),
      this.#exhibition(),
    );
  }

  #sides() {
    const game = this.#game();
    const board = new Board(game, '');
    const [first, second] = game.sides.map(capital);
    const option = (/** @type {Choice['side']} */ side, /** @type {Node[]} */ ...says) =>
      radio('side', side, side === this.#choice.side, () => this.#choose({ side }), ...says);
    return [
      option('first', pieceIcon(board, 0), h('span', {}, `${first}, first`)),
      option('second', pieceIcon(board, 1), h('span', {}, `${second}, second`)),
      option('chance', h('span', {}, 'By chance')),
    ];
  }

  #exhibition() {
    const bot = (/** @type {'one' | 'other'} */ which, /** @type {string} */ label) =>
      select(
        label,
        this.#app.levels.map(({ level, title }) => ({ value: level, title })),
        this.#choice[which],
        (level) => this.#choose({ [which]: level }),
      );
    const watch = () => {
      const { one = '', other = '', pace = 1000 } = this.#choice;
      /** @type {SeatWish[]} */
      const seats = [{ bot: one }, { bot: other }];
      void this.#app.enter({ type: 'create', game: this.#game().game, seats, pace_ms: pace });
    };
    return h(
      'details',
      { class: 'exhibition' },
      h('summary', {}, 'Or watch two bots'),
      h(
        'div',
        { class: 'row fields' },
        bot('one', 'First'),
        bot('other', 'Second'),
        select(
          'Pace',
          PACES.map(({ ms, title }) => ({ value: String(ms), title })),
          String(this.#choice.pace),
          (ms) => this.#choose({ pace: Number(ms) }),
        ),
        h('button', { type: 'button', onclick: watch }, 'Watch them'),
      ),
    );
  }

  async #beginSeek() {
    this.#seek = { game: this.#game().game, level: this.#choice.level ?? '', until: 0 };
    await this.#startSeek();
  }

  async #startSeek() {
    if (!this.#seek) return;
    const { game, level } = this.#seek;
    this.#seek.until = performance.now() + SEEK_MS;
    clearInterval(this.#ticking);
    this.#ticking = setInterval(() => this.#countDown(), 250);
    this.#countDown();
    this.#app.update();
    const isSought = await this.#app.ask({ type: 'seek', game, bot: level, bot_after_ms: SEEK_MS });
    // What was lost with the connection is asked again with the next.
    if (!isSought && this.#app.connection.link.state === 'open') {
      this.seekFailed();
      this.#app.update();
    }
  }

  async #stopSeek() {
    this.seekFailed();
    this.#app.update();
    // Without a connection there is no search any more.
    if (this.#app.connection.link.state === 'open') await this.#app.ask({ type: 'unseek' });
  }

  #countDown() {
    if (!this.#seek) return;
    if (this.#app.connection.link.state !== 'open') {
      write(this.#seekLine, '…');
      write(this.#seekAbout, 'The search goes on as soon as there is a connection.');
      return;
    }
    const bot = this.#levelTitle(this.#seek.level).toLowerCase();
    write(this.#seekAbout, `If nobody comes, the ${bot} bot sits down in`);
    const left = Math.max(0, Math.ceil((this.#seek.until - performance.now()) / 1000));
    write(this.#seekLine, `${left} s`);
  }

  #searching() {
    const game = this.#app.game(this.#seek?.game ?? '');
    return h(
      'section',
      { class: 'desk searching', 'aria-labelledby': 'seek-title' },
      h('h1', { id: 'seek-title' }, `Looking for somebody to play ${game?.title ?? ''} …`),
      this.#seekAbout,
      this.#seekLine,
      h(
        'button',
        { class: 'search', type: 'button', onclick: () => void this.#stopSeek() },
        'Stop looking',
      ),
    );
  }
}

/** @param {string} legend @param {string} kind @param {HTMLElement[]} options */
const group = (legend, kind, options) =>
  h('fieldset', {}, h('legend', {}, legend), h('div', { class: kind }, ...options));

/**
 * @param {string} name
 * @param {string} value
 * @param {boolean} checked
 * @param {() => void} choose
 * @param {...(Node | string)} label
 */
const radio = (name, value, checked, choose, ...label) =>
  h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name, value, checked, onchange: choose }),
    ...label,
  );

/**
 * @param {string} label
 * @param {{ value: string, title: string }[]} options
 * @param {string | undefined} chosen
 * @param {(value: string) => void} choose
 */
function select(label, options, chosen, choose) {
  const list = h(
    'select',
    { onchange: () => choose(list.value) },
    ...options.map(({ value, title }) => h('option', { value, selected: value === chosen }, title)),
  );
  return h('label', { class: 'field' }, h('span', {}, label), list);
}
