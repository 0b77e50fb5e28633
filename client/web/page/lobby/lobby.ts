// Where one chooses what to play, and sees what others play.

import { challenge, opponents } from '../social/challenge.ts';
import { BOT_PACE_MS, firstLevel, recallChoice, rememberChoice } from './lobby-prefs.ts';
import { checkbox, group, radio } from '../ui/controls.ts';
import { fill, h, write } from '../ui/dom.ts';
import { familiar } from '../model/game-order.ts';
import { say, sentences } from '../text/language.ts';
import { Listing } from './match-lists.ts';
import { botWord, sideName } from '../text/labels.ts';
import { sample } from '../board/picture.ts';
import { pieceIcon } from '../board/piece.ts';
import { Board } from '../model/position.ts';
import { hasRules, rulesButton } from '../actions/rules-button.ts';
import { SEEK_MS, Search } from './seek.ts';
import { Terms } from './match-options.ts';
import { spanWords } from '../text/time.ts';
import { come } from '../app/lazy.ts';

import type {
  Game,
  ListChanged,
  Person,
  RequestOf,
  SeatWish,
  Seeker,
  Seekers,
  Snapshot,
} from '../net/protocol.ts';
import type { Choice } from './lobby-prefs.ts';
import type { App } from '../app/main.ts';

export class Lobby {
  element = h('div', { class: 'lobby' });
  #app;
  #listing;
  #rules;
  #choice: Partial<Choice> = recallChoice();
  #search;
  #shownDesk: HTMLElement | null = null;
  /** What the options were made from; they are made anew only if that changes. */
  #madeFrom = '';

  constructor(app: App) {
    this.#app = app;
    this.#listing = new Listing(app, (seeker) => this.#answer(seeker));
    this.#rules = rulesButton(app, () => this.#game());
    this.#search = new Search(app);
  }

  title() {
    return '';
  }

  welcomed() {
    this.#listing.welcomed();
    this.#search.welcomed();
  }

  leave() {
    this.#listing.stop();
    if (this.#search.isOn) void this.#search.stop();
  }

  update() {
    const { games, levels } = this.#app;
    const { isAlone, welcome } = this.#app.connection;
    const clocks = welcome?.clocks;
    // In another tab one plays on; here nothing can be asked until one takes it back.
    const isOver = this.#isOver();
    this.element.inert = isOver;
    if (isOver) this.#search.fail();
    this.#search.update();
    if (games.length === 0) fill(this.element, h('p', { class: 'none' }, say('link.connecting')));
    const { account } = this.#app.player ?? {};
    const madeFrom = JSON.stringify([games, levels, clocks, account, isAlone, this.#search.isOn]);
    if (madeFrom !== this.#madeFrom && games.length > 0) {
      this.#madeFrom = madeFrom;
      this.#settle();
      this.#showDesk(this.#search.isOn ? this.#search.element : this.#desk());
    }
    this.#listing.update();
  }

  /** Puts this in place of what was chosen from; the list beside it stays where it is. */
  #showDesk(desk: HTMLElement) {
    const before = this.#shownDesk;
    const hadFocus = before?.contains(document.activeElement);
    this.#shownDesk = desk;
    if (before) before.replaceWith(desk);
    else fill(this.element, desk, this.#listing.own.element, this.#listing.element);
    // From the search to what stops it, and back.
    const search: HTMLElement | null = desk.querySelector('.search');
    if (hadFocus) search?.focus();
  }

  arrived(snapshot: Snapshot) {
    this.#search.matched(snapshot);
  }

  listChanged(change: ListChanged) {
    this.#listing.changed(change);
  }

  seekersTold(told: Seekers) {
    this.#listing.seekersTold(told);
  }

  seekFailed() {
    this.#search.fail();
  }

  /** Looks for the same as somebody who looks already. */
  #answer({ game, clock, rated }: Seeker) {
    void this.#search.begin({
      ...{ game, level: this.#choice.level ?? '', isAnswer: true },
      ...(clock ? { clock } : {}),
      ...(rated ? { rated } : {}),
    });
  }

  /** Whether the connection does not come back by itself. */
  #isOver() {
    const { state } = this.#app.connection.link;
    return ['replaced', 'ended', 'broken'].includes(state);
  }

  /** Makes the choice one that this server offers. */
  #settle() {
    const { games, levels } = this.#app;
    const choice = this.#choice;
    const level = (wish: string | undefined, or: string | undefined = firstLevel(levels)) =>
      levels.some((known) => known.level === wish) ? wish : or;
    if (!games.some(({ game }) => game === choice.game)) choice.game = familiar(games)[0]?.game;
    choice.level = level(choice.level);
    choice.one = level(choice.one);
    choice.other = level(choice.other, levels.at(-1)?.level);
    choice.side ??= 'first';
    if (!levels.some((known) => known.level === choice.standIn)) choice.standIn = '';
  }

  #choose(change: Partial<Choice>) {
    Object.assign(this.#choice, change);
    rememberChoice(this.#choice);
  }

  #game() {
    return (this.#app.game(this.#choice.game ?? '') ?? this.#app.games[0]) as Game;
  }

  /** What makes a match with whoever sits opposite; `null` if no clock could be read. */
  #wanted(other: SeatWish, terms: Terms): RequestOf<'create'> | null {
    const { side } = this.#choice;
    const clock = terms.clock();
    if (!clock) return null;
    const isBot = typeof other === 'object';
    // A bot of the server's is played for nothing.
    const asked = isBot
      ? {
          takeback: this.#choice.takeback !== false,
          pace_ms: BOT_PACE_MS,
          ...(this.#choice.thinking ? { thinking: true } : {}),
        }
      : { ...terms.takeback, ...terms.standIn, ...terms.rated, ...terms.watching };
    return {
      type: 'create',
      game: this.#game().game,
      seats: side === 'second' ? [other, 'me'] : ['me', other],
      shuffle: side === 'chance',
      ...clock,
      ...asked,
    };
  }

  #create(other: SeatWish, terms: Terms, wish: { listed?: boolean } = {}) {
    const wanted = this.#wanted(other, terms);
    if (wanted) void this.#app.enter({ ...wanted, ...wish });
  }

  #beginSearch(terms: Terms) {
    const clock = terms.clock();
    if (!clock) return;
    const { level = '' } = this.#choice;
    void this.#search.begin({
      ...{ game: this.#game().game, level, ...clock },
      ...terms.standIn,
      ...terms.rated,
    });
  }

  #desk() {
    const start = h('button', {
      class: 'primary large',
      type: 'button',
      'aria-describedby': 'no-bot',
      onclick: () => this.#create({ bot: this.#choice.level ?? '' }, terms),
    });
    const noBot = h('p', { id: 'no-bot', class: 'note', role: 'status' });
    const found = h('p', { id: 'about-search', class: 'note' });
    const sides = h('div', { class: 'options' });
    const show = () => {
      const bot = botWord(this.#choice.level ?? '', this.#app.levels);
      write(start, say('lobby.bot', { bot }));
      start.disabled = terms.isOfDays;
      const why = terms.isOfDays ? say('lobby.noBot') : '';
      write(noBot, !why && terms.isRated ? say('rated.noBot') : why);
      const comes = terms.isRated
        ? say('rated.find')
        : terms.isOfDays
          ? say('lobby.find.noBot')
          : say('lobby.find.bot', { time: spanWords(SEEK_MS, 'long'), bot });
      write(found, sentences(say('lobby.find.about'), comes));
      fill(sides, ...this.#sides());
      this.#rules.hidden = !hasRules(this.#game().game);
      terms.show();
    };
    const choose = (change: Partial<Choice>) => {
      this.#choose(change);
      show();
    };
    const terms = new Terms(this.#app, this.#choice, choose);
    const { isAlone } = this.#app.connection;
    show();
    return h(
      'section',
      { class: 'desk', 'aria-labelledby': 'desk-title' },
      h('h1', { id: 'desk-title' }, say('lobby.title')),
      this.#games(choose),
      this.#ways(terms, start, noBot, found),
      !isAlone && h('p', { class: 'set-up' }, h('a', { href: '/setup' }, say('setup.link'))),
      this.#levels(choose),
      h('fieldset', {}, h('legend', {}, say('lobby.side')), sides),
      terms.element,
      !isAlone && this.#others(terms),
      this.#exhibition(),
    );
  }

  #games(choose: (change: Partial<Choice>) => void) {
    const options = familiar(this.#app.games).map((game) =>
      radio(
        'game',
        game.game,
        game.game === this.#choice.game,
        () => choose({ game: game.game }),
        sample(game),
        h('span', {}, game.title),
      ),
    );
    return h(
      'div',
      { class: 'choosing-game' },
      group(say('lobby.game'), 'games', options),
      this.#rules,
    );
  }

  #levels(choose: (change: Partial<Choice>) => void) {
    const options = this.#app.levels.map(({ level, title }) =>
      radio('level', level, level === this.#choice.level, () => choose({ level }), title),
    );
    const { thinking } = this.#choice;
    const told = checkbox(say('lobby.thinking'), thinking === true, (thinking) =>
      choose({ thinking }),
    );
    const levels = group(say('lobby.level'), 'options', options);
    if (!this.#app.connection.isAlone) levels.append(told);
    return levels;
  }

  /**
   * The three ways to play.
   * @param noBot why no bot plays
   * @param found what a search leads to
   */
  #ways(terms: Terms, start: HTMLElement, noBot: HTMLElement, found: HTMLElement) {
    const first = h('div', { class: 'way first' }, start, noBot);
    // Without the server there is nobody else.
    if (this.#app.connection.isAlone) return h('div', { class: 'ways' }, first);
    return h(
      'div',
      { class: 'ways' },
      first,
      way(
        say('lobby.invite'),
        note('about-invitation', say('lobby.invite.about')),
        () => this.#create('open', terms, { listed: false }),
        'large',
      ),
      way(say('lobby.find'), found, () => this.#beginSearch(terms), 'large search'),
    );
  }

  /** Other ways to meet people. */
  #others(terms: Terms) {
    return h(
      'div',
      { class: 'with-people' },
      way(say('lobby.open'), note('about-open', say('lobby.open.about')), () =>
        this.#create('open', terms),
      ),
      this.#again(terms),
    );
  }

  /** Whom one has played lately is challenged by name. */
  #again(terms: Terms) {
    const known = opponents();
    if (known.length === 0) return null;
    const button = (person: Person) => {
      const ask = () => {
        const wanted = this.#wanted('open', terms);
        if (wanted) challenge(this.#app, person, wanted);
      };
      const label = say('lobby.challenge', { name: person.name });
      const says = h('bdi', {}, person.name);
      return h('button', { type: 'button', 'aria-label': label, onclick: ask }, says);
    };
    return h(
      'div',
      { class: 'row', role: 'group', 'aria-labelledby': 'again-title' },
      h('p', { id: 'again-title' }, say('lobby.challenge.title')),
      ...known.map(button),
    );
  }

  /** Two bots that one watches: drawn for those who want to. */
  #exhibition() {
    const fields = h('div', { class: 'row fields' });
    const ontoggle = async () => {
      if (fields.childElementCount > 0) return;
      const seldom = await come(this.#app);
      seldom?.drawExhibition(fields, this.#app, this.#choice, (change) => this.#choose(change));
    };
    return h(
      'details',
      { class: 'exhibition', ontoggle },
      h('summary', {}, say('bots.title')),
      fields,
    );
  }

  #sides() {
    const game = this.#game();
    const board = new Board(game, '');
    const [first = '', second = ''] = game.sides.map(sideName);
    const option = (side: Choice['side'], ...says: Node[]) =>
      radio('side', side, side === this.#choice.side, () => this.#choose({ side }), ...says);
    return [
      option('first', pieceIcon(board, 0), h('span', {}, say('lobby.first', { side: first }))),
      option('second', pieceIcon(board, 1), h('span', {}, say('lobby.second', { side: second }))),
      option('chance', h('span', {}, say('lobby.chance'))),
    ];
  }
}

/** A button, and what it leads to. */
function way(says: string, about: HTMLElement, onclick: () => void, look: string = '') {
  const described = { 'aria-describedby': about.id };
  const button = h('button', { type: 'button', class: look, onclick, ...described }, says);
  return h('div', { class: 'way' }, button, about);
}

const note = (id: string, says: string) => h('p', { id, class: 'note' }, says);
