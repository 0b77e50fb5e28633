// Replaces the server when it cannot be reached. It supports the part of the protocol that matches
// against bots and the match history need.

import { LOCAL_PLAYER_ID, LocalMatch } from './local-match.ts';

import type {
  Game,
  HistoryRow,
  Level,
  MatchEvent,
  Message,
  Request,
  RequestOf,
  Snapshot,
} from '../net/protocol.ts';
import type { Engine } from './engine.ts';
import type { LocalMatchOptions } from './local-match.ts';
import type { OfflineGame } from './offline-games.ts';
import type { StoredMatch } from './offline-history.ts';

export interface LocalServerCallbacks {
  send: (message: Message) => void;
  /** stores a running game; `null` removes it */
  saveGame: (id: string, game: OfflineGame | null) => void;
}

const LEVELS = ['beginner', 'easy', 'medium', 'hard', 'max'];
/** Maximum number of matches. At the limit, a new match replaces the oldest finished one. */
const MATCHES_MAX = 16;

/** Failure of a request, which is sent as an `error` message. */
class RequestError extends Error {
  readonly reply: object;

  constructor(code: string, message = code, more: object = {}) {
    super(message);
    this.reply = { type: 'error', code, message, retryable: false, ...more };
  }
}

export class LocalServer {
  #engine;
  #callbacks;
  /** Finished matches that the browser has stored. */
  #storedMatches: StoredMatch[];
  #name;
  #matches: Map<string, LocalMatch> = new Map();
  #games;
  #hasWelcomed = false;

  constructor(
    engine: Engine,
    { name, history, games }: { name: string; history: StoredMatch[]; games: OfflineGame[] },
    callbacks: LocalServerCallbacks,
  ) {
    this.#engine = engine;
    this.#callbacks = callbacks;
    this.#name = name;
    this.#storedMatches = history;
    this.#games = engine.games();
    // The stored games begin with the newest; the map ends with it.
    for (const game of games.toReversed()) this.#resume(game);
  }

  #resume(stored: OfflineGame) {
    const game = this.#games.find(({ game }) => game === stored.game);
    const areLevelsKnown = stored.seats.every(
      (seat) => typeof seat !== 'object' || LEVELS.includes(seat.bot),
    );
    if (!game || !areLevelsKnown) return;
    const { moves, takebacks, ...rest } = stored;
    const options = { ...rest, sides: game.sides, name: this.#name };
    try {
      const match = new LocalMatch(this.#engine, options, { moves, takebacks });
      if (!match.isOver) this.#add(match);
    } catch {
      // A stored game with an illegal move is skipped.
    }
  }

  #send(message: Message) {
    this.#callbacks.send(message);
  }

  onRequest(request: Request) {
    const re = request.id;
    try {
      const reply = this.#reply(request);
      this.#send({ ...reply, re } as Message);
      // The snapshots of the running matches follow the `welcome`.
      if (request.type === 'hello')
        for (const match of this.#runningMatches()) this.#send(match.snapshot());
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#send({ ...error.reply, re } as any);
    }
  }

  #reply(request: Request): object {
    switch (request.type) {
      case 'hello':
        return this.#welcome();
      case 'ping':
        return { type: 'pong' };
      case 'create':
        return this.#create(request);
      case 'watch':
        return this.#snapshotOf(request.match);
      case 'join':
        this.#snapshotOf(request.match);
        // No match has an open seat.
        throw new RequestError('already_seated');
      case 'resync':
        return this.#resync(request.match, request.since);
      case 'move':
        return this.#move(this.#matchOf(request.match), request);
      case 'leave':
      case 'resign':
      case 'abort':
        return this.#leave(request.match);
      case 'offer':
        return this.#offer(request);
      case 'history':
        return this.#history(request);
      case 'list':
      case 'watch_list':
        return { type: 'matches', total: 0, matches: [] };
      case 'unwatch_list':
      case 'unseek':
        return { type: 'ok' };
      default:
        throw new RequestError('alone');
    }
  }

  #welcome() {
    const resumed = this.#hasWelcomed;
    this.#hasWelcomed = true;
    const games: Game[] = this.#games.map((game) => ({ ...game, draws: false }));
    const levels: Level[] = LEVELS.map((level) => ({ level, title: level, rating: {} }));
    return {
      // The page does not store an empty token, so that the session on the server can be resumed.
      ...{
        type: 'welcome',
        player: { id: LOCAL_PLAYER_ID, name: this.#name },
        token: '',
        session: LOCAL_PLAYER_ID,
      },
      ...{ resumed, games, levels, clocks: [], challenges: [], chat: 'off', analysis: 'off' },
      following: this.#runningMatches().map(({ options: { id }, you }) => ({ match: id, you })),
      limits: {
        ...{ live_matches: MATCHES_MAX, abandon_after_ms: 0, idle_ms: 0, days_matches: 0 },
        bot_think_ms: 2000,
      },
    };
  }

  #runningMatches() {
    return [...this.#matches.values()].filter((match) => !match.isOver);
  }

  #create({
    game: name,
    seats,
    shuffle,
    takeback = true,
    pace_ms: pace = 0,
    position,
  }: RequestOf<'create'>) {
    const game = this.#games.find(({ game }) => game === name);
    if (!game) throw new RequestError('unknown_game');
    const [first, second] = seats ?? [];
    const hasBot = [first, second].some((seat) => typeof seat === 'object');
    // No other player can join, and the engine cannot start from a position.
    if (!first || !second || !hasBot || position !== undefined) throw new RequestError('alone');
    if (first === 'open' || second === 'open') throw new RequestError('alone');
    this.#ensureCapacity();
    const isSwapped = shuffle === true && Math.random() < 0.5;
    const match = this.#open({
      ...{ game: game.game, sides: game.sides, name: this.#name, takeback, pace },
      seats: isSwapped ? [second, first] : [first, second],
    });
    return match.snapshot();
  }

  #open(options: Omit<LocalMatchOptions, 'id' | 'seed'>) {
    // Random, so that IDs of several tabs do not collide.
    const id = `${LOCAL_PLAYER_ID}-${random().toString(36)}`;
    const match = new LocalMatch(this.#engine, { ...options, id, seed: random() });
    this.#add(match);
    this.#save(match);
    return match;
  }

  #add(match: LocalMatch) {
    this.#matches.set(match.options.id, match);
    this.#scheduleBotMove(match);
  }

  /** Stores the match, unless two bots play it. */
  #save(match: LocalMatch) {
    if (match.you !== null)
      this.#callbacks.saveGame(match.options.id, match.isOver ? null : match.toOfflineGame());
  }

  #ensureCapacity() {
    if (this.#matches.size < MATCHES_MAX) return;
    const finished = [...this.#matches.values()].find((match) => match.isOver);
    if (!finished) throw new RequestError('overloaded');
    this.#matches.delete(finished.options.id);
  }

  /** Schedules the move of a bot, if it is the turn of one. */
  #scheduleBotMove(match: LocalMatch) {
    if (match.botToMove === null) return;
    const { ply } = match;
    setTimeout(() => {
      // A takeback or the end of the match cancels the move.
      if (match.botToMove === null || match.ply !== ply || this.#isRemoved(match)) return;
      this.#update(match, () => match.playBotMove());
      this.#scheduleBotMove(match);
    }, match.options.pace);
  }

  #isRemoved = (match: LocalMatch) => this.#matches.get(match.options.id) !== match;

  /** Changes the match and sends the resulting events. Returns the number of the first event. */
  #update(match: LocalMatch, change: () => void) {
    const count = match.events.length;
    change();
    const events = match.events.slice(count);
    // As on the server, the match is stored before the events are sent.
    this.#save(match);
    for (const event of events) this.#send(event);
    return events[0]?.seq;
  }

  #move(match: LocalMatch, { ply, move }: RequestOf<'move'>) {
    if (match.isOver) throw new RequestError('match_ended');
    if (ply !== match.ply)
      throw new RequestError('stale_ply', 'stale_ply', { expected: match.ply });
    if (match.turn !== match.you) throw new RequestError('not_your_turn');
    const seq = this.#update(match, () => {
      try {
        match.play(move);
      } catch (error) {
        throw new RequestError('illegal_move', error instanceof Error ? error.message : '');
      }
    });
    this.#scheduleBotMove(match);
    return { type: 'ok', seq };
  }

  /** Resigns a running match. A match of two bots is removed. */
  #leave(id: string) {
    const match = this.#findMatch(id);
    if (match && !match.isOver && match.you !== null) {
      const { you } = match;
      this.#update(match, () => match.end({ winner: 1 - you, reason: 'resignation', by: you }));
    } else if (match?.you === null) {
      this.#matches.delete(id);
    }
    return { type: 'ok' };
  }

  #offer(request: RequestOf<'offer'>) {
    const match = this.#matchOf(request.match);
    const { you } = match;
    if (request.offer === 'draw' || you === null) throw new RequestError('alone');
    if (request.offer === 'rematch') return this.#rematch(match);
    if (match.isOver) throw new RequestError('match_ended');
    if (request.ply !== match.ply) throw new RequestError('stale_ply', '', { expected: match.ply });
    if (!match.options.takeback) throw new RequestError('not_allowed');
    // By default, to before the player's last move.
    const to = request.to_ply ?? match.ply - (match.turn === you ? 2 : 1);
    if (to < 0) throw new RequestError('nothing_offered');
    const seq = this.#update(match, () => match.takeBack(to));
    this.#scheduleBotMove(match);
    return { type: 'ok', seq };
  }

  #rematch(match: LocalMatch) {
    if (!match.isOver) throw new RequestError('match_running');
    if (match.next) return { type: 'ok' };
    this.#ensureCapacity();
    const { seats, seed: _seed, ...options } = match.options;
    const [first, second] = seats;
    const series = match.nextSeries();
    const next = this.#open({
      ...options,
      seats: [second, first],
      series,
      previous: match.options.id,
    });
    const { id } = next.options;
    match.next = { match: id, code: id };
    this.#send({ type: 'rematch', match: match.options.id, ...match.rematchState() });
    this.#send(next.snapshot());
    return { type: 'ok' };
  }

  #matchOf(id: string) {
    const match = this.#findMatch(id);
    if (!match) throw new RequestError(this.#storedMatch(id) ? 'match_ended' : 'alone');
    return match;
  }

  /** IDs are case-insensitive, because players may type the address. */
  #findMatch(id: string) {
    return this.#matches.get(id.toLowerCase());
  }

  #storedMatch(id: string): StoredMatch | undefined {
    const hasId = ({ match, code }: StoredMatch['snapshot']) =>
      id === code || id.toLowerCase() === match;
    return this.#storedMatches.find(({ snapshot }) => hasId(snapshot));
  }

  #snapshotOf(id: string): Snapshot {
    const match = this.#findMatch(id);
    if (match) return match.snapshot();
    const stored = this.#storedMatch(id);
    if (!stored) throw new RequestError('alone');
    return { ...stored.snapshot, said: [] };
  }

  #resync(match: string, since: number) {
    const events: MatchEvent[] | undefined =
      this.#findMatch(match)?.events ?? this.#storedMatch(match)?.events;
    if (!events) throw new RequestError('alone');
    return { type: 'events', match, events: events.filter(({ seq }) => seq > since) };
  }

  #history({ game, result, before, limit = 20, with: other, player }: RequestOf<'history'>) {
    if (other !== undefined || player !== undefined) throw new RequestError('alone');
    const rows = this.#finishedMatches().sort((a, b) => b.ended_ms - a.ended_ms);
    const matching = rows.filter(
      (row) => (game ?? row.game) === row.game && (result ?? resultOf(row)) === resultOf(row),
    );
    const from = before === undefined ? 0 : matching.findIndex(({ match }) => match === before) + 1;
    const page = matching.slice(from, from + limit);
    return { type: 'history', rows: page, more: matching.length > from + limit };
  }

  #finishedMatches(): HistoryRow[] {
    const played = [...this.#matches.values()].filter(({ isOver, you }) => isOver && you !== null);
    const rows = played.map((match) => rowOf(match.snapshot(), match.endedAt));
    const stored = this.#storedMatches.filter(({ snapshot }) => !this.#matches.has(snapshot.match));
    return [...rows, ...stored.map(({ snapshot, ended_ms }) => rowOf(snapshot, ended_ms))];
  }
}

const random = () => Math.floor(Math.random() * 2 ** 32);

function rowOf(
  { match, code, game, seats, outcome, ply, clock, rated, you }: StoredMatch['snapshot'],
  ended_ms: number,
): HistoryRow {
  return {
    ...{ match, code, game, seats, plies: ply, rated: rated === true, you: you ?? 0, ended_ms },
    ...(clock ? { clock } : {}),
    outcome: outcome ?? { winner: null, reason: 'aborted' },
  };
}

function resultOf({ outcome: { winner, reason }, you }: HistoryRow) {
  if (reason === 'aborted') return 'none';
  if (winner === null) return 'drawn';
  return winner === you ? 'won' : 'lost';
}
