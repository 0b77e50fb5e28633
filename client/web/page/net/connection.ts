// The connection to the server: it logs in, sends requests, and reconnects unless the server or the
// player has ended it.

import { LocalSocket, CLOSE_CODE_REPLACED } from '../offline/local-socket.ts';
import { deviceLabel } from '../ui/device-name.ts';
import { getStored, setStored } from '../ui/storage.ts';
import { clearOfflineData } from '../offline/offline-history.ts';
import { translate } from '../text/language.ts';
import { ServerProbe, isServerReachable } from './server-probe.ts';
import { translateWelcome } from '../text/labels.ts';
import { errorText } from '../text/phrases.ts';

import type { ErrorMessage, Message, Player, ReplyTo, Request, Welcome } from './protocol.ts';

/**
 * Status of the connection. While `waiting`, it reconnects at `retryAt`, in `performance.now()`
 * milliseconds.
 * From `replaced`, `ended` and `broken` only the player reconnects. `isSlow` means that a reply is
 * overdue.
 */
export type ConnectionStatus =
  | { state: 'connecting' }
  | { state: 'open'; isSlow: boolean }
  | { state: 'waiting'; retryAt: number; why: string }
  | { state: 'replaced' }
  | { state: 'ended' }
  | { state: 'broken'; why: string };

/**
 * Credentials for a login without the stored token. A name without a password creates a new player.
 */
export type LoginCredentials =
  { name: string; password?: string } | { pair: string } | { recovery: string };

export interface ConnectionListener {
  onStatus: (status: ConnectionStatus) => void;
  /** called after each login; the server no longer sends what the page watched before */
  onWelcome: (welcome: Welcome) => void;
  /** called with every other message, also with replies */
  onMessage: (message: Message) => void;
}

const RETRY_DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000];
/** After this time without a message the page sends a ping … */
const PING_AFTER_MS = 20_000;
/** … and closes the connection after this time without a reply. */
const PING_TIMEOUT_MS = 6_000;
/** If a request has no reply after this time, the connection is slow and the page sends a ping … */
const SLOW_MS = 4_000;
/** … which has this time for its reply. */
const SLOW_PING_TIMEOUT_MS = 4_000;

const CLOSE_CODE_SESSION_ENDED = 4005;
const CLOSE_CODE_TOO_MANY_REQUESTS = 4003;
const CLOSE_CODE_SERVER_FULL = 1013;
/** Close codes for a fault of this page, which a new connection would repeat. */
const CLOSE_CODES_CLIENT_FAULT = [1002, 1003, 1007, 1008, 1009];

/**
 * The server refused a request, or the connection was lost before the reply (`code` is `lost`).
 */
export class RequestError extends Error {
  readonly code: string;
  readonly field: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Lowest ply at which the server allows the request. */
  readonly expected: number | undefined;

  constructor(error: Pick<ErrorMessage, 'code' | 'message'> & Partial<ErrorMessage>) {
    super(error.message);
    this.code = error.code;
    this.field = error.field;
    this.retryable = error.retryable ?? false;
    this.retryAfterMs = error.retry_after_ms;
    this.expected = error.expected;
  }
}

export interface PendingRequest {
  /** in `performance.now()` milliseconds */
  sentAt: number;
  resolve: (reply: Message) => void;
  reject: (error: RequestError) => void;
}

/** The socket that `boot.ts` opened. */
function takeEarlySocket(): WebSocket | null {
  const globals = globalThis as { earlySocket?: WebSocket | undefined };
  const socket = globals.earlySocket ?? null;
  globals.earlySocket = undefined;
  return socket;
}

export class Connection {
  status: ConnectionStatus = { state: 'connecting' };
  welcome: Welcome | null = null;

  #socket: WebSocket | LocalSocket | null = null;
  /** Whether the socket is that of the offline server in this browser. */
  #isOffline = false;
  #serverProbe = new ServerProbe(() => this.#listener.onStatus(this.status));
  #url;
  #listener;
  #nextId = 1;
  #failures = 0;
  #lastMessageAt = 0;
  /** Credentials of a login that the server has not answered. */
  #credentials: LoginCredentials | null = null;
  /** Resolves the promise of that login. */
  #resolveLogin: ((why: string | null) => void) | null = null;
  /** Whether the session was ended, and no login has followed. */
  #isLoggedOut = false;
  /** Requests without a reply by id, the oldest first. */
  #pendingRequests: Map<number, PendingRequest> = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #slowTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, listener: ConnectionListener) {
    this.#url = url;
    this.#listener = listener;
    window.addEventListener('online', () => this.retryNow());
    // After a device has slept, a dead socket still looks open.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.retryNow();
    });
    // A page from the back/forward cache has lost its socket.
    window.addEventListener('pageshow', () => this.retryNow());
  }

  /** Closes the current connection and opens a new one. */
  connect() {
    this.#closeSocket();
    this.#setStatus({ state: 'connecting' });
    const early = takeEarlySocket();
    if (this.#isOffline) early?.close();
    const isUsable = early !== null && early.readyState <= WebSocket.OPEN;
    const openSocket = () => (isUsable ? early : new WebSocket(this.#url, 'plyhouse.v1'));
    const socket = this.#isOffline ? new LocalSocket() : openSocket();
    this.#socket = socket;
    const isOpen = socket instanceof WebSocket && socket.readyState === WebSocket.OPEN;
    if (isOpen) queueMicrotask(() => void this.#login());
    socket.onopen = () => void this.#login();
    socket.onmessage = (event: { data: unknown }) => this.#onMessage(String(event.data));
    socket.onclose = (event: { code: number }) => this.#onClose(event.code);
    // The offline server may be slow, but cannot be lost.
    if (!this.#isOffline) this.#timer = setTimeout(() => this.#fail(), PING_TIMEOUT_MS);
  }

  get isOffline() {
    return this.#isOffline;
  }

  /** During offline play: whether the server can be reached again. */
  get isServerReachable() {
    return this.#serverProbe.isReachable;
  }

  setOffline(isOffline: boolean) {
    this.#isOffline = isOffline;
    this.connect();
  }

  /**
   * Connects to the server if it can be reached, and returns whether it can. Otherwise offline play
   * continues.
   */
  async tryGoOnline(): Promise<boolean> {
    const isReachable = await isServerReachable();
    if (isReachable && this.#isOffline) this.setOffline(false);
    return isReachable;
  }

  /** Whether a proxy authenticates the player. */
  get usesProxyAuth() {
    return this.welcome?.token === '';
  }

  /** Reconnects now if it was waiting, or tests an open connection by a ping. */
  retryNow() {
    if (this.status.state === 'waiting') this.connect();
    if (this.status.state === 'open') void this.#ping();
    this.#serverProbe.probeNow();
  }

  /**
   * Logs in as another player. Until the server accepts, the player remains the same.
   * @returns the reason if the server refuses, otherwise `null`
   */
  logIn(credentials: LoginCredentials): Promise<string | null> {
    this.#credentials = credentials;
    this.connect();
    return new Promise((resolve) => (this.#resolveLogin = resolve));
  }

  /** Connects as a new guest. */
  startAsGuest() {
    this.#isLoggedOut = false;
    setStored('token', null);
    setStored('name', null);
    this.connect();
  }

  /** Sends a request and returns the reply. Throws a `RequestError`. */
  request<Type extends Request['type']>(request: Request & { type: Type }): Promise<ReplyTo<Type>> {
    const reply = new Promise<Message>((resolve, reject) => {
      if (this.status.state !== 'open' && request.type !== 'hello') {
        reject(new RequestError({ code: 'lost', message: '' }));
        return;
      }
      const id = this.#nextId++;
      this.#pendingRequests.set(id, { sentAt: performance.now(), resolve, reject });
      this.#socket?.send(JSON.stringify({ ...request, id }));
      this.#startSlowTimer();
    });
    return reply as Promise<ReplyTo<Type>>;
  }

  async #login() {
    const credentials = this.#credentials ?? storedCredentials();
    try {
      await this.request({ type: 'hello', protocol: 1, label: deviceLabel(), ...credentials });
    } catch (error) {
      if (!(error instanceof RequestError) || error.code === 'lost') return;
      if (this.#credentials) {
        this.#credentials = null;
        this.#finishLogin(errorText(error));
        this.#keepPlayer();
        return;
      }
      // The stored name or token is invalid. Without it the next login succeeds.
      if (error.code === 'bad_name' || error.code === 'name_taken' || error.field === 'name') {
        setStored('name', null);
        void this.#login();
        return;
      } else if (error.code === 'bad_field') {
        setStored('token', null);
      }
      if (error.code === 'unsupported_protocol') {
        this.#closeSocket();
        this.#setStatus({ state: 'broken', why: translate('link.version') });
      } else {
        this.#fail(errorText(error));
      }
    }
  }

  /** Keeps the current player after a refused login. */
  #keepPlayer() {
    if (this.#isLoggedOut) {
      this.#closeSocket();
      this.#setStatus({ state: 'ended' });
    } else {
      // The server accepts another `hello` after a refused one.
      void this.#login();
    }
  }

  #finishLogin(why: string | null) {
    this.#resolveLogin?.(why);
    this.#resolveLogin = null;
  }

  #onWelcome(welcome: Welcome) {
    // With proxy authentication there is no token. The stored token may belong to another player.
    if (welcome.token !== '') {
      setStored('token', welcome.token);
      // The server deletes guests who have not played. The name is then used for a new guest.
      setStored('name', welcome.player.name);
    }
    this.welcome = translateWelcome(welcome);
    this.#failures = 0;
    this.#credentials = null;
    this.#isLoggedOut = false;
    this.#setStatus({ state: 'open', isSlow: false });
    this.#finishLogin(null);
    if (this.#isOffline) this.#serverProbe.start();
    this.#listener.onWelcome(welcome);
    this.#schedulePing();
  }

  #onMessage(text: string) {
    this.#lastMessageAt = performance.now();
    const message = parseMessage(text);
    const pending =
      're' in message && message.re !== undefined ? this.#pendingRequests.get(message.re) : null;
    if (pending && 're' in message && message.re !== undefined)
      this.#pendingRequests.delete(message.re);
    if (this.status.state === 'open' && this.status.isSlow) {
      this.#setStatus({ state: 'open', isSlow: false });
    }
    this.#startSlowTimer();
    if (message.type === 'welcome') {
      this.#onWelcome(message);
      pending?.resolve(message);
      return;
    }
    if (message.type === 'error' && pending) {
      pending.reject(new RequestError(message));
      return;
    }
    if (message.type === 'player') this.#onRenamed(message.player);
    this.#listener.onMessage(message);
    pending?.resolve(message);
  }

  #onRenamed(player: Player) {
    if (!this.usesProxyAuth) setStored('name', player.name);
    if (this.welcome) this.welcome = { ...this.welcome, player };
  }

  /** Schedules a ping after a time without messages. */
  #schedulePing() {
    clearTimeout(this.#timer);
    const silence = performance.now() - this.#lastMessageAt;
    this.#timer = setTimeout(() => this.#ping(), Math.max(0, PING_AFTER_MS - silence));
  }

  /** Starts the timer that marks the connection as slow if the oldest request has no reply. */
  #startSlowTimer() {
    clearTimeout(this.#slowTimer);
    const [oldest] = this.#pendingRequests.values();
    if (!oldest || this.status.state !== 'open' || this.status.isSlow) return;
    const silence = performance.now() - Math.max(oldest.sentAt, this.#lastMessageAt);
    this.#slowTimer = setTimeout(
      () => {
        this.#setStatus({ state: 'open', isSlow: true });
        void this.#ping(SLOW_PING_TIMEOUT_MS);
      },
      Math.max(0, SLOW_MS - silence),
    );
  }

  async #ping(timeout = PING_TIMEOUT_MS) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(), timeout);
    try {
      await this.request({ type: 'ping' });
      this.#schedulePing();
    } catch (error) {
      // A refusal is a reply, too. `onclose` handles a lost connection.
      if (error instanceof RequestError && error.code !== 'lost') this.#schedulePing();
    }
  }

  #onClose(code: number) {
    this.#closeSocket();
    // After another tab has taken over, both remain offline.
    this.#isOffline &&= code === CLOSE_CODE_REPLACED;
    if (code === CLOSE_CODE_REPLACED) {
      this.#setStatus({ state: 'replaced' });
    } else if (code === CLOSE_CODE_SESSION_ENDED) {
      this.#onSessionEnded();
    } else if (CLOSE_CODES_CLIENT_FAULT.includes(code)) {
      this.#setStatus({ state: 'broken', why: translate('link.closed', { code: String(code) }) });
    } else if (code === CLOSE_CODE_TOO_MANY_REQUESTS) {
      this.#retryAfter(60_000, translate('link.flood'));
    } else {
      const why = translate(code === CLOSE_CODE_SERVER_FULL ? 'link.full' : 'link.lost');
      this.#retryLater(why);
    }
  }

  /** Deletes the stored login, because its session was ended. */
  #onSessionEnded() {
    clearOfflineData();
    // Another tab may have stored a new login.
    if (getStored('token') === this.welcome?.token) {
      setStored('token', null);
      setStored('name', null);
    }
    this.#isLoggedOut = true;
    this.#setStatus({ state: 'ended' });
  }

  #fail(why: string = translate('link.silent')) {
    this.#closeSocket();
    this.#isOffline = false;
    this.#retryLater(why);
  }

  #retryLater(why: string) {
    const delay = RETRY_DELAYS_MS[Math.min(this.#failures, RETRY_DELAYS_MS.length - 1)] ?? 0;
    this.#failures += 1;
    // The random part spreads the reconnections of all clients when a server returns.
    this.#retryAfter(delay * (0.75 + Math.random() / 2), why);
  }

  #retryAfter(delay: number, why: string) {
    this.#setStatus({ state: 'waiting', retryAt: performance.now() + delay, why });
    this.#timer = setTimeout(() => this.connect(), delay);
  }

  /** Closes the socket and rejects the pending requests. */
  #closeSocket() {
    clearTimeout(this.#timer);
    clearTimeout(this.#slowTimer);
    this.#serverProbe.stop();
    const socket = this.#socket;
    this.#socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    const unanswered = [...this.#pendingRequests.values()];
    this.#pendingRequests.clear();
    const error = new RequestError({ code: 'lost', message: '' });
    for (const { reject } of unanswered) reject(error);
  }

  #setStatus(status: ConnectionStatus) {
    this.status = status;
    this.#listener.onStatus(status);
  }
}

/** Name that the server sends for deleted players. */
const SOMEONE = 'someone';

function parseMessage(text: string): Message {
  if (!text.includes(`"${SOMEONE}"`)) return JSON.parse(text);
  return JSON.parse(text, (_, value) => {
    if (value?.name !== SOMEONE) return value;
    // Without the account the name is not a link.
    const { account: _account, ...person } = value;
    return { ...person, name: translate('people.someone') };
  });
}

/** The login that this browser has stored. */
function storedCredentials() {
  const token = getStored('token');
  const name = getStored('name');
  return { ...(name ? { name } : {}), ...(token ? { token } : {}) };
}
