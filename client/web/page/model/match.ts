// A match as this page knows it: a fold of the snapshot and of the events after it, as on the
// server. Nothing here changes a match; everything gives another.

import { firstToMove } from './first-player.ts';

import type {
  ClockUpdate,
  MatchEvent,
  Occupant,
  Outcome,
  Presence,
  RematchState,
  Seat,
  Snapshot,
  OfferState,
} from '../net/protocol.ts';

/**
 * A match, and what can be known of its past: `past[n]` is the position after `n` moves, where we
 * have been told it. `toldAt` is when, by `performance.now()`, we were told how its clocks stand, and
 * `gone` who is gone: since when, as far as we know, and until when that is borne, where we were told.
 * `unrated` is why a match that was played for ratings changes none.
 * `checkedAtStart` is whether it began with a check.
 */
export type Match = Snapshot & {
  positions: (string | undefined)[];
  clocksUpdatedAt: number;
  absences: (Absence | null)[];
  unrated?: string;
  checkedAtStart: boolean;
};
export interface Absence {
  since: number;
  until: number | null;
}

/**
 * @param now by `performance.now()`
 * @param before what was known of the same match
 */
export function fromSnapshot(snapshot: Snapshot, now: number, before?: Match): Match {
  const past = before?.positions.slice(0, snapshot.ply + 1) ?? [];
  // Before the start there may be no position worth keeping.
  if (snapshot.status !== 'open') past[snapshot.ply] = snapshot.position;
  const gone = snapshot.seats.map((seat, number) =>
    isAbsent(seat) ? (before?.absences[number] ?? { since: now, until: null }) : null,
  );
  const checkedAtStart =
    snapshot.ply === 0 ? snapshot.check === true : (before?.checkedAtStart ?? false);
  return { ...snapshot, positions: past, clocksUpdatedAt: now, absences: gone, checkedAtStart };
}

/**
 * The match after an event; `null` if events between are missing.
 * @param now by `performance.now()`
 */
export function applyEvent(match: Match, event: MatchEvent, now: number): Match | null {
  if (event.seq <= match.seq) return match;
  if (event.seq > match.seq + 1) return null;
  const next = { ...match, seq: event.seq };
  switch (event.type) {
    case 'seated': {
      const offers = match.offers.filter(({ seat }) => seat !== event.seat);
      // A bot that stands in for us has our seat.
      const you = event.seat === match.you && event.occupant !== 'player' ? null : match.you;
      return { ...next, you, seats: seated(match, event.seat, event), offers };
    }
    case 'started': {
      const { position, ply, turn, legal, patience_ms } = event;
      const told = { position, ply, turn, legal, patience_ms, ...turnBegins(event, now) };
      const checkedAtStart = event.check === true;
      return { ...next, status: 'running', ...told, positions: [position], checkedAtStart };
    }
    case 'moved': {
      const { position, turn, legal } = event;
      const moves = [...match.moves.slice(0, event.ply), event.move];
      const san = match.san && [...match.san.slice(0, event.ply), event.san ?? event.move];
      const past = [...match.positions];
      past[moves.length] = position;
      // A draw's offer ends by a move of the other seat, a takeback's by any.
      const offers = match.offers.filter(
        ({ seat, offer }) => offer === 'draw' && seat === event.seat,
      );
      const told = { position, turn, legal, offers, ...turnBegins(event, now) };
      return { ...next, ...told, moves, san, positions: past, ply: moves.length };
    }
    case 'offered': {
      const { seat, offer, ply, to_ply } = event;
      return { ...next, offers: [...without(match, event), { seat, offer, ply, to_ply }] };
    }
    case 'declined':
      return { ...next, offers: without(match, event) };
    case 'taken_back': {
      const { ply, position, turn, legal, takebacks } = event;
      const past = match.positions.slice(0, ply + 1);
      past[ply] = position;
      const told = { ply, position, turn, legal, takebacks, ...turnBegins(event, now) };
      const line = { moves: match.moves.slice(0, ply), san: match.san?.slice(0, ply) };
      return { ...next, ...told, ...line, positions: past, offers: [] };
    }
    case 'time_given': {
      const { left_ms, periods } = event;
      return { ...next, left_ms, periods };
    }
    case 'ended': {
      const over = { status: 'ended' as const, turn: null, legal: [], offers: [] };
      const { outcome, left_ms, periods } = event;
      const told = { outcome, left_ms, periods, series: scored(match, outcome) };
      return { ...next, ...over, ...told, rematch: unasked(match) };
    }
    default:
      return next;
  }
}

/** The offers that stand beside this one. */
const without = ({ offers }: Match, one: { seat: number; offer: string }) =>
  offers.filter(({ seat, offer }) => seat !== one.seat || offer !== one.offer);

/** What is known of a rematch when a match has just ended: the rest is told when it changes. */
function unasked({ status, seats }: Match): RematchState | undefined {
  if (status !== 'running') return undefined;
  const isHere = (seat: Seat) => seat.occupant !== 'player' || seat.connected;
  return {
    ...{ offers: [false, false], declined: [false, false], next: null },
    here: [isHere(seats[0]), isHere(seats[1])],
  };
}

/** The series with what this match has brought, in half-points. */
function scored({ series }: Match, { winner, reason }: Outcome) {
  if (!series || reason === 'aborted') return series;
  const [first, second] = series.points;
  const won = (seat: number) => (winner === null ? 1 : winner === seat ? 2 : 0);
  return { ...series, points: [first + won(0), second + won(1)] as [number, number] };
}

/** The match with what is told of a rematch. */
export const withRematch = (
  match: Match,
  { offers, declined, here, next }: RematchState,
): Match => ({
  ...match,
  rematch: { offers, declined, here, next },
});

/** The clocks as a turn begins that an event gives. */
const turnBegins = (
  { left_ms, periods, first_move_ms }: Pick<Snapshot, 'left_ms' | 'periods' | 'first_move_ms'>,
  now: number,
) => ({
  ...{ left_ms, periods, first_move_ms },
  ...{ turn_ms: 0, stands: false, clocksUpdatedAt: now },
});

/**
 * The match with its clocks as they are now.
 * @param now by `performance.now()`
 */
export function withClocks(match: Match, told: ClockUpdate, now: number): Match {
  const { ply, left_ms, periods, turn_ms, stands, first_move_ms } = told;
  if (ply !== match.ply || match.status !== 'running') return match;
  return { ...match, left_ms, periods, turn_ms, stands, first_move_ms, clocksUpdatedAt: now };
}

function seated(match: Match, number: number, occupant: Occupant): [Seat, Seat] {
  const [first, second] = match.seats;
  const taken = (seat: Seat): Seat => ({ ...occupant, side: seat.side });
  return number === 0 ? [taken(first), second] : [first, taken(second)];
}

/** The match with the positions of these events, which it has been through. */
export function withPastPositions(match: Match, events: MatchEvent[]): Match {
  const past = [...match.positions];
  let { checkedAtStart } = match;
  for (const event of events) {
    if (event.type === 'started') {
      past[0] = event.position;
      checkedAtStart = event.check === true;
    }
    if (event.type === 'moved') past[event.ply + 1] = event.position;
    if (event.type === 'taken_back') past[event.ply] = event.position;
  }
  return { ...match, positions: past, checkedAtStart };
}

/**
 * The match with who is there now.
 * @param now by `performance.now()`
 */
export function withPresence(match: Match, presence: Presence, now: number): Match {
  const [first, second] = match.seats;
  const isThere = (seat: Seat, number: number): Seat =>
    seat.occupant === 'player' ? { ...seat, connected: presence.seats[number] === true } : seat;
  const seats: [Seat, Seat] = [isThere(first, 0), isThere(second, 1)];
  const gone = seats.map((seat, number) => {
    if (!isAbsent(seat)) return null;
    const left = presence.gone_ms[number];
    const until = typeof left === 'number' ? now + left : null;
    return { since: match.absences[number]?.since ?? now, until };
  });
  return { ...match, seats, absences: gone, spectators: presence.spectators };
}

/** Whether the player of a seat has no connection. */
export const isAbsent = (seat: Seat) => seat.occupant === 'player' && !seat.connected;

/** The seat in which a bot stands in for this player; `null` if none does. */
export function standInSeat(
  { seats, status }: Pick<Match, 'seats' | 'status'>,
  player: string | undefined,
) {
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return status === 'running' && player !== undefined && at >= 0 ? at : null;
}

/**
 * The match, in which a seat is ours at the end though a bot has stood in for us: who has won, and who may
 * ask for a rematch, are those for whom bots stood in.
 */
export function withRestoredSeat(match: Match, player: string | undefined): Match {
  if (match.status !== 'ended' || match.you !== null || player === undefined) return match;
  const { seats } = match;
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return at < 0 ? match : { ...match, you: at };
}

/** The person whose seat this is, though a bot may stand in there. */
export function seatOwner({ seats }: Pick<Match, 'seats'>, number: number) {
  const seat = seats[number];
  if (seat?.occupant === 'player') return { player: seat.player, name: seat.name };
  return (seat?.occupant === 'bot' && seat.for) || null;
}

/** Whether a player has to do with a match that is not over. */
export const isLiveFor = (match: Match, player: string | undefined) =>
  match.status !== 'ended' &&
  (match.you !== null || match.host === player || hasStandIn(match, player));

/** Whether a bot plays there for a player, who may take the seat back. */
export const hasStandIn = (match: Match, player: string | undefined) =>
  standInSeat(match, player) !== null;

export const isMyTurn = (match: Match) =>
  match.status === 'running' && match.you !== null && match.turn === match.you;

/** The offers that stand, that of a rematch among them. */
export function pendingOffers({ offers, ply, rematch }: Match): OfferState[] {
  const again = rematch && !rematch.next ? [0, 1].filter((seat) => rematch.offers[seat]) : [];
  return [...offers, ...again.map((seat) => ({ seat, offer: 'rematch' as const, ply }))];
}

/** What the other offers, to be answered by us. */
export const incomingOffers = (match: Match) =>
  match.you === null ? [] : pendingOffers(match).filter(({ seat }) => seat !== match.you);

/** To which ply our own last move would be taken back; `null` if there is none. */
export function takebackPly(match: Match) {
  const { you, ply } = match;
  if (you === null) return null;
  // From the first ply on the seats take turns.
  const own = (you + firstToMove(match)) % 2;
  const last = ply - 1 - ((ply - 1 - own + 2) % 2);
  return last < 0 ? null : last;
}
