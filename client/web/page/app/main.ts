// The application: it owns the connection, the state and the current view, and routes between
// views.

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
import { isLiveFor } from '../model/match.ts';
import { isMatchEvent } from '../model/state.ts';
import { AccountLink } from './account-link.ts';
import { notificationFor } from '../social/notifications.ts';
import { loadLobby, loadMatchPage } from './chunks.ts';
import { viewForPath } from './router.ts';
import { errorToast } from '../net/errors.ts';
import { playSound } from '../ui/sounds.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { languageSwitch, soundSwitch, themeSwitch } from './header-toggles.ts';
import { tabTitle, needsMyAction } from './title.ts';
import { Store } from './store.ts';
import { Toast } from '../ui/toast.ts';
import { ignoredFieldsText, errorText } from '../text/phrases.ts';

import type {
  Game,
  Level,
  Message,
  ReplyTo,
  Request,
  RequestOf,
  Snapshot,
  Welcome,
} from '../net/protocol.ts';
import type { Match } from '../model/match.ts';
import type { Action } from '../model/state.ts';
import type { Change } from './store.ts';

/** Content of the `main` element. */
export interface View {
  element: HTMLElement;
  title: () => string;
  /** Id of the match in view. */
  match?: string | undefined;
  isShowing?: (match: Pick<Match, 'match'>) => boolean;
  /** Renders the current state. */
  update?: () => void;
  /** Called with each new connection, and when the view is shown during a connection. */
  onWelcome?: () => void;
  /** Called with each change of the state while the view is shown. */
  onChange?: (change: Change) => void;
  unmount?: () => void;
}

/** Messages that need no new rendering of the page: their subscribers render what changes. */
const RENDERED_BY_SUBSCRIBERS: readonly string[] = ['list_changed', 'seekers', 'thinking'];

export class App {
  store = new Store();
  connection;
  correspondence = new Correspondence(this);

  #view: View;
  #endViewSubscription = () => {};
  /** Whether a request of `enterMatch` awaits its reply. */
  #isEntering = false;
  #path = location.pathname;
  #main = elementById('main');
  #accountLink = new AccountLink(this);
  #toast = new Toast(elementById('toast'));
  #liveRegion = elementById('heard');
  newDevice = new NewDevice(this, elementById('added'));
  #challenges = new IncomingChallenges(this, elementById('challenges'));

  constructor() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.connection = new Connection(`${scheme}://${location.host}/ws`, {
      onStatus: () => this.#onConnectionStatus(),
      onWelcome: (welcome) => this.#onWelcome(welcome),
      onMessage: (message) => this.#onMessage(message),
    });
    this.store.subscribe((change) => this.#onChange(change));
    replaceChildren(
      elementById('header-tools'),
      this.#accountLink.element,
      languageSwitch(),
      appearanceButton(this),
      soundSwitch(),
      themeSwitch(),
    );
    this.#view = viewForPath(this, location.pathname, {});
    this.#show(this.#view);
    window.addEventListener('popstate', () => {
      // A link to an anchor changes only the hash.
      const isOther = location.pathname !== this.#path;
      if (isOther || (this.#path === '/pair' && location.hash))
        this.#openPath(location.pathname, {});
    });
    document.addEventListener('click', (event) => this.#onClick(event));
    this.connection.setOffline(isOfflineMatchPath(this.#path));
  }

  get games(): Game[] {
    return this.connection.welcome?.games ?? [];
  }

  get levels(): Level[] {
    return this.connection.welcome?.levels ?? [];
  }

  get matches() {
    return this.store.state.matches;
  }

  /** The last engine output of any match. */
  get lastThinking() {
    return this.store.state.lastThinking;
  }

  game(name: string) {
    return this.games.find(({ game }) => game === name);
  }

  get player() {
    return this.connection.welcome?.player;
  }

  /** The player's matches that have not ended. */
  myMatches(): Match[] {
    return [...this.matches.values()].filter((match) => isLiveFor(match, this.player?.id));
  }

  /** Sends a request. If the server refuses it, shows the error as a toast and returns `null`. */
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

  toastError(error: RequestError) {
    const { text, way } = errorToast(this, error, this.#path === '/');
    this.toast(text, way);
  }

  /**
   * Creates or joins a match and opens its page. Returns `null` if the server refuses.
   * @param onSnapshot called before the page of the match is opened
   */
  async enterMatch(
    request: RequestOf<'create' | 'join'>,
    onSnapshot?: (snapshot: Snapshot) => void,
  ): Promise<Snapshot | null> {
    // A double click must not create two matches.
    if (this.#isEntering) return null;
    this.#isEntering = true;
    const path = this.#path;
    const snapshot = await this.request(request).finally(() => (this.#isEntering = false));
    if (snapshot) onSnapshot?.(snapshot);
    // A player who has opened another page stays there, and finds the match in the lobby.
    if (snapshot && this.#path === path) this.goToMatch(snapshot);
    return snapshot;
  }

  isAtMatch({ code }: { code: string }) {
    return this.#path === `/m/${code}`;
  }

  goToMatch({ code }: { code: string }, options: { watch?: boolean } = {}) {
    this.navigate(`/m/${code}`, options);
  }

  /** @param path may have a hash */
  navigate(path: string, options: { watch?: boolean } = {}) {
    history.pushState(null, '', path);
    this.#openPath(location.pathname, options);
  }

  toast(text: string, link?: { href: string; says: string }) {
    // A toast without a link is about the match in view.
    this.#toast.show(text, link, link ? undefined : this.#view.match);
  }

  /** Removes the toasts about a match, which are out of date. */
  clearToasts(match: string) {
    this.#toast.clearForMatch(match);
  }

  /** Makes screen readers read a text. */
  announce(text: string) {
    this.#liveRegion.append(h('p', {}, text));
    while (this.#liveRegion.childElementCount > 10) this.#liveRegion.firstElementChild?.remove();
  }

  /** Renders the page after the next paint. */
  updateSoon() {
    afterNextPaint(() => this.update());
  }

  /** Renders the page from the current state. */
  update() {
    this.#accountLink.update();
    this.correspondence.update();
    this.#view.update?.();
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
    const waiting = canPlay ? [...this.matches.values()].filter(needsMyAction) : [];
    return tabTitle(title, waiting, (match) => this.#isInView(match));
  }

  #isInView(match: Pick<Match, 'match'>) {
    return this.#view.isShowing?.(match) ?? false;
  }

  /** Shows a toast about a change of a match of the player that is not in view. */
  #notify(before: Match, after: Match) {
    if (this.#isInView(after)) return;
    const title = this.game(after.game)?.title ?? after.game;
    const notification = notificationFor(before, after, title, phraseContextOf(this, after));
    if (!notification) return;
    const link = { href: `/m/${after.code}`, says: translate('news.go') };
    this.#toast.show(notification.text, link, after.match);
    playSound(notification.sound);
  }

  #openPath(path: string, options: { watch?: boolean }) {
    this.#path = path;
    this.#toast.clearLinkTo(path);
    const hadFocus = this.#main.contains(document.activeElement);
    const { match: left } = this.#view;
    if (left !== undefined) this.#toast.clearForMatch(left);
    this.#view.unmount?.();
    this.#show(viewForPath(this, path, options));
    if (!this.connection.isOffline && isOfflineMatchPath(path)) this.connection.setOffline(true);
    // The focused element was removed. The new view may move the focus again.
    if (hadFocus) this.#main.focus();
    this.#startView();
    window.scrollTo(0, 0);
  }

  /** Replaces a `LazyView` by the loaded view. */
  show(view: View) {
    this.#show(view);
    this.#startView();
  }

  #startView() {
    if (this.connection.status.state === 'open') this.#view.onWelcome?.();
    this.update();
  }

  #show(view: View) {
    this.#view = view;
    this.#endViewSubscription();
    this.#endViewSubscription = this.store.subscribe((change) => view.onChange?.(change));
    // `:has()` would restyle the whole page with each element that is added or removed.
    const isMatch = view.element.classList.contains('room');
    document.documentElement.classList.toggle('at-match', isMatch);
    replaceChildren(this.#main, view.element);
  }

  /** Opens links to views of this page without reloading. */
  #onClick(event: MouseEvent) {
    const link =
      event.target instanceof Element ? event.target.closest('a[href^="/"]:not([download])') : null;
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.navigate(link.getAttribute('href') ?? '/');
    this.#main.focus();
  }

  #onConnectionStatus() {
    const banner = elementById('banner');
    showConnectionBanner(banner, this);
    document.documentElement.classList.toggle('has-banner', banner.childElementCount > 0);
    document.documentElement.dataset.link = this.connection.status.state;
    this.update();
  }

  #onWelcome(welcome: Welcome) {
    this.store.dispatch(welcome, this.#view.match);
    if (!this.connection.isOffline) {
      setOfflineHistoryOwner(welcome.player);
      registerServiceWorker();
    }
    // The server does not know offline matches. The lobby lists them.
    if (!this.connection.isOffline && offlineGameId(this.#path)) this.navigate('/');
    else this.#view.onWelcome?.();
    this.update();
    // The board is loaded while the player chooses a game.
    loadMatchPage().catch(() => {});
  }

  #onMessage(message: Message) {
    if ('ignored' in message && message.ignored) this.toast(ignoredFieldsText(message.ignored));
    const before = this.store.state;
    this.store.dispatch(message);
    if (message.type === 'events') for (const event of message.events) this.store.dispatch(event);
    const isChanged = this.store.state !== before || ['player', 'error'].includes(message.type);
    if (isChanged && !RENDERED_BY_SUBSCRIBERS.includes(message.type)) this.update();
  }

  #onChange({ action, before, after }: Change) {
    if (action.type === 'error') this.toast(errorText(action));
    if (action.type === 'rematch') this.#toast.clearForMatch(action.match);
    // The player goes from a match to the lobby.
    if (action.type === 'match') loadLobby().catch(() => {});
    if (!('match' in action) || action.match === undefined) return;
    const [old, match] = [before, after].map(({ matches }) => matches.get(action.match ?? ''));
    if (!match) return;
    if (match !== old) this.#onMatchChange(action, old, match);
    else if (isMatchEvent(action) && action.seq > match.seq) {
      // Earlier events are missing. Only a snapshot has the current clocks.
      void this.request({ type: 'watch', match: action.match });
    }
  }

  #onMatchChange(action: Action, before: Match | undefined, after: Match) {
    if (isMatchEvent(action)) this.#toast.clearForMatch(after.match);
    if (action.type === 'match' || action.type === 'started') rememberOpponent(after);
    if (action.type === 'ended') addToOfflineHistory(after);
    if (before) this.#notify(before, after);
  }
}

/** Whether a path is that of a match which is stored in this browser. */
function isOfflineMatchPath(path: string) {
  const id = offlineGameId(path);
  if (id === null) return false;
  return [
    ...loadOfflineGames(),
    ...loadOfflineHistory().map(({ snapshot }) => ({ id: snapshot.match })),
  ].some((stored) => stored.id === id);
}

new App();
