// Where one chooses what to play, and sees what others play.

import { sendChallenge, recentOpponents } from '../social/send-challenge.ts';
import { BOT_PACE_MS, defaultLevel, loadLobbyPrefs, saveLobbyPrefs } from './lobby-prefs.ts';
import { checkbox, fieldset, radio } from '../ui/form-controls.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { sortByFamiliarity } from '../model/game-order.ts';
import { translate, joinSentences } from '../text/language.ts';
import { MatchLists } from './match-lists.ts';
import { botName, sideName } from '../text/labels.ts';
import { sampleBoardSvg } from '../board/board-svg.ts';
import { drawSeatIcon } from '../board/piece.ts';
import { Board } from '../model/position.ts';
import { hasRules, rulesButton } from '../actions/rules-button.ts';
import { BOT_AFTER_MS, SeekPanel } from './seek.ts';
import { MatchOptions } from './match-options.ts';
import { formatDuration } from '../text/time.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { Game, NamedPlayer, RequestOf, SeatRequest, Seeker } from '../net/protocol.ts';
import type { LobbyPrefs } from './lobby-prefs.ts';
import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';

export class Lobby {
  element = h('div', { class: 'lobby' });
  #app;
  #listing;
  #rules;
  #choice: Partial<LobbyPrefs> = loadLobbyPrefs();
  #search;
  #shownDesk: HTMLElement | null = null;
  /** What the options were made from; they are made anew only if that changes. */
  #madeFrom = '';

  constructor(app: App) {
    this.#app = app;
    this.#listing = new MatchLists(app, (seeker) => this.#answer(seeker));
    this.#rules = rulesButton(app, () => this.#game());
    this.#search = new SeekPanel(app);
  }

  title() {
    return '';
  }

  onWelcome() {
    this.#listing.onWelcome();
    this.#search.onWelcome();
  }

  unmount() {
    this.#listing.stop();
    if (this.#search.isSeeking) void this.#search.stop();
  }

  update() {
    const { games, levels } = this.#app;
    const { isOffline: isAlone, welcome } = this.#app.connection;
    const clocks = welcome?.clocks;
    // In another tab one plays on; here nothing can be asked until one takes it back.
    const isOver = this.#isOver();
    this.element.inert = isOver;
    if (isOver) this.#search.clear();
    this.#search.update();
    if (games.length === 0)
      replaceChildren(this.element, h('p', { class: 'none' }, translate('link.connecting')));
    const { account } = this.#app.player ?? {};
    const madeFrom = JSON.stringify([
      games,
      levels,
      clocks,
      account,
      isAlone,
      this.#search.isSeeking,
    ]);
    if (madeFrom !== this.#madeFrom && games.length > 0) {
      this.#madeFrom = madeFrom;
      this.#settle();
      this.#showDesk(this.#search.isSeeking ? this.#search.element : this.#desk());
    }
    this.#listing.update();
  }

  /** Puts this in place of what was chosen from; the list beside it stays where it is. */
  #showDesk(desk: HTMLElement) {
    const before = this.#shownDesk;
    const hadFocus = before?.contains(document.activeElement);
    this.#shownDesk = desk;
    if (before) before.replaceWith(desk);
    else replaceChildren(this.element, desk, this.#listing.myGames.element, this.#listing.element);
    // From the search to what stops it, and back.
    const search: HTMLElement | null = desk.querySelector('.search');
    if (hadFocus) search?.focus();
  }

  onChange({ action }: Change) {
    if (action.type === 'match') this.#search.onSnapshot(action);
    if (action.type === 'error' && !action.match) this.#search.clear();
    this.#listing.onChange(action);
  }

  /** Looks for the same as somebody who looks already. */
  #answer({ game, clock, rated }: Seeker) {
    void this.#search.start({
      ...{ game, level: this.#choice.level ?? '', isAnswer: true },
      ...(clock ? { clock } : {}),
      ...(rated ? { rated } : {}),
    });
  }

  /** Whether the connection does not come back by itself. */
  #isOver() {
    const { state } = this.#app.connection.status;
    return ['replaced', 'ended', 'broken'].includes(state);
  }

  /** Makes the choice one that this server offers. */
  #settle() {
    const { games, levels } = this.#app;
    const choice = this.#choice;
    const level = (wish: string | undefined, or: string | undefined = defaultLevel(levels)) =>
      levels.some((known) => known.level === wish) ? wish : or;
    if (!games.some(({ game }) => game === choice.game))
      choice.game = sortByFamiliarity(games)[0]?.game;
    choice.level = level(choice.level);
    choice.one = level(choice.one);
    choice.other = level(choice.other, levels.at(-1)?.level);
    choice.side ??= 'first';
    if (!levels.some((known) => known.level === choice.standIn)) choice.standIn = '';
  }

  #choose(change: Partial<LobbyPrefs>) {
    Object.assign(this.#choice, change);
    saveLobbyPrefs(this.#choice);
  }

  #game() {
    return (this.#app.game(this.#choice.game ?? '') ?? this.#app.games[0]) as Game;
  }

  /** What makes a match with whoever sits opposite; `null` if no clock could be read. */
  #wanted(other: SeatRequest, terms: MatchOptions): RequestOf<'create'> | null {
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
      : { ...terms.takeback, ...terms.standIn, ...terms.rated, ...terms.spectatorOptions };
    return {
      type: 'create',
      game: this.#game().game,
      seats: side === 'second' ? [other, 'me'] : ['me', other],
      shuffle: side === 'chance',
      ...clock,
      ...asked,
    };
  }

  #create(other: SeatRequest, terms: MatchOptions, wish: { listed?: boolean } = {}) {
    const wanted = this.#wanted(other, terms);
    if (wanted) void this.#app.enterMatch({ ...wanted, ...wish });
  }

  #beginSearch(terms: MatchOptions) {
    const clock = terms.clock();
    if (!clock) return;
    const { level = '' } = this.#choice;
    void this.#search.start({
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
      const bot = botName(this.#choice.level ?? '', this.#app.levels);
      setText(start, translate('lobby.bot', { bot }));
      start.disabled = terms.isCorrespondence;
      const why = terms.isCorrespondence ? translate('lobby.noBot') : '';
      setText(noBot, !why && terms.isRated ? translate('rated.noBot') : why);
      const comes = terms.isRated
        ? translate('rated.find')
        : terms.isCorrespondence
          ? translate('lobby.find.noBot')
          : translate('lobby.find.bot', { time: formatDuration(BOT_AFTER_MS, 'long'), bot });
      setText(found, joinSentences(translate('lobby.find.about'), comes));
      replaceChildren(sides, ...this.#sides());
      this.#rules.hidden = !hasRules(this.#game().game);
      terms.show();
    };
    const choose = (change: Partial<LobbyPrefs>) => {
      this.#choose(change);
      show();
    };
    const terms = new MatchOptions(this.#app, this.#choice, choose);
    const { isOffline: isAlone } = this.#app.connection;
    show();
    return h(
      'section',
      { class: 'desk', 'aria-labelledby': 'desk-title' },
      h('h1', { id: 'desk-title' }, translate('lobby.title')),
      this.#games(choose),
      this.#ways(terms, start, noBot, found),
      !isAlone && h('p', { class: 'set-up' }, h('a', { href: '/setup' }, translate('setup.link'))),
      this.#levels(choose),
      h('fieldset', {}, h('legend', {}, translate('lobby.side')), sides),
      terms.element,
      !isAlone && this.#others(terms),
      this.#exhibition(),
    );
  }

  #games(choose: (change: Partial<LobbyPrefs>) => void) {
    const options = sortByFamiliarity(this.#app.games).map((game) =>
      radio(
        'game',
        game.game,
        game.game === this.#choice.game,
        () => choose({ game: game.game }),
        sampleBoardSvg(game),
        h('span', {}, game.title),
      ),
    );
    return h(
      'div',
      { class: 'choosing-game' },
      fieldset(translate('lobby.game'), 'games', options),
      this.#rules,
    );
  }

  #levels(choose: (change: Partial<LobbyPrefs>) => void) {
    const options = this.#app.levels.map(({ level, title }) =>
      radio('level', level, level === this.#choice.level, () => choose({ level }), title),
    );
    const { thinking } = this.#choice;
    const told = checkbox(translate('lobby.thinking'), thinking === true, (thinking) =>
      choose({ thinking }),
    );
    const levels = fieldset(translate('lobby.level'), 'options', options);
    if (!this.#app.connection.isOffline) levels.append(told);
    return levels;
  }

  /**
   * The three ways to play.
   * @param noBot why no bot plays
   * @param found what a search leads to
   */
  #ways(terms: MatchOptions, start: HTMLElement, noBot: HTMLElement, found: HTMLElement) {
    const first = h('div', { class: 'way first' }, start, noBot);
    // Without the server there is nobody else.
    if (this.#app.connection.isOffline) return h('div', { class: 'ways' }, first);
    return h(
      'div',
      { class: 'ways' },
      first,
      way(
        translate('lobby.invite'),
        note('about-invitation', translate('lobby.invite.about')),
        () => this.#create('open', terms, { listed: false }),
        'large',
      ),
      way(translate('lobby.find'), found, () => this.#beginSearch(terms), 'large search'),
    );
  }

  /** Other ways to meet people. */
  #others(terms: MatchOptions) {
    return h(
      'div',
      { class: 'with-people' },
      way(translate('lobby.open'), note('about-open', translate('lobby.open.about')), () =>
        this.#create('open', terms),
      ),
      this.#again(terms),
    );
  }

  /** Whom one has played lately is challenged by name. */
  #again(terms: MatchOptions) {
    const known = recentOpponents();
    if (known.length === 0) return null;
    const button = (person: NamedPlayer) => {
      const ask = () => {
        const wanted = this.#wanted('open', terms);
        if (wanted) sendChallenge(this.#app, person, wanted);
      };
      const label = translate('lobby.challenge', { name: person.name });
      const says = h('bdi', {}, person.name);
      return h('button', { type: 'button', 'aria-label': label, onclick: ask }, says);
    };
    return h(
      'div',
      { class: 'row', role: 'group', 'aria-labelledby': 'again-title' },
      h('p', { id: 'again-title' }, translate('lobby.challenge.title')),
      ...known.map(button),
    );
  }

  /** Two bots that one watches: drawn for those who want to. */
  #exhibition() {
    const fields = h('div', { class: 'row fields' });
    const ontoggle = async () => {
      if (fields.childElementCount > 0) return;
      const seldom = await tryLoadLazyBundle(this.#app);
      seldom?.renderBotVsBotOptions(fields, this.#app, this.#choice, (change) =>
        this.#choose(change),
      );
    };
    return h(
      'details',
      { class: 'exhibition', ontoggle },
      h('summary', {}, translate('bots.title')),
      fields,
    );
  }

  #sides() {
    const game = this.#game();
    const board = new Board(game, '');
    const [first = '', second = ''] = game.sides.map(sideName);
    const option = (side: LobbyPrefs['side'], ...says: Node[]) =>
      radio('side', side, side === this.#choice.side, () => this.#choose({ side }), ...says);
    return [
      option(
        'first',
        drawSeatIcon(board, 0),
        h('span', {}, translate('lobby.first', { side: first })),
      ),
      option(
        'second',
        drawSeatIcon(board, 1),
        h('span', {}, translate('lobby.second', { side: second })),
      ),
      option('chance', h('span', {}, translate('lobby.chance'))),
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
