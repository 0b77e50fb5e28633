// The page: one connection, the matches that it follows, and one view at a time.

import { NewDevice } from '../social/new-device.ts';
import { setFavicon } from './favicon.ts';
import { showConnectionBanner } from '../ui/connection-banner.ts';
import { IncomingChallenges } from '../social/incoming-challenges.ts';
import { rememberOpponent } from '../social/send-challenge.ts';
import { Connection, RequestError } from '../net/connection.ts';
import { Correspondence } from '../lobby/correspondence.ts';
import { afterNextPaint, replaceChildren, h, elementById } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { offlineGameId, loadOfflineGames } from '../offline/offline-games.ts';
import { registerServiceWorker } from '../offline/register-sw.ts';
import {
  addToOfflineHistory,
  loadOfflineHistory,
  setOfflineHistoryOwner,
} from '../offline/offline-history.ts';
import { appearanceButton } from '../ui/appearance-button.ts';
import {
  withRestoredSeat,
  applyEvent,
  fromSnapshot,
  isLiveFor,
  withPastPositions,
  withClocks,
  withPresence,
  withRematch,
} from '../model/match.ts';
import { AccountLink } from './account-link.ts';
import { notificationFor } from '../social/notifications.ts';
import { loadLobby, loadMatchPage } from './chunks.ts';
import { viewForPath } from './router.ts';
import { errorToast } from '../net/errors.ts';
import { withChatMessage } from '../social/chat-state.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { languageSwitch, soundSwitch, themeSwitch } from './header-toggles.ts';
import { tabTitle, needsMyAction } from './title.ts';
import { Toast } from '../ui/toast.ts';
import { ignoredFieldsText, errorText } from '../text/phrases.ts';

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
  ChatMessage,
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
  onWelcome: () => void;
  /** the view is left for another */
  unmount: () => void;
  title: () => string;
  /** what else the server tells */
  onMessage?: (message: Message) => void;
  /** other matches are to be had */
  onListChanged?: (change: ListChanged) => void;
  /** others look for an opponent */
  onSeekers?: (told: Seekers) => void;
  /** nobody is looked for any more */
  onSeekFailed?: () => void;
  /** the match that it is of, and what it hears of matches: */
  match?: string;
  /** what is done when a match is told of whole */
  onSnapshot?: (match: Snapshot) => void;
  /** whether one sees how this one stands */
  isShowing?: (match: Pick<Match, 'match'>) => boolean;
  /** one may not watch it any more */
  onWatchEnded?: (match: string) => void;
  /** somebody says something */
  onChat?: (message: ChatMessage) => void;
  onMatchChanged?: (before: Match, after: Match) => void;
  onEvent?: (after: Match, event: MatchEvent) => void;
}

export class App {
  matches: Map<string, Match> = new Map();
  connection;
  correspondence = new Correspondence(this);
  /** What a bot has told last of what it thinks. */
  lastThinking: Thinking | null = null;

  #view: View;
  /** A match that was asked for is under way. */
  #isEntering = false;
  /** Who we were with the last connection. */
  #lastPlayer = '';
  #path = location.pathname;
  #main = elementById('main');
  #name = new AccountLink(this);
  #toast = new Toast(elementById('toast'));
  #heard = elementById('heard');
  /** Tells of new devices, and logs them out. */
  newDevice = new NewDevice(this, elementById('added'));
  #challenges = new IncomingChallenges(this, elementById('challenges'));

  constructor() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.connection = new Connection(`${scheme}://${location.host}/ws`, {
      onStatus: () => this.#linkChanged(),
      onWelcome: (welcome) => this.#welcomed(welcome),
      onMessage: (message) => this.#hear(message),
    });
    replaceChildren(
      elementById('header-tools'),
      this.#name.element,
      languageSwitch(),
      appearanceButton(this),
      soundSwitch(),
      themeSwitch(),
    );
    this.#view = viewForPath(this, location.pathname, {});
    this.#show(this.#view);
    window.addEventListener('popstate', () => {
      // A jump within the page is no other page.
      const isOther = location.pathname !== this.#path;
      if (isOther || (this.#path === '/pair' && location.hash)) this.#turnTo(location.pathname, {});
    });
    document.addEventListener('click', (event) => this.#follow(event));
    this.connection.setOffline(isPlayedAlone(this.#path));
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
  myMatches(): Match[] {
    return [...this.matches.values()].filter((match) => isLiveFor(match, this.player?.id));
  }

  /** Asks, and tells the person when it is refused; the answer is then `null`. */
  async request<Type extends Request['type']>(
    request: Request & { type: Type },
  ): Promise<ReplyTo<Type> | null> {
    try {
      return await this.connection.request<Type>(request);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.toastError(error);
      return null;
    }
  }

  /** Tells what is refused, and why. */
  toastError(refusal: RequestError) {
    const { text, way } = errorToast(this, refusal, this.#path === '/');
    this.toast(text, way);
  }

  /**
   * Asks for a match and goes there.
   * @param made hears of the match before one sees it
   * @returns `null` if it was refused
   */
  async enterMatch(
    request: RequestOf<'create' | 'join'>,
    made?: (snapshot: Snapshot) => void,
  ): Promise<Snapshot | null> {
    // A second click while the first is under way would make a second match.
    if (this.#isEntering) return null;
    this.#isEntering = true;
    const path = this.#path;
    const snapshot = await this.request(request).finally(() => (this.#isEntering = false));
    if (snapshot) made?.(snapshot);
    // Whoever has gone elsewhere meanwhile stays there, and finds the match in the lobby.
    if (snapshot && this.#path === path) this.goToMatch(snapshot);
    return snapshot;
  }

  /** Whether this match is what one sees. */
  isAtMatch({ code }: { code: string }) {
    return this.#path === `/m/${code}`;
  }

  goToMatch({ code }: { code: string }, wish: { watch?: boolean } = {}) {
    this.navigate(`/m/${code}`, wish);
  }

  /** @param path it may lead to a place within a view, behind `#` */
  navigate(path: string, wish: { watch?: boolean } = {}) {
    history.pushState(null, '', path);
    this.#turnTo(location.pathname, wish);
  }

  /** @param way where it leads */
  toast(text: string, way?: { href: string; says: string }) {
    // What is said while one looks at a match is of that match.
    this.#toast.show(text, way, way ? undefined : this.#view.match);
  }

  /** A match has gone on: what was said of it before is old. */
  clearToasts(match: string) {
    this.#toast.clearForMatch(match);
  }

  /** Tells those who do not see it. */
  announce(text: string) {
    this.#heard.append(h('p', {}, text));
    while (this.#heard.childElementCount > 10) this.#heard.firstElementChild?.remove();
  }

  /** Draws everything anew, after what is drawn by now. */
  updateSoon() {
    afterNextPaint(() => this.update());
  }

  /** Draws everything anew that depends on what we know. */
  update() {
    this.#name.update();
    this.correspondence.update();
    this.#view.update();
    this.#challenges.update();
    if (this.connection.status.state === 'replaced') {
      document.title = `${translate('link.replaced.title')} – Plyhouse`;
      return;
    }
    const title = this.#challenges.title(this.correspondence.title(this.#title()));
    if (document.title !== title) document.title = title;
    setFavicon(title.startsWith('●'));
  }

  #title() {
    const title = this.#view.title();
    const canPlay = this.connection.status.state === 'open';
    const wanted = canPlay ? [...this.matches.values()].filter(needsMyAction) : [];
    return tabTitle(title, wanted, (match) => this.#isSeen(match));
  }

  #isSeen(match: Pick<Match, 'match'>) {
    return this.#view.isShowing?.(match) ?? false;
  }

  /** Tells what has become of a match, if it is ours and out of sight. */
  #tellNews(before: Match, after: Match) {
    if (this.#isSeen(after)) return;
    const title = this.game(after.game)?.title ?? after.game;
    const news = notificationFor(before, after, title, phraseContextOf(this, after));
    if (!news) return;
    this.#toast.show(
      news.text,
      { href: `/m/${after.code}`, says: translate('news.go') },
      after.match,
    );
    sound(news.sound);
  }

  #turnTo(path: string, wish: { watch?: boolean }) {
    this.#path = path;
    this.#toast.clearLinkTo(path);
    const hadFocus = this.#main.contains(document.activeElement);
    const { match: left } = this.#view;
    if (left !== undefined) this.#toast.clearForMatch(left);
    this.#view.unmount();
    this.#show(viewForPath(this, path, wish));
    if (!this.connection.isOffline && isPlayedAlone(path)) this.connection.setOffline(true);
    // What had the focus is gone; a view that knows better takes it on.
    if (hadFocus) this.#main.focus();
    this.#begin();
    window.scrollTo(0, 0);
  }

  /** A view is loaded: it is seen in place of what stood for it. */
  show(view: View) {
    this.#show(view);
    this.#begin();
  }

  /** Has the view begin that is shown now. */
  #begin() {
    if (this.connection.status.state === 'open') this.#view.onWelcome();
    this.update();
  }

  #show(view: View) {
    this.#view = view;
    // A class, not `:has()`: that has the whole page styled anew whenever anything in a match comes or goes.
    const isMatch = view.element.classList.contains('room');
    document.documentElement.classList.toggle('at-match', isMatch);
    replaceChildren(this.#main, view.element);
  }

  /** Our own links lead on without a new page. */
  #follow(event: MouseEvent) {
    const link =
      event.target instanceof Element ? event.target.closest('a[href^="/"]:not([download])') : null;
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.navigate(link.getAttribute('href') ?? '/');
    this.#main.focus();
  }

  #linkChanged() {
    const banner = elementById('banner');
    showConnectionBanner(banner, this);
    document.documentElement.classList.toggle('has-banner', banner.childElementCount > 0);
    document.documentElement.dataset.link = this.connection.status.state;
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
    if (welcome.player.id !== this.#lastPlayer) this.newDevice.clear();
    if (!this.connection.isOffline) {
      setOfflineHistoryOwner(welcome.player);
      registerServiceWorker();
    }
    this.#lastPlayer = welcome.player.id;
    this.correspondence.onWelcome(welcome);
    this.#challenges.onWelcome(welcome);
    // The server knows nothing of what was played without it: that is in the lobby.
    if (!this.connection.isOffline && offlineGameId(this.#path)) this.navigate('/');
    else this.#view.onWelcome();
    this.update();
    // Whoever has chosen a game need not wait for its board.
    loadMatchPage().catch(() => {});
  }

  #hear(message: Message) {
    if ('ignored' in message && message.ignored) this.toast(ignoredFieldsText(message.ignored));
    this.correspondence.onMessage(message);
    this.#challenges.onMessage(message);
    this.newDevice.onMessage(message);
    // A bot may have thought, and moved, before its match is shown.
    if (message.type === 'thinking') this.lastThinking = message;
    this.#view.onMessage?.(message);
    switch (message.type) {
      case 'match':
        this.#learnWhole(message);
        this.#view.onSnapshot?.(message);
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
        this.#view.onListChanged?.(message);
        return;
      case 'seekers':
        this.#view.onSeekers?.(message);
        return;
      case 'player':
        break;
      case 'clock':
        this.#change(message.match, (match) => withClocks(match, message, performance.now()));
        break;
      case 'rematch':
        this.#toast.clearForMatch(message.match);
        this.#change(message.match, (match) => withRematch(match, message));
        break;
      case 'watch_over':
        this.matches.delete(message.match);
        this.#view.onWatchEnded?.(message.match);
        break;
      case 'rating': {
        const { match: id, changes, why } = message;
        this.#change(id, (match) => ({ ...match, changes, unrated: why }));
        break;
      }
      case 'said':
        this.#change(message.match, (match) => withChatMessage(match, message));
        this.#view.onChat?.(message);
        break;
      case 'error':
        this.toast(errorText(message));
        if (!message.match) this.#view.onSeekFailed?.();
        break;
      default:
        return;
    }
    this.update();
  }

  #happened(event: MatchEvent) {
    const before = this.matches.get(event.match);
    if (!before) return;
    const folded = applyEvent(before, event, performance.now());
    if (!folded) {
      // A snapshot, too, tells how the clocks stand, which past events do not.
      void this.request({ type: 'watch', match: event.match });
      return;
    }
    const after = withRestoredSeat(folded, this.player?.id);
    this.matches.set(event.match, after);
    if (after === before) return;
    this.#toast.clearForMatch(event.match);
    if (event.type === 'started') rememberOpponent(after);
    if (event.type === 'ended') addToOfflineHistory(after);
    this.correspondence.onMatchChanged(before, after);
    this.#view.onEvent?.(after, event);
    this.#tellNews(before, after);
  }

  #learnWhole(snapshot: Snapshot) {
    const before = this.matches.get(snapshot.match);
    const told = fromSnapshot(snapshot, performance.now(), before);
    const after = withRestoredSeat(told, this.player?.id);
    this.matches.set(after.match, after);
    rememberOpponent(after);
    if (!before) return;
    this.#view.onMatchChanged?.(before, after);
    this.#tellNews(before, after);
  }

  #learn({ match: id, events }: Events) {
    const match = this.matches.get(id);
    if (!match) return;
    this.matches.set(id, withPastPositions(match, events));
    for (const event of events) this.#happened(event);
  }

  #change(id: string, changed: (match: Match) => Match) {
    const before = this.matches.get(id);
    if (!before) return;
    const after = changed(before);
    this.matches.set(id, after);
    this.#view.onMatchChanged?.(before, after);
    this.#tellNews(before, after);
  }
}

/** Whether this is the address of a game that was played without the server. */
function isPlayedAlone(path: string) {
  const id = offlineGameId(path);
  if (id === null) return false;
  return [
    ...loadOfflineGames(),
    ...loadOfflineHistory().map(({ snapshot }) => ({ id: snapshot.match })),
  ].some((known) => known.id === id);
}

new App();
