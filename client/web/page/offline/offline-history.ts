// Stores the player's last matches in the browser, so that the player can view them offline.

import { firstToMove } from '../model/first-player.ts';
import { getStored, setStored } from '../ui/storage.ts';

import type { MatchEvent, Player, Snapshot } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** A finished match with its events. */
export interface StoredMatch {
  snapshot: Omit<Snapshot, 'said'>;
  events: MatchEvent[];
  ended_ms: number;
}

/** Maximum number of stored matches. The newest are stored. */
const MATCHES_MAX = 30;
/** Maximum length of a stored match as JSON. */
const LENGTH_MAX = 40_000;

/** Returns the stored matches, newest first. Invalid entries are skipped. */
export function loadOfflineHistory(): StoredMatch[] {
  try {
    const matches = JSON.parse(getStored('past') ?? '[]');
    return Array.isArray(matches) ? matches.filter(isStoredMatch).slice(0, MATCHES_MAX) : [];
  } catch {
    return [];
  }
}

const isStoredMatch = (value: any): value is StoredMatch =>
  ['match', 'code', 'game', 'position'].every(
    (name) => typeof value?.snapshot?.[name] === 'string',
  ) &&
  ['seats', 'moves', 'offers', 'legal'].every((name) => Array.isArray(value.snapshot[name])) &&
  value.snapshot.seats.length === 2 &&
  value.snapshot.seats.every((seat: any) => typeof seat?.occupant === 'string') &&
  Array.isArray(value.events) &&
  Number.isFinite(value.ended_ms);

/** Deletes the stored matches and offline games. */
export function clearOfflineData() {
  setStored('past', null);
  setStored('alone', null);
}

/** Sets the owner of the stored data. The data of another player is deleted. */
export function setOfflineHistoryOwner({ id, name }: Player) {
  const [ownerId, ...ownerName] = getStored('past-of')?.split(' ') ?? [];
  // A guest that the server has deleted returns with a new ID and the same unique name.
  const isSame = id === ownerId || name === ownerName.join(' ');
  if (!isSame) clearOfflineData();
  setStored('past-of', `${id} ${name}`);
}

/**
 * Stores a match that has ended, if the player had a seat in it and the page has all its positions.
 */
export function addToOfflineHistory(match: Match) {
  const { status, you, positions: all, ply, outcome } = match;
  if (status !== 'ended' || you === null || outcome?.reason === 'aborted') return;
  const positions = all.slice(0, ply + 1).filter((position) => position !== undefined);
  if (positions.length !== ply + 1) return;
  const stored = {
    ...{ snapshot: snapshotOf(match), events: eventsOf(match, positions) },
    ended_ms: Date.now(),
  };
  if (JSON.stringify(stored).length > LENGTH_MAX) return;
  const others = loadOfflineHistory().filter(({ snapshot }) => snapshot.match !== match.match);
  setStored('past', JSON.stringify([stored, ...others].slice(0, MATCHES_MAX)));
}

/** Removes the fields that only the page uses, and the chat. */
function snapshotOf({
  positions: _positions,
  clocksUpdatedAt: _clocksUpdatedAt,
  absences: _absences,
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

/** Rebuilds the events from the positions: the seats, the start, the moves and the end. */
function eventsOf(
  { match, start, seats, moves, outcome, seq }: Match,
  positions: string[],
): MatchEvent[] {
  const firstSeat = firstToMove({ start, seats });
  const events: any[] = [
    ...seats.map((occupant, seat) => ({ type: 'seated', seat, ...occupant })),
    { type: 'started', position: positions[0], ply: 0, turn: firstSeat, legal: [] },
    ...moves.map((move, ply) => ({
      ...{ type: 'moved', ply, next_ply: ply + 1, seat: (firstSeat + ply) % 2, move },
      ...{ position: positions[ply + 1], turn: null, legal: [] },
    })),
    { type: 'ended', outcome },
  ];
  // Takebacks are not rebuilt, so the events may be fewer than the last `seq`.
  const firstSeq = Math.max(1, seq - events.length + 1);
  return events.map((event, index) => ({ ...event, match, seq: firstSeq + index }));
}
