// One's last matches, kept in this browser: they can be looked at again where no server is reached.

import { firstToMove } from '../model/first-player.ts';
import { getStored, setStored } from '../ui/storage.ts';

import type { MatchEvent, Player, Snapshot } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** A match that is over: how it stood, and what happened. */
export interface StoredMatch {
  snapshot: Omit<Snapshot, 'said'>;
  events: MatchEvent[];
  ended_ms: number;
}

/** So many are kept, the newest, and none that takes more room than this. */
const KEPT_MAX = 30;
const LENGTH_MAX = 40_000;

/** Those that are kept, the newest first. What somebody else has written there is left out. */
export function loadOfflineHistory(): StoredMatch[] {
  try {
    const kept = JSON.parse(getStored('past') ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKept).slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

const isKept = (kept: any): kept is StoredMatch =>
  ['match', 'code', 'game', 'position'].every(
    (name) => typeof kept?.snapshot?.[name] === 'string',
  ) &&
  ['seats', 'moves', 'offers', 'legal'].every((name) => Array.isArray(kept.snapshot[name])) &&
  kept.snapshot.seats.length === 2 &&
  kept.snapshot.seats.every((seat: any) => typeof seat?.occupant === 'string') &&
  Array.isArray(kept.events) &&
  Number.isFinite(kept.ended_ms);

/** Forgets them all, and what is played without a server. */
export function clearOfflineData() {
  setStored('past', null);
  setStored('alone', null);
}

/** This is whose past is kept from now on: nobody else's is. */
export function setOfflineHistoryOwner({ id, name }: Player) {
  const [knownId, ...knownName] = getStored('past-of')?.split(' ') ?? [];
  // A guest of whom the server knows nothing any more comes back under the same name, which nobody else has.
  const isSame = id === knownId || name === knownName.join(' ');
  if (!isSame) clearOfflineData();
  setStored('past-of', `${id} ${name}`);
}

/** Keeps a match that has just ended, if one sat in it and knows every position of it. */
export function addToOfflineHistory(match: Match) {
  const { status, you, positions: past, ply, outcome } = match;
  if (status !== 'ended' || you === null || outcome?.reason === 'aborted') return;
  const positions = past.slice(0, ply + 1).filter((position) => position !== undefined);
  if (positions.length !== ply + 1) return;
  const kept = { snapshot: told(match), events: eventsOf(match, positions), ended_ms: Date.now() };
  if (JSON.stringify(kept).length > LENGTH_MAX) return;
  const others = loadOfflineHistory().filter(({ snapshot }) => snapshot.match !== match.match);
  setStored('past', JSON.stringify([kept, ...others].slice(0, KEPT_MAX)));
}

/** The match as a server tells it. */
function told({
  positions: _past,
  clocksUpdatedAt: _toldAt,
  absences: _gone,
  said: _said,
  ...snapshot
}: Match): StoredMatch['snapshot'] {
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
