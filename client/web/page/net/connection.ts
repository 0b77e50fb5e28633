// The one connection to the server: it says hello, comes back when it is lost, and knows when it
// should not.

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
 * What the connection is doing. `waiting` until `at` (a time of `performance.now()`), then it tries
 * again; `replaced`, `ended` and `broken` wait for the person. An open one `isSlow` when an answer is overdue.
 */
export type ConnectionStatus =
  | { state: 'connecting' }
  | { state: 'open'; isSlow: boolean }
  | { state: 'waiting'; retryAt: number; why: string }
  | { state: 'replaced' }
  | { state: 'ended' }
  | { state: 'broken'; why: string };

/**
 * Another way to be somebody than by what this browser remembers: a new player of a name, or a player who has
 * made a code, a key or a password.
 */
export type LoginCredentials =
  { name: string; password?: string } | { pair: string } | { recovery: string };

export interface ConnectionListener {
  /** what the connection is doing has changed */
  onStatus: (link: ConnectionStatus) => void;
  /** the server knows us, and forgets what we watched */
  onWelcome: (welcome: Welcome) => void;
  /** anything but a welcome, answers included */
  onMessage: (message: Message) => void;
}

const TRY_AFTER_MS = [500, 1000, 2000, 4000, 8000, 15_000];
/** After so long without a word we ask whether anybody is there … */
const SILENCE_MS = 20_000;
/** … and give up when nothing comes. */
const PATIENCE_MS = 6_000;
/** Whoever has asked hears of it when nothing comes for so long, and the server is asked once more … */
const SLOW_MS = 4_000;
/** … and has so long to give a sign of life. */
const LAST_PATIENCE_MS = 4_000;

const ENDED = 4005;
const TOO_MANY_REQUESTS = 4003;
const SERVER_FULL = 1013;
/** Closed for something that this page did wrong: it would do it again. */
const OUR_FAULT = [1002, 1003, 1007, 1008, 1009];

/** An answer that is an `error`, or that never came (`code` is then `lost`). */
export class RequestError extends Error {
  readonly code: string;
  readonly field: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Lowest ply at which the server allows the request. */
  readonly expected: number | undefined;

  constructor(failure: Pick<ErrorMessage, 'code' | 'message'> & Partial<ErrorMessage>) {
    super(failure.message);
    this.code = failure.code;
    this.field = failure.field;
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retry_after_ms;
    this.expected = failure.expected;
  }
}

export interface PendingRequest {
  /** when, by `performance.now()` */
  sentAt: number;
  resolve: (reply: Message) => void;
  reject: (refusal: RequestError) => void;
}

/** The socket that was opened before there was anybody to speak over it. */
function takeEarly(): WebSocket | null {
  const early = globalThis as { earlySocket?: WebSocket | undefined };
  const socket = early.earlySocket ?? null;
  early.earlySocket = undefined;
  return socket;
}

export class Connection {
  status: ConnectionStatus = { state: 'connecting' };
  welcome: Welcome | null = null;

  #socket: WebSocket | LocalSocket | null = null;
  /** What is spoken to is no server. */
  #isAlone = false;
  #lookout = new ServerProbe(() => this.#listener.onStatus(this.status));
  #url;
  #listener;
  #nextId = 1;
  #failures = 0;
  #heardAt = 0;
  /** How we wish to become somebody else. */
  #way: LoginCredentials | null = null;
  /** Waits to hear whether that can be. */
  #wished: ((why: string | null) => void) | null = null;
  /** This browser was logged out, and has not been told since who it is. */
  #isLoggedOut = false;
  /** What is not answered yet, the oldest first. */
  #asked: Map<number, PendingRequest> = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #impatience: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, listener: ConnectionListener) {
    this.#url = url;
    this.#listener = listener;
    window.addEventListener('online', () => this.retryNow());
    // A laptop that wakes has a socket that looks alive and is not.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.retryNow();
    });
    // A page that is kept to be shown again has lost its socket.
    window.addEventListener('pageshow', () => this.retryNow());
  }

  /** Connects, whatever there was before. */
  connect() {
    this.#drop();
    this.#become({ state: 'connecting' });
    const early = takeEarly();
    if (this.#isAlone) early?.close();
    const isGood = early !== null && early.readyState <= WebSocket.OPEN;
    const toServer = () => (isGood ? early : new WebSocket(this.#url, 'plyhouse.v1'));
    const socket = this.#isAlone ? new LocalSocket() : toServer();
    this.#socket = socket;
    const isOpen = socket instanceof WebSocket && socket.readyState === WebSocket.OPEN;
    if (isOpen) queueMicrotask(() => void this.#hello());
    socket.onopen = () => void this.#hello();
    socket.onmessage = (event: { data: unknown }) => this.#hear(String(event.data));
    socket.onclose = (event: { code: number }) => this.#closed(event.code);
    // What is spoken to here may be slow, but is not lost.
    if (!this.#isAlone) this.#timer = setTimeout(() => this.#giveUp(), PATIENCE_MS);
  }

  /** Whether one plays without the server. */
  get isOffline() {
    return this.#isAlone;
  }

  /** Whether the server has been found again meanwhile. */
  get isServerReachable() {
    return this.#lookout.isReachable;
  }

  /** Plays without the server, or with it again. */
  setOffline(isAlone: boolean) {
    this.#isAlone = isAlone;
    this.connect();
  }

  /**
   * Goes to the server if it is there: until then one plays on without it.
   * @returns whether it is
   */
  async tryGoOnline(): Promise<boolean> {
    const isThere = await isServerReachable();
    if (isThere && this.#isAlone) this.setOffline(false);
    return isThere;
  }

  /** Whether a proxy tells who we are, and nothing that one does here. */
  get usesProxyAuth() {
    return this.welcome?.token === '';
  }

  /** Tries at once if it was waiting, and makes sure of the connection if there is one. */
  retryNow() {
    if (this.status.state === 'waiting') this.connect();
    if (this.status.state === 'open') void this.#probe();
    this.#lookout.probeNow();
  }

  /**
   * Becomes somebody else. Until that is done one stays who one is.
   * @returns why it cannot be, if it cannot
   */
  logIn(way: LoginCredentials): Promise<string | null> {
    this.#way = way;
    this.connect();
    return new Promise((resolve) => (this.#wished = resolve));
  }

  /** Begins as a new guest. */
  startAsGuest() {
    this.#isLoggedOut = false;
    setStored('token', null);
    setStored('name', null);
    this.connect();
  }

  /** Asks, and gives the answer. Fails with a `Refusal`. */
  request<Type extends Request['type']>(request: Request & { type: Type }): Promise<ReplyTo<Type>> {
    const reply = new Promise<Message>((resolve, reject) => {
      if (this.status.state !== 'open' && request.type !== 'hello') {
        reject(new RequestError({ code: 'lost', message: '' }));
        return;
      }
      const id = this.#nextId++;
      this.#asked.set(id, { sentAt: performance.now(), resolve, reject });
      this.#socket?.send(JSON.stringify({ ...request, id }));
      this.#expectAnswer();
    });
    return reply as Promise<ReplyTo<Type>>;
  }

  async #hello() {
    const way = this.#way ?? remembered();
    try {
      await this.request({ type: 'hello', protocol: 1, label: deviceLabel(), ...way });
    } catch (error) {
      if (!(error instanceof RequestError) || error.code === 'lost') return;
      if (this.#way) {
        this.#way = null;
        this.#answerWish(errorText(error));
        this.#stay();
        return;
      }
      // What is remembered is no good: it is forgotten, so that the next hello is another.
      if (error.code === 'bad_name' || error.code === 'name_taken' || error.field === 'name') {
        setStored('name', null);
        void this.#hello();
        return;
      } else if (error.code === 'bad_field') {
        setStored('token', null);
      }
      if (error.code === 'unsupported_protocol') {
        this.#drop();
        this.#become({ state: 'broken', why: translate('link.version') });
      } else {
        this.#giveUp(errorText(error));
      }
    }
  }

  /** We are who we were, since we cannot be another. */
  #stay() {
    if (this.#isLoggedOut) {
      this.#drop();
      this.#become({ state: 'ended' });
    } else {
      // After a hello that was refused one may send another.
      void this.#hello();
    }
  }

  #answerWish(why: string | null) {
    this.#wished?.(why);
    this.#wished = null;
  }

  #welcomed(welcome: Welcome) {
    // Whom a proxy names is told no token, and may be somebody else here without the proxy.
    if (welcome.token !== '') {
      setStored('token', welcome.token);
      // A guest who never sat down may be forgotten, and then comes back under the same name.
      setStored('name', welcome.player.name);
    }
    this.welcome = translateWelcome(welcome);
    this.#failures = 0;
    this.#way = null;
    this.#isLoggedOut = false;
    this.#become({ state: 'open', isSlow: false });
    this.#answerWish(null);
    if (this.#isAlone) this.#lookout.start();
    this.#listener.onWelcome(welcome);
    this.#watchOver();
  }

  #hear(text: string) {
    this.#heardAt = performance.now();
    const message = read(text);
    const asked = 're' in message && message.re !== undefined ? this.#asked.get(message.re) : null;
    if (asked && 're' in message && message.re !== undefined) this.#asked.delete(message.re);
    if (this.status.state === 'open' && this.status.isSlow) {
      this.#become({ state: 'open', isSlow: false });
    }
    this.#expectAnswer();
    if (message.type === 'welcome') {
      this.#welcomed(message);
      asked?.resolve(message);
      return;
    }
    if (message.type === 'error' && asked) {
      asked.reject(new RequestError(message));
      return;
    }
    if (message.type === 'player') this.#called(message.player);
    this.#listener.onMessage(message);
    asked?.resolve(message);
  }

  /** We are called otherwise from now on. */
  #called(player: Player) {
    if (!this.usesProxyAuth) setStored('name', player.name);
    if (this.welcome) this.welcome = { ...this.welcome, player };
  }

  /** Asks from time to time whether the server is still there. */
  #watchOver() {
    clearTimeout(this.#timer);
    const silence = performance.now() - this.#heardAt;
    this.#timer = setTimeout(() => this.#probe(), Math.max(0, SILENCE_MS - silence));
  }

  /** Notices when the server falls silent while it owes an answer. */
  #expectAnswer() {
    clearTimeout(this.#impatience);
    const [oldest] = this.#asked.values();
    if (!oldest || this.status.state !== 'open' || this.status.isSlow) return;
    const silence = performance.now() - Math.max(oldest.sentAt, this.#heardAt);
    this.#impatience = setTimeout(
      () => {
        this.#become({ state: 'open', isSlow: true });
        void this.#probe(LAST_PATIENCE_MS);
      },
      Math.max(0, SLOW_MS - silence),
    );
  }

  async #probe(patience = PATIENCE_MS) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), patience);
    try {
      await this.request({ type: 'ping' });
      this.#watchOver();
    } catch (error) {
      // Refused is heard, too; lost is told by `onclose`.
      if (error instanceof RequestError && error.code !== 'lost') this.#watchOver();
    }
  }

  #closed(code: number) {
    this.#drop();
    // In another tab one plays on without the server, too.
    this.#isAlone &&= code === CLOSE_CODE_REPLACED;
    if (code === CLOSE_CODE_REPLACED) {
      this.#become({ state: 'replaced' });
    } else if (code === ENDED) {
      this.#logOut();
    } else if (OUR_FAULT.includes(code)) {
      this.#become({ state: 'broken', why: translate('link.closed', { code: String(code) }) });
    } else if (code === TOO_MANY_REQUESTS) {
      this.#waitFor(60_000, translate('link.flood'));
    } else {
      const why = translate(code === SERVER_FULL ? 'link.full' : 'link.lost');
      this.#wait(why);
    }
  }

  /** Our session was ended: what it was known by is good for nothing. */
  #logOut() {
    clearOfflineData();
    // Unless another tab has become somebody else meanwhile.
    if (getStored('token') === this.welcome?.token) {
      setStored('token', null);
      setStored('name', null);
    }
    this.#isLoggedOut = true;
    this.#become({ state: 'ended' });
  }

  #giveUp(why: string = translate('link.silent')) {
    this.#drop();
    this.#isAlone = false;
    this.#wait(why);
  }

  #wait(why: string) {
    const after = TRY_AFTER_MS[Math.min(this.#failures, TRY_AFTER_MS.length - 1)] ?? 0;
    this.#failures += 1;
    // Not everybody at the same instant, when a server comes back.
    this.#waitFor(after * (0.75 + Math.random() / 2), why);
  }

  #waitFor(after: number, why: string) {
    this.#become({ state: 'waiting', retryAt: performance.now() + after, why });
    this.#timer = setTimeout(() => this.connect(), after);
  }

  /** Lets go of the socket; what was asked over it is lost. */
  #drop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#impatience);
    this.#lookout.stop();
    const socket = this.#socket;
    this.#socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    const lost = [...this.#asked.values()];
    this.#asked.clear();
    const refusal = new RequestError({ code: 'lost', message: '' });
    for (const { reject } of lost) reject(refusal);
  }

  #become(link: ConnectionStatus) {
    this.status = link;
    this.#listener.onStatus(link);
  }
}

/** What the server calls whoever is forgotten: a word, and nobody's name. */
const SOMEONE = 'someone';

function read(text: string): Message {
  if (!text.includes(`"${SOMEONE}"`)) return JSON.parse(text);
  return JSON.parse(text, (_, value) => {
    if (value?.name !== SOMEONE) return value;
    // There is no account any more to which the name would lead.
    const { account: _account, ...person } = value;
    return { ...person, name: translate('people.someone') };
  });
}

/** Who this browser remembers to be. */
function remembered() {
  const token = getStored('token');
  const name = getStored('name');
  return { ...(name ? { name } : {}), ...(token ? { token } : {}) };
}
