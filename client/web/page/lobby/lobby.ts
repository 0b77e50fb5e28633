// The lobby: the form to start a match, and the lists of matches.

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
  #lists;
  #rules;
  #prefs: Partial<LobbyPrefs> = loadLobbyPrefs();
  #seekPanel;
  #form: HTMLElement | null = null;
  /** Inputs of the rendered form. It is rendered again only if they change. */
  #renderedFrom = '';

  constructor(app: App) {
    this.#app = app;
    this.#lists = new MatchLists(app, (seeker) => this.#startSeekLike(seeker));
    this.#rules = rulesButton(app, () => this.#game());
    this.#seekPanel = new SeekPanel(app);
  }

  title() {
    return '';
  }

  onWelcome() {
    this.#lists.onWelcome();
    this.#seekPanel.onWelcome();
  }

  unmount() {
    this.#lists.stop();
    if (this.#seekPanel.isSeeking) void this.#seekPanel.stop();
  }

  update() {
    const { games, levels } = this.#app;
    const { isOffline, welcome } = this.#app.connection;
    const clocks = welcome?.clocks;
    // After another tab has taken over, this tab sends no requests until the player reconnects.
    const isDisconnected = this.#isDisconnected();
    this.element.inert = isDisconnected;
    if (isDisconnected) this.#seekPanel.clear();
    this.#seekPanel.update();
    if (games.length === 0)
      replaceChildren(this.element, h('p', { class: 'none' }, translate('link.connecting')));
    const { account } = this.#app.player ?? {};
    const renderedFrom = JSON.stringify([
      games,
      levels,
      clocks,
      account,
      isOffline,
      this.#seekPanel.isSeeking,
    ]);
    if (renderedFrom !== this.#renderedFrom && games.length > 0) {
      this.#renderedFrom = renderedFrom;
      this.#fixPrefs();
      this.#showForm(this.#seekPanel.isSeeking ? this.#seekPanel.element : this.#renderForm());
    }
    this.#lists.update();
  }

  /** Replaces the form by the seek panel, or the reverse. */
  #showForm(form: HTMLElement) {
    const before = this.#form;
    const hadFocus = before?.contains(document.activeElement);
    this.#form = form;
    if (before) before.replaceWith(form);
    else replaceChildren(this.element, form, this.#lists.myGames.element, this.#lists.element);
    // The focus moves from the search button to the stop button, or back.
    const search: HTMLElement | null = form.querySelector('.search');
    if (hadFocus) search?.focus();
  }

  onChange({ action }: Change) {
    if (action.type === 'match') this.#seekPanel.onSnapshot(action);
    if (action.type === 'error' && !action.match) this.#seekPanel.clear();
    this.#lists.onChange(action);
  }

  /** Starts a seek with the options of another player's seek. */
  #startSeekLike({ game, clock, rated }: Seeker) {
    void this.#seekPanel.start({
      ...{ game, level: this.#prefs.level ?? '', isAnswer: true },
      ...(clock ? { clock } : {}),
      ...(rated ? { rated } : {}),
    });
  }

  /** Whether only the player can reconnect. */
  #isDisconnected() {
    const { state } = this.#app.connection.status;
    return ['replaced', 'ended', 'broken'].includes(state);
  }

  /** Replaces stored preferences that this server does not offer. */
  #fixPrefs() {
    const { games, levels } = this.#app;
    const prefs = this.#prefs;
    const level = (stored: string | undefined, fallback = defaultLevel(levels)) =>
      levels.some(({ level }) => level === stored) ? stored : fallback;
    if (!games.some(({ game }) => game === prefs.game))
      prefs.game = sortByFamiliarity(games)[0]?.game;
    prefs.level = level(prefs.level);
    prefs.one = level(prefs.one);
    prefs.other = level(prefs.other, levels.at(-1)?.level);
    prefs.side ??= 'first';
    if (!levels.some(({ level }) => level === prefs.standIn)) prefs.standIn = '';
  }

  #choose(change: Partial<LobbyPrefs>) {
    Object.assign(this.#prefs, change);
    saveLobbyPrefs(this.#prefs);
  }

  #game() {
    return (this.#app.game(this.#prefs.game ?? '') ?? this.#app.games[0]) as Game;
  }

  /** The request that creates the match; `null` if the custom clock is invalid. */
  #createRequest(other: SeatRequest, terms: MatchOptions): RequestOf<'create'> | null {
    const { side } = this.#prefs;
    const clock = terms.clock();
    if (!clock) return null;
    const isBot = typeof other === 'object';
    // Matches against the server's bots are unrated.
    const otherTerms = isBot
      ? {
          takeback: this.#prefs.takeback !== false,
          pace_ms: BOT_PACE_MS,
          ...(this.#prefs.thinking ? { thinking: true } : {}),
        }
      : { ...terms.takeback, ...terms.standIn, ...terms.rated, ...terms.spectatorOptions };
    return {
      type: 'create',
      game: this.#game().game,
      seats: side === 'second' ? [other, 'me'] : ['me', other],
      shuffle: side === 'chance',
      ...clock,
      ...otherTerms,
    };
  }

  #create(other: SeatRequest, terms: MatchOptions, options: { listed?: boolean } = {}) {
    const request = this.#createRequest(other, terms);
    if (request) void this.#app.enterMatch({ ...request, ...options });
  }

  #beginSearch(terms: MatchOptions) {
    const clock = terms.clock();
    if (!clock) return;
    const { level = '' } = this.#prefs;
    void this.#seekPanel.start({
      ...{ game: this.#game().game, level, ...clock },
      ...terms.standIn,
      ...terms.rated,
    });
  }

  #renderForm() {
    const start = h('button', {
      class: 'primary large',
      type: 'button',
      'aria-describedby': 'no-bot',
      onclick: () => this.#create({ bot: this.#prefs.level ?? '' }, terms),
    });
    const noBot = h('p', { id: 'no-bot', class: 'note', role: 'status' });
    const found = h('p', { id: 'about-search', class: 'note' });
    const sides = h('div', { class: 'options' });
    const show = () => {
      const bot = botName(this.#prefs.level ?? '', this.#app.levels);
      setText(start, translate('lobby.bot', { bot }));
      start.disabled = terms.isCorrespondence;
      const why = terms.isCorrespondence ? translate('lobby.noBot') : '';
      setText(noBot, !why && terms.isRated ? translate('rated.noBot') : why);
      const opponentText = terms.isRated
        ? translate('rated.find')
        : terms.isCorrespondence
          ? translate('lobby.find.noBot')
          : translate('lobby.find.bot', { time: formatDuration(BOT_AFTER_MS, 'long'), bot });
      setText(found, joinSentences(translate('lobby.find.about'), opponentText));
      replaceChildren(sides, ...this.#sides());
      this.#rules.hidden = !hasRules(this.#game().game);
      terms.show();
    };
    const choose = (change: Partial<LobbyPrefs>) => {
      this.#choose(change);
      show();
    };
    const terms = new MatchOptions(this.#app, this.#prefs, choose);
    const { isOffline } = this.#app.connection;
    show();
    return h(
      'section',
      { class: 'desk', 'aria-labelledby': 'desk-title' },
      h('h1', { id: 'desk-title' }, translate('lobby.title')),
      this.#games(choose),
      this.#startButtons(terms, start, noBot, found),
      !isOffline &&
        h('p', { class: 'set-up' }, h('a', { href: '/setup' }, translate('setup.link'))),
      this.#levels(choose),
      h('fieldset', {}, h('legend', {}, translate('lobby.side')), sides),
      terms.element,
      !isOffline && this.#peopleButtons(terms),
      this.#botVsBotOptions(),
    );
  }

  #games(choose: (change: Partial<LobbyPrefs>) => void) {
    const options = sortByFamiliarity(this.#app.games).map((game) =>
      radio(
        'game',
        game.game,
        game.game === this.#prefs.game,
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
      radio('level', level, level === this.#prefs.level, () => choose({ level }), title),
    );
    const { thinking } = this.#prefs;
    const thinkingOption = checkbox(translate('lobby.thinking'), thinking === true, (thinking) =>
      choose({ thinking }),
    );
    const levels = fieldset(translate('lobby.level'), 'options', options);
    if (!this.#app.connection.isOffline) levels.append(thinkingOption);
    return levels;
  }

  /**
   * The three buttons that start a match.
   * @param noBot the reason if no bot can play
   * @param found describes the search
   */
  #startButtons(terms: MatchOptions, start: HTMLElement, noBot: HTMLElement, found: HTMLElement) {
    const first = h('div', { class: 'way first' }, start, noBot);
    // An offline player has no opponents but bots.
    if (this.#app.connection.isOffline) return h('div', { class: 'ways' }, first);
    return h(
      'div',
      { class: 'ways' },
      first,
      describedButton(
        translate('lobby.invite'),
        note('about-invitation', translate('lobby.invite.about')),
        () => this.#create('open', terms, { listed: false }),
        'large',
      ),
      describedButton(
        translate('lobby.find'),
        found,
        () => this.#beginSearch(terms),
        'large search',
      ),
    );
  }

  #peopleButtons(terms: MatchOptions) {
    return h(
      'div',
      { class: 'with-people' },
      describedButton(
        translate('lobby.open'),
        note('about-open', translate('lobby.open.about')),
        () => this.#create('open', terms),
      ),
      this.#challengeButtons(terms),
    );
  }

  /** Buttons that challenge recent opponents. */
  #challengeButtons(terms: MatchOptions) {
    const opponents = recentOpponents();
    if (opponents.length === 0) return null;
    const button = (person: NamedPlayer) => {
      const challenge = () => {
        const request = this.#createRequest('open', terms);
        if (request) sendChallenge(this.#app, person, request);
      };
      const label = translate('lobby.challenge', { name: person.name });
      const says = h('bdi', {}, person.name);
      return h('button', { type: 'button', 'aria-label': label, onclick: challenge }, says);
    };
    return h(
      'div',
      { class: 'row', role: 'group', 'aria-labelledby': 'again-title' },
      h('p', { id: 'again-title' }, translate('lobby.challenge.title')),
      ...opponents.map(button),
    );
  }

  /** The options of a match between two bots, rendered when the player opens them. */
  #botVsBotOptions() {
    const fields = h('div', { class: 'row fields' });
    const ontoggle = async () => {
      if (fields.childElementCount > 0) return;
      const lazy = await tryLoadLazyBundle(this.#app);
      lazy?.renderBotVsBotOptions(fields, this.#app, this.#prefs, (change) => this.#choose(change));
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
      radio('side', side, side === this.#prefs.side, () => this.#choose({ side }), ...says);
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

/** A button with a description. */
function describedButton(says: string, about: HTMLElement, onclick: () => void, className = '') {
  const described = { 'aria-describedby': about.id };
  const button = h('button', { type: 'button', class: className, onclick, ...described }, says);
  return h('div', { class: 'way' }, button, about);
}

const note = (id: string, says: string) => h('p', { id, class: 'note' }, says);
