// The lists of open and running matches: requested once, then updated by the server's changes.

import { RequestError } from './connection.ts';

import type { Connection } from './connection.ts';
import type { ListedMatch, ListChanged, Matches, Request } from './protocol.ts';

const STATUSES = ['open', 'running'] as const;

export type ListStatus = (typeof STATUSES)[number];
/** The first rows of a list, and the number of all rows. */
export interface MatchList {
  rows: ListedMatch[];
  total: number;
}

/** Maximum number of rows in each list. A longer list is requested again when it changes … */
const ROWS_MAX = 50;
/** … after at least this time since the last request. */
const REQUEST_INTERVAL_MS = 2500;
/** The requests of all clients are spread over this time. */
const SPREAD_MS = 500;

export class ListStore {
  byStatus: Record<ListStatus, MatchList> = {
    open: { rows: [], total: 0 },
    running: { rows: [], total: 0 },
  };

  /** The lists that the server has sent. */
  loaded: Set<ListStatus> = new Set();

  setList(stage: ListStatus, { matches, total }: Pick<Matches, 'matches' | 'total'>) {
    this.loaded.add(stage);
    this.byStatus[stage] = { rows: matches, total };
  }

  /**
   * Applies a change. Returns `false` if a list is incomplete, because the place of a changed match
   * in it is unknown.
   */
  applyChange({
    changed,
    gone,
    reset = undefined,
  }: Pick<ListChanged, 'changed' | 'gone' | 'reset'>) {
    const isComplete = STATUSES.every((stage) => {
      const { rows, total } = this.byStatus[stage];
      return rows.length >= total;
    });
    if (reset || !isComplete) return false;
    for (const stage of STATUSES) {
      const { rows } = this.byStatus[stage];
      const changes = new Map(changed.map((row) => [row.match, row]));
      const remaining = rows
        .map((row) => changes.get(row.match) ?? row)
        .filter(({ match, status }) => status === stage && !gone.includes(match));
      const before = new Set(rows.map(({ match }) => match));
      const added = changed.filter(({ match, status }) => status === stage && !before.has(match));
      // The server sends the newest match last. The list shows it first.
      const all = [...added.reverse(), ...remaining];
      this.byStatus[stage] = { rows: all.slice(0, ROWS_MAX), total: all.length };
    }
    return true;
  }
}

/** Keeps the lists up to date while a view shows them. */
export class ListSubscription {
  #connection;
  #onUpdate;
  #lists = new ListStore();
  /** Filter of the subscription; `null` if there is none. */
  #filter: { game?: string } | null = null;
  /** Whether the server has confirmed this filter. */
  #isSubscribed = false;
  #requestedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Connection, onUpdate: () => void) {
    this.#connection = connection;
    this.#onUpdate = onUpdate;
  }

  get byStatus() {
    return this.#lists.byStatus;
  }

  get isLoaded() {
    return this.#lists.loaded.has('running');
  }

  /** Replaces the subscription. Each new connection requires another call. */
  async subscribe(filter: { game?: string }) {
    const requested = { ...filter };
    this.#filter = requested;
    this.#isSubscribed = false;
    this.#clearTimer();
    this.#requestedAt = performance.now();
    // The list is requested after the subscription, so that no change is missed between them.
    const reply = await this.#request({ type: 'watch_list', seekers: true, ...requested });
    if (this.#filter !== requested) return;
    this.#isSubscribed = reply !== null;
    if (this.#isSubscribed) await this.#fetch();
    else this.#retry();
  }

  unsubscribe() {
    if (this.#filter) void this.#request({ type: 'unwatch_list' });
    this.#filter = null;
    this.#isSubscribed = false;
    this.#clearTimer();
  }

  onListChanged(change: ListChanged) {
    // Until the server confirms the filter, its changes are those of the previous one.
    if (!this.#isSubscribed) return;
    if (this.#lists.applyChange(change)) this.#onUpdate();
    else this.#retry();
  }

  async #fetch() {
    const filter = this.#filter;
    this.#requestedAt = performance.now();
    await Promise.all(
      STATUSES.map(async (status) => {
        const reply = await this.#request({
          type: 'list',
          status,
          limit: ROWS_MAX,
          ...filter,
        });
        if (this.#filter !== filter) return;
        if (!reply) return this.#retry();
        this.#lists.setList(status, reply);
        this.#onUpdate();
      }),
    );
  }

  /** Schedules another request. */
  #retry() {
    if (this.#timer !== undefined) return;
    const delay = Math.max(0, this.#requestedAt + REQUEST_INTERVAL_MS - performance.now());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#isSubscribed) void this.#fetch();
        else if (this.#filter) void this.subscribe(this.#filter);
      },
      delay + Math.random() * SPREAD_MS,
    );
  }

  #clearTimer() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Returns `null` if the server refuses. */
  async #request<Type extends Request['type']>(request: Request & { type: Type }) {
    try {
      return await this.#connection.request<Type>(request);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return null;
    }
  }
}
