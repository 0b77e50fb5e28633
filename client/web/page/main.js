// The page: one connection, the matches that it follows, and one view at a time.

import { Added } from './added.js';
import { showBadge } from './badge.js';
import { showBanner } from './banner.js';
import { Challenges } from './challenges.js';
import { rememberOpponent } from './challenging.js';
import { Connection, Refusal } from './connection.js';
import { Days } from './days.js';
import { afterPicture, fill, h, one } from './dom.js';
import { say } from './language.js';
import { aloneAt, keptAlone } from './keeping-alone.js';
import { keepPage } from './keeping-page.js';
import { keepPast, keptPast, pastIsOf } from './keeping-past.js';
import { looksButton } from './looks.js';
import {
  asHeld,
  fold,
  fromSnapshot,
  isLiveOf,
  remembering,
  withClocks,
  withPresence,
  withRematch,
} from './match.js';
import { NameLink } from './name.js';
import { newsOf } from './news.js';
import { loadLobby, loadRoom } from './parts.js';
import { viewAt } from './places.js';
import { refusalWords } from './refusals.js';
import { withSaid } from './said.js';
import { play as sound } from './sounds.js';
import { speechOf } from './speech.js';
import { languageSwitch, soundSwitch, themeSwitch } from './switches.js';
import { titleOf, waitsForUs } from './title.js';
import { Toast } from './toast.js';
import { notUnderstood, refusalText } from './words.js';

/** @import { Events, Game, Level, ListChanged, MatchEvent, Message, Request, SaidTold, Seekers, Snapshot, Thinking, Welcome } from '../protocol.js' */
/** @import { Match } from './match.js' */

/**
 * What the main part of the page shows.
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {() => void} update something has changed
 * @property {() => void} welcomed the server knows us, perhaps anew
 * @property {() => void} leave the view is left for another
 * @property {() => string} title
 * @property {(message: Message) => void} [hear] what else the server tells
 * @property {(change: ListChanged) => void} [listChanged] other matches are to be had
 * @property {(told: Seekers) => void} [seekersTold] others look for an opponent
 * @property {() => void} [seekFailed] nobody is looked for any more
 * @property {string} [match] the match that it is of, and what it hears of matches:
 * @property {(match: Snapshot) => void} [arrived] what is done when a match is told of whole
 * @property {(match: Pick<Match, 'match'>) => boolean} [shows] whether one sees how this one stands
 * @property {(match: string) => void} [shownOut] one may not watch it any more
 * @property {(message: SaidTold) => void} [heard] somebody says something
 * @property {(before: Match, after: Match) => void} [changed]
 * @property {(after: Match, event: MatchEvent) => void} [happened]
 */

export class App {
  /** @type {Map<string, Match>} */
  matches = new Map();
  connection;
  days = new Days(this);
  /** What a bot has told last of what it thinks. @type {Thinking | null} */
  thought = null;

  /** @type {View} */
  #view;
  /** A match that was asked for is under way. */
  #isEntering = false;
  /** Who we were with the last connection. */
  #lastPlayer = '';
  #path = location.pathname;
  #main = one('main');
  #name = new NameLink(this);
  #toast = new Toast(one('toast'));
  #heard = one('heard');
  /** Tells of new devices, and logs them out. */
  added = new Added(this, one('added'));
  #challenges = new Challenges(this, one('challenges'));

  constructor() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.connection = new Connection(`${scheme}://${location.host}/ws`, {
      link: () => this.#linkChanged(),
      welcome: (welcome) => this.#welcomed(welcome),
      message: (message) => this.#hear(message),
    });
    fill(
      one('header-tools'),
      this.#name.element,
      languageSwitch(),
      looksButton(this),
      soundSwitch(),
      themeSwitch(),
    );
    this.#view = viewAt(this, location.pathname, {});
    this.#show(this.#view);
    window.addEventListener('popstate', () => {
      // A jump within the page is no other page.
      const isOther = location.pathname !== this.#path;
      if (isOther || (this.#path === '/pair' && location.hash)) this.#turnTo(location.pathname, {});
    });
    document.addEventListener('click', (event) => this.#follow(event));
    this.connection.playAlone(isPlayedAlone(this.#path));
  }

  /** @returns {Game[]} */
  get games() {
    return this.connection.welcome?.games ?? [];
  }

  /** @returns {Level[]} */
  get levels() {
    return this.connection.welcome?.levels ?? [];
  }

  /** @param {string} name */
  game(name) {
    return this.games.find(({ game }) => game === name);
  }

  /** Who we are. */
  get player() {
    return this.connection.welcome?.player;
  }

  /** Our matches that are not over. @returns {Match[]} */
  mine() {
    return [...this.matches.values()].filter((match) => isLiveOf(match, this.player?.id));
  }

  /**
   * Asks, and tells the person when it is refused; the answer is then `null`.
   * @param {Request} request
   * @returns {Promise<any>}
   */
  async ask(request) {
    try {
      return await this.connection.ask(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.tell(error);
      return null;
    }
  }

  /** Tells what is refused, and why. @param {Refusal} refusal */
  tell(refusal) {
    const { text, way } = refusalWords(this, refusal, this.#path === '/');
    this.toast(text, way);
  }

  /**
   * Asks for a match and goes there.
   * @param {Request} request
   * @param {(snapshot: Snapshot) => void} [made] hears of the match before one sees it
   * @returns {Promise<Snapshot | null>} `null` if it was refused
   */
  async enter(request, made) {
    // A second click while the first is under way would make a second match.
    if (this.#isEntering) return null;
    this.#isEntering = true;
    const path = this.#path;
    const snapshot = await this.ask(request).finally(() => (this.#isEntering = false));
    if (snapshot) made?.(snapshot);
    // Whoever has gone elsewhere meanwhile stays there, and finds the match in the lobby.
    if (snapshot && this.#path === path) this.goTo(snapshot);
    return snapshot;
  }

  /** Whether this match is what one sees. @param {{ code: string }} match */
  isAt({ code }) {
    return this.#path === `/m/${code}`;
  }

  /**
   * @param {{ code: string }} match
   * @param {{ watch?: boolean }} [wish]
   */
  goTo({ code }, wish = {}) {
    this.go(`/m/${code}`, wish);
  }

  /**
   * @param {string} path it may lead to a place within a view, behind `#`
   * @param {{ watch?: boolean }} [wish]
   */
  go(path, wish = {}) {
    history.pushState(null, '', path);
    this.#turnTo(location.pathname, wish);
  }

  /** @param {string} text @param {{ href: string, says: string }} [way] where it leads */
  toast(text, way) {
    // What is said while one looks at a match is of that match.
    this.#toast.show(text, way, way ? undefined : this.#view.match);
  }

  /** A match has gone on: what was said of it before is old. @param {string} match */
  outlived(match) {
    this.#toast.outlived(match);
  }

  /** Tells those who do not see it. @param {string} text */
  announce(text) {
    this.#heard.append(h('p', {}, text));
    while (this.#heard.childElementCount > 10) this.#heard.firstElementChild?.remove();
  }

  /** Draws everything anew, after what is drawn by now. */
  updateSoon() {
    afterPicture(() => this.update());
  }

  /** Draws everything anew that depends on what we know. */
  update() {
    this.#name.update();
    this.days.update();
    this.#view.update();
    this.#challenges.update();
    if (this.connection.link.state === 'replaced') {
      document.title = `${say('link.replaced.title')} – Plyhouse`;
      return;
    }
    const title = this.#challenges.title(this.days.title(this.#title()));
    if (document.title !== title) document.title = title;
    showBadge(title.startsWith('●'));
  }

  #title() {
    const title = this.#view.title();
    const canPlay = this.connection.link.state === 'open';
    const wanted = canPlay ? [...this.matches.values()].filter(waitsForUs) : [];
    return titleOf(title, wanted, (match) => this.#isSeen(match));
  }

  /** @param {Pick<Match, 'match'>} match */
  #isSeen(match) {
    return this.#view.shows?.(match) ?? false;
  }

  /** Tells what has become of a match, if it is ours and out of sight. @param {Match} before @param {Match} after */
  #tellNews(before, after) {
    if (this.#isSeen(after)) return;
    const title = this.game(after.game)?.title ?? after.game;
    const news = newsOf(before, after, title, speechOf(this, after));
    if (!news) return;
    this.#toast.show(news.text, { href: `/m/${after.code}`, says: say('news.go') }, after.match);
    sound(news.sound);
  }

  /** @param {string} path @param {{ watch?: boolean }} wish */
  #turnTo(path, wish) {
    this.#path = path;
    this.#toast.arrived(path);
    const hadFocus = this.#main.contains(document.activeElement);
    const { match: left } = this.#view;
    if (left !== undefined) this.#toast.outlived(left);
    this.#view.leave();
    this.#show(viewAt(this, path, wish));
    if (!this.connection.isAlone && isPlayedAlone(path)) this.connection.playAlone(true);
    // What had the focus is gone; a view that knows better takes it on.
    if (hadFocus) this.#main.focus();
    this.#begin();
    window.scrollTo(0, 0);
  }

  /** A view is loaded: it is seen in place of what stood for it. @param {View} view */
  come(view) {
    this.#show(view);
    this.#begin();
  }

  /** Has the view begin that is shown now. */
  #begin() {
    if (this.connection.link.state === 'open') this.#view.welcomed();
    this.update();
  }

  /** @param {View} view */
  #show(view) {
    this.#view = view;
    // A class, not `:has()`: that has the whole page styled anew whenever anything in a match comes or goes.
    const isMatch = view.element.classList.contains('room');
    document.documentElement.classList.toggle('at-match', isMatch);
    fill(this.#main, view.element);
  }

  /** Our own links lead on without a new page. @param {MouseEvent} event */
  #follow(event) {
    const link =
      event.target instanceof Element ? event.target.closest('a[href^="/"]:not([download])') : null;
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go(link.getAttribute('href') ?? '/');
    this.#main.focus();
  }

  #linkChanged() {
    const banner = one('banner');
    showBanner(banner, this);
    document.documentElement.classList.toggle('has-banner', banner.childElementCount > 0);
    document.documentElement.dataset.link = this.connection.link.state;
    this.update();
  }

  /** @param {Welcome} welcome */
  #welcomed(welcome) {
    // What is live and ours is told next; what we watched we ask for again; the rest is old.
    // Matches by days are told of, and not followed.
    const followed = welcome.following.filter(({ days }) => !days);
    const known = new Set(followed.map(({ match }) => match));
    for (const [id, match] of this.matches) {
      const stays = known.has(id) || this.#view.match === id;
      if (!stays || !welcome.resumed) this.matches.delete(match.match);
    }
    if (welcome.player.id !== this.#lastPlayer) this.added.forget();
    if (!this.connection.isAlone) {
      pastIsOf(welcome.player);
      keepPage();
    }
    this.#lastPlayer = welcome.player.id;
    this.days.welcomed(welcome);
    this.#challenges.welcomed(welcome);
    // The server knows nothing of what was played without it: that is in the lobby.
    if (!this.connection.isAlone && aloneAt(this.#path)) this.go('/');
    else this.#view.welcomed();
    this.update();
    // Whoever has chosen a game need not wait for its board.
    loadRoom().catch(() => {});
  }

  /** @param {Message} message */
  #hear(message) {
    if ('ignored' in message && message.ignored) this.toast(notUnderstood(message.ignored));
    this.days.hear(message);
    this.#challenges.hear(message);
    this.added.hear(message);
    // A bot may have thought, and moved, before its match is shown.
    if (message.type === 'thinking') this.thought = message;
    this.#view.hear?.(message);
    switch (message.type) {
      case 'match':
        this.#learnWhole(message);
        this.#view.arrived?.(message);
        // From a match one goes to the lobby.
        loadLobby().catch(() => {});
        break;
      case 'presence':
        this.#change(message.match, (match) => withPresence(match, message, performance.now()));
        break;
      case 'events':
        this.#learn(message);
        break;
      case 'seated':
      case 'started':
      case 'moved':
      case 'offered':
      case 'declined':
      case 'taken_back':
      case 'time_given':
      case 'hinted':
      case 'ended':
        this.#happened(message);
        break;
      case 'list_changed':
        this.#view.listChanged?.(message);
        return;
      case 'seekers':
        this.#view.seekersTold?.(message);
        return;
      case 'player':
        break;
      case 'clock':
        this.#change(message.match, (match) => withClocks(match, message, performance.now()));
        break;
      case 'rematch':
        this.#toast.outlived(message.match);
        this.#change(message.match, (match) => withRematch(match, message));
        break;
      case 'watch_over':
        this.matches.delete(message.match);
        this.#view.shownOut?.(message.match);
        break;
      case 'rating': {
        const { match: id, changes, why } = message;
        this.#change(id, (match) => ({ ...match, changes, unrated: why }));
        break;
      }
      case 'said':
        this.#change(message.match, (match) => withSaid(match, message));
        this.#view.heard?.(message);
        break;
      case 'error':
        this.toast(refusalText(message));
        if (!message.match) this.#view.seekFailed?.();
        break;
      default:
        return;
    }
    this.update();
  }

  /** @param {MatchEvent} event */
  #happened(event) {
    const before = this.matches.get(event.match);
    if (!before) return;
    const folded = fold(before, event, performance.now());
    if (!folded) {
      // A snapshot, too, tells how the clocks stand, which past events do not.
      void this.ask({ type: 'watch', match: event.match });
      return;
    }
    const after = asHeld(folded, this.player?.id);
    this.matches.set(event.match, after);
    if (after === before) return;
    this.#toast.outlived(event.match);
    if (event.type === 'started') rememberOpponent(after);
    if (event.type === 'ended') keepPast(after);
    this.days.happened(before, after);
    this.#view.happened?.(after, event);
    this.#tellNews(before, after);
  }

  /** @param {Snapshot} snapshot */
  #learnWhole(snapshot) {
    const before = this.matches.get(snapshot.match);
    const told = fromSnapshot(snapshot, performance.now(), before);
    const after = asHeld(told, this.player?.id);
    this.matches.set(after.match, after);
    rememberOpponent(after);
    if (!before) return;
    this.#view.changed?.(before, after);
    this.#tellNews(before, after);
  }

  /** @param {Events} message */
  #learn({ match: id, events }) {
    const match = this.matches.get(id);
    if (!match) return;
    this.matches.set(id, remembering(match, events));
    for (const event of events) this.#happened(event);
  }

  /** @param {string} id @param {(match: Match) => Match} changed */
  #change(id, changed) {
    const before = this.matches.get(id);
    if (!before) return;
    const after = changed(before);
    this.matches.set(id, after);
    this.#view.changed?.(before, after);
    this.#tellNews(before, after);
  }
}

/** Whether this is the address of a game that was played without the server. @param {string} path */
function isPlayedAlone(path) {
  const id = aloneAt(path);
  if (id === null) return false;
  return [...keptAlone(), ...keptPast().map(({ snapshot }) => ({ id: snapshot.match }))].some(
    (known) => known.id === id,
  );
}

new App();
