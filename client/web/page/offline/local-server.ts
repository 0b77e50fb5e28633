// What stands in for the server where none is reached: it speaks the protocol, and knows as much of it as one
// needs to play bots in small games and to look at one's past.

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
import type { OfflineGame } from './offline-games.ts';
import type { StoredMatch } from './offline-history.ts';

/** What is done with what happens here. */
export interface LocalServerCallbacks {
  send: (message: Message) => void;
  /** how a game stands that can be gone on with; `null` once it is over */
  saveGame: (id: string, played: OfflineGame | null) => void;
}

const LEVELS = ['beginner', 'easy', 'medium', 'hard', 'max'];
/** More matches than this are not played at once; of those that are over the oldest is forgotten. */
const TABLES_MAX = 16;

/** A request that is refused. */
class Refused extends Error {
  readonly told: object;

  constructor(code: string, message: string = code, more: object = {}) {
    super(message);
    this.told = { type: 'error', code, message, retryable: false, ...more };
  }
}

export class LocalServer {
  #engine;
  #does;
  /** What is known of past matches. */
  #kept: StoredMatch[];
  #name;
  #tables: Map<string, LocalMatch> = new Map();
  #games;
  #hasGreeted = false;

  constructor(
    engine: Engine,
    { name, kept, played }: { name: string; kept: StoredMatch[]; played: OfflineGame[] },
    does: LocalServerCallbacks,
  ) {
    this.#engine = engine;
    this.#does = does;
    this.#name = name;
    this.#kept = kept;
    this.#games = engine.games();
    // Those that were moved in last are the newest here, too.
    for (const before of played.toReversed()) this.#goOnWith(before);
  }

  #goOnWith(played: OfflineGame) {
    const game = this.#games.find(({ game }) => game === played.game);
    const areLevels = played.seats.every(
      (wish) => typeof wish !== 'object' || LEVELS.includes(wish.bot),
    );
    if (!game || !areLevels) return;
    const { moves, takebacks, ...terms } = played;
    const so = { ...terms, sides: game.sides, name: this.#name };
    try {
      const table = new LocalMatch(this.#engine, so, { moves, takebacks });
      if (!table.isOver) this.#begin(table);
    } catch {
      // Moves that the rules do not know are nobody's game.
    }
  }

  #tell(message: Message) {
    this.#does.send(message);
  }

  onRequest(request: Request) {
    const re = request.id;
    try {
      const answer = this.#answer(request);
      this.#tell({ ...answer, re } as Message);
      // What one plays is told right behind.
      if (request.type === 'hello') for (const table of this.#live()) this.#tell(table.snapshot());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#tell({ ...error.told, re } as any);
    }
  }

  #answer(request: Request): object {
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
        // One watches what is over, and sits where one sits.
        throw new Refused('already_seated');
      case 'resync':
        return this.#resync(request.match, request.since);
      case 'move':
        return this.#move(this.#tableOf(request.match), request);
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
        throw new Refused('alone');
    }
  }

  #welcome() {
    const resumed = this.#hasGreeted;
    this.#hasGreeted = true;
    const games: Game[] = this.#games.map((game) => ({ ...game, draws: false }));
    const levels: Level[] = LEVELS.map((level) => ({ level, title: level, rating: {} }));
    return {
      // A token that is empty is kept by nobody: one is who one was once the server is there again.
      ...{
        type: 'welcome',
        player: { id: LOCAL_PLAYER_ID, name: this.#name },
        token: '',
        session: LOCAL_PLAYER_ID,
      },
      ...{ resumed, games, levels, clocks: [], challenges: [], chat: 'off', analysis: 'off' },
      following: this.#live().map(({ options: { id }, you }) => ({ match: id, you })),
      limits: {
        ...{ live_matches: TABLES_MAX, abandon_after_ms: 0, idle_ms: 0, days_matches: 0 },
        bot_think_ms: 2000,
      },
    };
  }

  #live() {
    return [...this.#tables.values()].filter((table) => !table.isOver);
  }

  #create({
    game: wanted,
    seats,
    shuffle,
    takeback = true,
    pace_ms: pace = 0,
    position,
  }: RequestOf<'create'>) {
    const game = this.#games.find(({ game }) => game === wanted);
    if (!game) throw new Refused('unknown_game');
    const [first, second] = seats ?? [];
    const areBots = [first, second].filter((wish) => typeof wish === 'object').length;
    // Somebody else does not come here.
    if (!first || !second || areBots === 0 || position !== undefined) throw new Refused('alone');
    if (first === 'open' || second === 'open') throw new Refused('alone');
    this.#makeRoom();
    const isSwapped = shuffle === true && Math.random() < 0.5;
    const table = this.#open({
      ...{ game: game.game, sides: game.sides, name: this.#name, takeback, pace },
      seats: isSwapped ? [second, first] : [first, second],
    });
    return table.snapshot();
  }

  #open(terms: Omit<import('./local-match.ts').LocalMatchOptions, 'id' | 'seed'>) {
    // Nobody else has had it, in whatever tab.
    const id = `${LOCAL_PLAYER_ID}-${random().toString(36)}`;
    const table = new LocalMatch(this.#engine, { ...terms, id, seed: random() });
    this.#begin(table);
    this.#keep(table);
    return table;
  }

  #begin(table: LocalMatch) {
    this.#tables.set(table.options.id, table);
    this.#goOn(table);
  }

  /** Has it kept as it stands: what two bots play is watched and gone. */
  #keep(table: LocalMatch) {
    if (table.you !== null)
      this.#does.saveGame(table.options.id, table.isOver ? null : table.toOfflineGame());
  }

  #makeRoom() {
    if (this.#tables.size < TABLES_MAX) return;
    const over = [...this.#tables.values()].find((table) => table.isOver);
    if (!over) throw new Refused('overloaded');
    this.#tables.delete(over.options.id);
  }

  /** Has a bot move, where it is its turn. */
  #goOn(table: LocalMatch) {
    if (table.botToMove === null) return;
    const { ply } = table;
    setTimeout(() => {
      // Taken back, or given up, meanwhile.
      if (table.botToMove === null || table.ply !== ply || this.#isGone(table)) return;
      this.#telling(table, () => table.playBotMove());
      this.#goOn(table);
    }, table.options.pace);
  }

  #isGone = (table: LocalMatch) => this.#tables.get(table.options.id) !== table;

  /** Tells what comes of it. */
  #telling(table: LocalMatch, act: () => void) {
    const before = table.events.length;
    act();
    const events = table.events.slice(before);
    // Kept before it is told, as on a server.
    this.#keep(table);
    for (const event of events) this.#tell(event);
    return events[0]?.seq;
  }

  #move(table: LocalMatch, { ply, move }: RequestOf<'move'>) {
    if (table.isOver) throw new Refused('match_ended');
    if (ply !== table.ply) throw new Refused('stale_ply', 'stale_ply', { expected: table.ply });
    if (table.turn !== table.you) throw new Refused('not_your_turn');
    const seq = this.#telling(table, () => {
      try {
        table.play(move);
      } catch (error) {
        throw new Refused('illegal_move', error instanceof Error ? error.message : '');
      }
    });
    this.#goOn(table);
    return { type: 'ok', seq };
  }

  /** Gives up what is being played. */
  #leave(id: string) {
    const table = this.#playedAt(id);
    if (table && !table.isOver && table.you !== null) {
      const { you } = table;
      this.#telling(table, () => table.end({ winner: 1 - you, reason: 'resignation', by: you }));
    } else if (table?.you === null) {
      this.#tables.delete(id);
    }
    return { type: 'ok' };
  }

  #offer(request: RequestOf<'offer'>) {
    const table = this.#tableOf(request.match);
    const { you } = table;
    if (request.offer === 'draw' || you === null) throw new Refused('alone');
    if (request.offer === 'rematch') return this.#again(table);
    if (table.isOver) throw new Refused('match_ended');
    if (request.ply !== table.ply) throw new Refused('stale_ply', '', { expected: table.ply });
    if (!table.options.takeback) throw new Refused('not_allowed');
    // Back to one's own last move.
    const to = request.to_ply ?? table.ply - (table.turn === you ? 2 : 1);
    if (to < 0) throw new Refused('nothing_offered');
    const seq = this.#telling(table, () => table.takeBack(to));
    this.#goOn(table);
    return { type: 'ok', seq };
  }

  #again(table: LocalMatch) {
    if (!table.isOver) throw new Refused('match_running');
    if (table.next) return { type: 'ok' };
    this.#makeRoom();
    const { seats, seed: _seed, ...terms } = table.options;
    const [first, second] = seats;
    const series = table.nextSeries();
    const next = this.#open({
      ...terms,
      seats: [second, first],
      series,
      previous: table.options.id,
    });
    const { id } = next.options;
    table.next = { match: id, code: id };
    this.#tell({ type: 'rematch', match: table.options.id, ...table.rematchState() });
    this.#tell(next.snapshot());
    return { type: 'ok' };
  }

  #tableOf(id: string) {
    const table = this.#playedAt(id);
    if (!table) throw new Refused(this.#keptOf(id) ? 'match_ended' : 'alone');
    return table;
  }

  /** However an address spells it. */
  #playedAt(id: string) {
    return this.#tables.get(id.toLowerCase());
  }

  #keptOf(id: string): StoredMatch | undefined {
    const isIt = ({ match, code }: StoredMatch['snapshot']) =>
      id === code || id.toLowerCase() === match;
    return this.#kept.find(({ snapshot }) => isIt(snapshot));
  }

  #snapshotOf(id: string): Snapshot {
    const table = this.#playedAt(id);
    if (table) return table.snapshot();
    const kept = this.#keptOf(id);
    if (!kept) throw new Refused('alone');
    return { ...kept.snapshot, said: [] };
  }

  #resync(match: string, since: number) {
    const all: MatchEvent[] | undefined =
      this.#playedAt(match)?.events ?? this.#keptOf(match)?.events;
    if (!all) throw new Refused('alone');
    return { type: 'events', match, events: all.filter(({ seq }) => seq > since) };
  }

  #history({ game, result, before, limit = 20, with: other, player }: RequestOf<'history'>) {
    if (other !== undefined || player !== undefined) throw new Refused('alone');
    const rows = [...this.#ended()].sort((one, next) => next.ended_ms - one.ended_ms);
    const wanted = rows.filter(
      (row) => (game ?? row.game) === row.game && (result ?? resultOf(row)) === resultOf(row),
    );
    const from = before === undefined ? 0 : wanted.findIndex(({ match }) => match === before) + 1;
    const shown = wanted.slice(from, from + limit);
    return { type: 'history', rows: shown, more: wanted.length > from + limit };
  }

  #ended(): HistoryRow[] {
    const here = [...this.#tables.values()].filter(({ isOver, you }) => isOver && you !== null);
    const rows = here.map((table) => rowOf(table.snapshot(), table.endedAt));
    const before = this.#kept.filter(({ snapshot }) => !this.#tables.has(snapshot.match));
    return [...rows, ...before.map(({ snapshot, ended_ms }) => rowOf(snapshot, ended_ms))];
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
