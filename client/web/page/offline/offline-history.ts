// One's last matches, kept in this browser: they can be looked at again where no server is reached.

import { firstToMove } from '../model/first-player.ts';
import { recall, remember } from '../ui/storage.ts';

import type { MatchEvent, Player, Snapshot } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** A match that is over: how it stood, and what happened. */
export interface Kept {
  snapshot: Omit<Snapshot, 'said'>;
  events: MatchEvent[];
  ended_ms: number;
}

/** So many are kept, the newest, and none that takes more room than this. */
const KEPT_MAX = 30;
const LENGTH_MAX = 40_000;

/** Those that are kept, the newest first. What somebody else has written there is left out. */
export function keptPast(): Kept[] {
  try {
    const kept = JSON.parse(recall('past') ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKept).slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

const isKept = (kept: any): kept is Kept =>
  ['match', 'code', 'game', 'position'].every(
    (name) => typeof kept?.snapshot?.[name] === 'string',
  ) &&
  ['seats', 'moves', 'offers', 'legal'].every((name) => Array.isArray(kept.snapshot[name])) &&
  kept.snapshot.seats.length === 2 &&
  kept.snapshot.seats.every((seat: any) => typeof seat?.occupant === 'string') &&
  Array.isArray(kept.events) &&
  Number.isFinite(kept.ended_ms);

/** Forgets them all, and what is played without a server. */
export function forgetPast() {
  remember('past', null);
  remember('alone', null);
}

/** This is whose past is kept from now on: nobody else's is. */
export function pastIsOf({ id, name }: Player) {
  const [knownId, ...knownName] = recall('past-of')?.split(' ') ?? [];
  // A guest of whom the server knows nothing any more comes back under the same name, which nobody else has.
  const isSame = id === knownId || name === knownName.join(' ');
  if (!isSame) forgetPast();
  remember('past-of', `${id} ${name}`);
}

/** Keeps a match that has just ended, if one sat in it and knows every position of it. */
export function keepPast(match: Match) {
  const { status, you, past, ply, outcome } = match;
  if (status !== 'ended' || you === null || outcome?.reason === 'aborted') return;
  const positions = past.slice(0, ply + 1).filter((position) => position !== undefined);
  if (positions.length !== ply + 1) return;
  const kept = { snapshot: told(match), events: eventsOf(match, positions), ended_ms: Date.now() };
  if (JSON.stringify(kept).length > LENGTH_MAX) return;
  const others = keptPast().filter(({ snapshot }) => snapshot.match !== match.match);
  remember('past', JSON.stringify([kept, ...others].slice(0, KEPT_MAX)));
}

/** The match as a server tells it. */
function told({
  past: _past,
  toldAt: _toldAt,
  gone: _gone,
  said: _said,
  ...snapshot
}: Match): Kept['snapshot'] {
  const rematch = {
    offers: [false, false],
    declined: [false, false],
    here: [false, false],
    next: null,
  };
  return { ...snapshot, rematch: rematch as Snapshot['rematch'] };
}

/** What happened in it, as far as one looks at it again: how it began, its moves, and how it ended. */
function eventsOf(
  { match, start, seats, moves, outcome, seq }: Match,
  positions: string[],
): MatchEvent[] {
  const first = firstToMove({ start, seats });
  const events: any[] = [
    ...seats.map((occupant, seat) => ({ type: 'seated', seat, ...occupant })),
    { type: 'started', position: positions[0], ply: 0, turn: first, legal: [] },
    ...moves.map((move, ply) => ({
      ...{ type: 'moved', ply, next_ply: ply + 1, seat: (first + ply) % 2, move },
      ...{ position: positions[ply + 1], turn: null, legal: [] },
    })),
    { type: 'ended', outcome },
  ];
  // What was taken back is not kept, so there may be fewer than there were.
  const from = Math.max(1, seq - events.length + 1);
  return events.map((event, at) => ({ ...event, match, seq: from + at }));
}
