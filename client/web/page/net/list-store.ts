// The matches that others wait in or play: asked for once, and kept up with what the server tells.

import { RequestError } from './connection.ts';

import type { Connection } from './connection.ts';
import type { ListedMatch, ListChanged, Matches, Request } from './protocol.ts';

/** The stages of which there is a list. */
const STAGES = ['open', 'running'] as const;

export type ListStatus = (typeof STAGES)[number];
/** the first rows of a list, and how long it is */
export interface MatchList {
  rows: ListedMatch[];
  total: number;
}

/** So many of each are known; a longer list is asked for again when it changes … */
const KNOWN_MAX = 50;
/** … but no sooner than so long after the last time. */
const PAUSE_MS = 2500;
/** Not all who look ask in the same instant. */
const SPREAD_MS = 500;

export class ListStore {
  byStatus: Record<ListStatus, MatchList> = {
    open: { rows: [], total: 0 },
    running: { rows: [], total: 0 },
  };

  /** The stages of which it has been told. */
  loaded: Set<ListStatus> = new Set();

  setList(stage: ListStatus, { matches, total }: Pick<Matches, 'matches' | 'total'>) {
    this.loaded.add(stage);
    this.byStatus[stage] = { rows: matches, total };
  }

  /**
   * Takes in what has changed. Tells whether that could be done: of a list that is not known to its
   * end nobody knows where a match belongs.
   */
  applyChange({
    changed,
    gone,
    reset = undefined,
  }: Pick<ListChanged, 'changed' | 'gone' | 'reset'>) {
    const isWhole = STAGES.every((stage) => {
      const { rows, total } = this.byStatus[stage];
      return rows.length >= total;
    });
    if (reset || !isWhole) return false;
    for (const stage of STAGES) {
      const { rows } = this.byStatus[stage];
      const told = new Map(changed.map((row) => [row.match, row]));
      const stays = rows
        .map((row) => told.get(row.match) ?? row)
        .filter(({ match, status }) => status === stage && !gone.includes(match));
      const before = new Set(rows.map(({ match }) => match));
      const come = changed.filter(({ match, status }) => status === stage && !before.has(match));
      // The newest is told last, and stands first.
      const all = [...come.reverse(), ...stays];
      this.byStatus[stage] = { rows: all.slice(0, KNOWN_MAX), total: all.length };
    }
    return true;
  }
}

/** The lists, as long as somebody looks at them. */
export class ListSubscription {
  #connection;
  #seen;
  #lists = new ListStore();
  /** What is looked at; `null` for nothing. */
  #filter: { game?: string } | null = null;
  /** Whether what is told is about this filter. */
  #isTold = false;
  /** When it was asked last. */
  #askedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param seen there is something else to be seen */
  constructor(connection: Connection, seen: () => void) {
    this.#connection = connection;
    this.#seen = seen;
  }

  get byStatus() {
    return this.#lists.byStatus;
  }

  /** Whether the matches that are played have been told. */
  get isLoaded() {
    return this.#lists.loaded.has('running');
  }

  /** Watches these matches, and those alone. To be asked for anew with each connection. */
  async subscribe(filter: { game?: string }) {
    const wanted = { ...filter };
    this.#filter = wanted;
    this.#isTold = false;
    this.#rest();
    this.#askedAt = performance.now();
    // First watched, then listed: so nothing is missed between.
    const answer = await this.#ask({ type: 'watch_list', seekers: true, ...wanted });
    if (this.#filter !== wanted) return;
    this.#isTold = answer !== null;
    if (this.#isTold) await this.#list();
    else this.#again();
  }

  unsubscribe() {
    if (this.#filter) void this.#ask({ type: 'unwatch_list' });
    this.#filter = null;
    this.#isTold = false;
    this.#rest();
  }

  onListChanged(change: ListChanged) {
    // Until the server has answered, it tells of what was watched before.
    if (!this.#isTold) return;
    if (this.#lists.applyChange(change)) this.#seen();
    else this.#again();
  }

  async #list() {
    const filter = this.#filter;
    this.#askedAt = performance.now();
    await Promise.all(
      STAGES.map(async (status) => {
        const answer = await this.#ask({
          type: 'list',
          status,
          limit: KNOWN_MAX,
          ...filter,
        });
        if (this.#filter !== filter) return;
        if (!answer) return this.#again();
        this.#lists.setList(status, answer);
        this.#seen();
      }),
    );
  }

  /** Asks once more, in a moment. */
  #again() {
    if (this.#timer !== undefined) return;
    const pause = Math.max(0, this.#askedAt + PAUSE_MS - performance.now());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#isTold) void this.#list();
        else if (this.#filter) void this.subscribe(this.#filter);
      },
      pause + Math.random() * SPREAD_MS,
    );
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** `null` if it was refused, which passes. */
  async #ask<Type extends Request['type']>(request: Request & { type: Type }) {
    try {
      return await this.#connection.request<Type>(request);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return null;
    }
  }
}
