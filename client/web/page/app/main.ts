// The page: one connection, the matches that it follows, and one view at a time.

import { Added } from '../social/new-device.ts';
import { showBadge } from './badge.ts';
import { showBanner } from '../ui/banner.ts';
import { Challenges } from '../social/challenges.ts';
import { rememberOpponent } from '../social/challenge.ts';
import { Connection, Refusal } from '../net/connection.ts';
import { Days } from '../lobby/correspondence.ts';
import { afterPicture, fill, h, one } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { aloneAt, keptAlone } from '../offline/offline-games.ts';
import { keepPage } from '../offline/register-sw.ts';
import { keepPast, keptPast, pastIsOf } from '../offline/offline-history.ts';
import { looksButton } from '../ui/appearance-button.ts';
import {
  asHeld,
  fold,
  fromSnapshot,
  isLiveOf,
  remembering,
  withClocks,
  withPresence,
  withRematch,
} from '../model/match.ts';
import { NameLink } from './account-link.ts';
import { newsOf } from '../social/notifications.ts';
import { loadLobby, loadRoom } from './chunks.ts';
import { viewAt } from './router.ts';
import { refusalWords } from '../net/errors.ts';
import { withSaid } from '../social/chat-state.ts';
import { play as sound } from '../ui/sounds.ts';
import { speechOf } from '../text/phrase-context.ts';
import { languageSwitch, soundSwitch, themeSwitch } from './header-toggles.ts';
import { titleOf, waitsForUs } from './title.ts';
import { Toast } from '../ui/toast.ts';
import { notUnderstood, refusalText } from '../text/phrases.ts';

import type {
  Events,
  Game,
  Level,
  ListChanged,
  MatchEvent,
  Message,
  ReplyTo,
  Request,
  RequestOf,
  SaidTold,
  Seekers,
  Snapshot,
  Thinking,
  Welcome,
} from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** What the main part of the page shows. */
export interface View {
  element: HTMLElement;
  /** something has changed */
  update: () => void;
  /** the server knows us, perhaps anew */
  welcomed: () => void;
  /** the view is left for another */
  leave: () => void;
  title: () => string;
  /** what else the server tells */
  hear?: (message: Message) => void;
  /** other matches are to be had */
  listChanged?: (change: ListChanged) => void;
  /** others look for an opponent */
  seekersTold?: (told: Seekers) => void;
  /** nobody is looked for any more */
  seekFailed?: () => void;
  /** the match that it is of, and what it hears of matches: */
  match?: string;
  /** what is done when a match is told of whole */
  arrived?: (match: Snapshot) => void;
  /** whether one sees how this one stands */
  shows?: (match: Pick<Match, 'match'>) => boolean;
  /** one may not watch it any more */
  shownOut?: (match: string) => void;
  /** somebody says something */
  heard?: (message: SaidTold) => void;
  changed?: (before: Match, after: Match) => void;
  happened?: (after: Match, event: MatchEvent) => void;
}

export class App {
  matches: Map<string, Match> = new Map();
  connection;
  days = new Days(this);
  /** What a bot has told last of what it thinks. */
  thought: Thinking | null = null;

  #view: View;
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

  get games(): Game[] {
    return this.connection.welcome?.games ?? [];
  }

  get levels(): Level[] {
    return this.connection.welcome?.levels ?? [];
  }

  game(name: string) {
    return this.games.find(({ game }) => game === name);
  }

  /** Who we are. */
  get player() {
    return this.connection.welcome?.player;
  }

  /** Our matches that are not over. */
  mine(): Match[] {
    return [...this.matches.values()].filter((match) => isLiveOf(match, this.player?.id));
  }

  /** Asks, and tells the person when it is refused; the answer is then `null`. */
  async ask<Type extends Request['type']>(
    request: Request & { type: Type },
  ): Promise<ReplyTo<Type> | null> {
    try {
      return await this.connection.ask<Type>(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.tell(error);
      return null;
    }
  }

  /** Tells what is refused, and why. */
  tell(refusal: Refusal) {
    const { text, way } = refusalWords(this, refusal, this.#path === '/');
    this.toast(text, way);
  }

  /**
   * Asks for a match and goes there.
   * @param made hears of the match before one sees it
   * @returns `null` if it was refused
   */
  async enter(
    request: RequestOf<'create' | 'join'>,
    made?: (snapshot: Snapshot) => void,
  ): Promise<Snapshot | null> {
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

  /** Whether this match is what one sees. */
  isAt({ code }: { code: string }) {
    return this.#path === `/m/${code}`;
  }

  goTo({ code }: { code: string }, wish: { watch?: boolean } = {}) {
    this.go(`/m/${code}`, wish);
  }

  /** @param path it may lead to a place within a view, behind `#` */
  go(path: string, wish: { watch?: boolean } = {}) {
    history.pushState(null, '', path);
    this.#turnTo(location.pathname, wish);
  }

  /** @param way where it leads */
  toast(text: string, way?: { href: string; says: string }) {
    // What is said while one looks at a match is of that match.
    this.#toast.show(text, way, way ? undefined : this.#view.match);
  }

  /** A match has gone on: what was said of it before is old. */
  outlived(match: string) {
    this.#toast.outlived(match);
  }

  /** Tells those who do not see it. */
  announce(text: string) {
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

  #isSeen(match: Pick<Match, 'match'>) {
    return this.#view.shows?.(match) ?? false;
  }

  /** Tells what has become of a match, if it is ours and out of sight. */
  #tellNews(before: Match, after: Match) {
    if (this.#isSeen(after)) return;
    const title = this.game(after.game)?.title ?? after.game;
    const news = newsOf(before, after, title, speechOf(this, after));
    if (!news) return;
    this.#toast.show(news.text, { href: `/m/${after.code}`, says: say('news.go') }, after.match);
    sound(news.sound);
  }

  #turnTo(path: string, wish: { watch?: boolean }) {
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

  /** A view is loaded: it is seen in place of what stood for it. */
  come(view: View) {
    this.#show(view);
    this.#begin();
  }

  /** Has the view begin that is shown now. */
  #begin() {
    if (this.connection.link.state === 'open') this.#view.welcomed();
    this.update();
  }

  #show(view: View) {
    this.#view = view;
    // A class, not `:has()`: that has the whole page styled anew whenever anything in a match comes or goes.
    const isMatch = view.element.classList.contains('room');
    document.documentElement.classList.toggle('at-match', isMatch);
    fill(this.#main, view.element);
  }

  /** Our own links lead on without a new page. */
  #follow(event: MouseEvent) {
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

  #welcomed(welcome: Welcome) {
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

  #hear(message: Message) {
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

  #happened(event: MatchEvent) {
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

  #learnWhole(snapshot: Snapshot) {
    const before = this.matches.get(snapshot.match);
    const told = fromSnapshot(snapshot, performance.now(), before);
    const after = asHeld(told, this.player?.id);
    this.matches.set(after.match, after);
    rememberOpponent(after);
    if (!before) return;
    this.#view.changed?.(before, after);
    this.#tellNews(before, after);
  }

  #learn({ match: id, events }: Events) {
    const match = this.matches.get(id);
    if (!match) return;
    this.matches.set(id, remembering(match, events));
    for (const event of events) this.#happened(event);
  }

  #change(id: string, changed: (match: Match) => Match) {
    const before = this.matches.get(id);
    if (!before) return;
    const after = changed(before);
    this.matches.set(id, after);
    this.#view.changed?.(before, after);
    this.#tellNews(before, after);
  }
}

/** Whether this is the address of a game that was played without the server. */
function isPlayedAlone(path: string) {
  const id = aloneAt(path);
  if (id === null) return false;
  return [...keptAlone(), ...keptPast().map(({ snapshot }) => ({ id: snapshot.match }))].some(
    (known) => known.id === id,
  );
}

new App();
