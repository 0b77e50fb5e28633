// Match state of the page, folded from the snapshot and the later events. All functions return new
// objects.

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

export type Match = Snapshot & {
  /** positions after each ply, where the page knows them */
  positions: (string | undefined)[];
  /** time of the last clock update, by `performance.now()` */
  clocksUpdatedAt: number;
  absences: (Absence | null)[];
  /** the reason why a rated match does not change the ratings */
  unrated?: string;
  checkedAtStart: boolean;
};

/** A player's absence, with times by `performance.now()`. */
export interface Absence {
  since: number;
  /** end of the server's patience, if known */
  until: number | null;
}

/**
 * @param now by `performance.now()`
 * @param before the previous state of the same match
 */
export function fromSnapshot(snapshot: Snapshot, now: number, before?: Match): Match {
  const positions = before?.positions.slice(0, snapshot.ply + 1) ?? [];
  // The position of an open match may still change.
  if (snapshot.status !== 'open') positions[snapshot.ply] = snapshot.position;
  const absences = snapshot.seats.map((seat, number) =>
    isAbsent(seat) ? (before?.absences[number] ?? { since: now, until: null }) : null,
  );
  const checkedAtStart =
    snapshot.ply === 0 ? snapshot.check === true : (before?.checkedAtStart ?? false);
  return { ...snapshot, positions, clocksUpdatedAt: now, absences, checkedAtStart };
}

/**
 * Applies an event; returns `null` if earlier events are missing.
 * @param now by `performance.now()`
 */
export function applyEvent(match: Match, event: MatchEvent, now: number): Match | null {
  if (event.seq <= match.seq) return match;
  if (event.seq > match.seq + 1) return null;
  const next = { ...match, seq: event.seq };
  switch (event.type) {
    case 'seated': {
      const offers = match.offers.filter(({ seat }) => seat !== event.seat);
      // A stand-in bot takes the user's seat.
      const you = event.seat === match.you && event.occupant !== 'player' ? null : match.you;
      return { ...next, you, seats: withOccupant(match, event.seat, event), offers };
    }
    case 'started': {
      const { position, ply, turn, legal, patience_ms } = event;
      const changes = { position, ply, turn, legal, patience_ms, ...clocksAtTurnStart(event, now) };
      const checkedAtStart = event.check === true;
      return { ...next, status: 'running', ...changes, positions: [position], checkedAtStart };
    }
    case 'moved': {
      const { position, turn, legal } = event;
      const moves = [...match.moves.slice(0, event.ply), event.move];
      const san = match.san && [...match.san.slice(0, event.ply), event.san ?? event.move];
      const positions = [...match.positions];
      positions[moves.length] = position;
      // A draw offer ends with the opponent's move, a takeback offer with any move.
      const offers = match.offers.filter(
        ({ seat, offer }) => offer === 'draw' && seat === event.seat,
      );
      const changes = { position, turn, legal, offers, ...clocksAtTurnStart(event, now) };
      return { ...next, ...changes, moves, san, positions, ply: moves.length };
    }
    case 'offered': {
      const { seat, offer, ply, to_ply } = event;
      return { ...next, offers: [...withoutOffer(match, event), { seat, offer, ply, to_ply }] };
    }
    case 'declined':
      return { ...next, offers: withoutOffer(match, event) };
    case 'taken_back': {
      const { ply, position, turn, legal, takebacks } = event;
      const positions = match.positions.slice(0, ply + 1);
      positions[ply] = position;
      const changes = { ply, position, turn, legal, takebacks, ...clocksAtTurnStart(event, now) };
      const history = { moves: match.moves.slice(0, ply), san: match.san?.slice(0, ply) };
      return { ...next, ...changes, ...history, positions, offers: [] };
    }
    case 'time_given': {
      const { left_ms, periods } = event;
      return { ...next, left_ms, periods };
    }
    case 'ended': {
      const over = { status: 'ended' as const, turn: null, legal: [], offers: [] };
      const { outcome, left_ms, periods } = event;
      const changes = { outcome, left_ms, periods, series: scoredSeries(match, outcome) };
      return { ...next, ...over, ...changes, rematch: initialRematch(match) };
    }
    default:
      return next;
  }
}

const withoutOffer = ({ offers }: Match, removed: { seat: number; offer: string }) =>
  offers.filter(({ seat, offer }) => seat !== removed.seat || offer !== removed.offer);

/** The rematch state at the end of a match. */
function initialRematch({ status, seats }: Match): RematchState | undefined {
  if (status !== 'running') return undefined;
  const isPresent = (seat: Seat) => seat.occupant !== 'player' || seat.connected;
  return {
    offers: [false, false],
    declined: [false, false],
    next: null,
    here: [isPresent(seats[0]), isPresent(seats[1])],
  };
}

/** Adds the result of the match to the series, in half-points. */
function scoredSeries({ series }: Match, { winner, reason }: Outcome) {
  if (!series || reason === 'aborted') return series;
  const [first, second] = series.points;
  const pointsOf = (seat: number) => (winner === null ? 1 : winner === seat ? 2 : 0);
  return { ...series, points: [first + pointsOf(0), second + pointsOf(1)] as [number, number] };
}

export const withRematch = (
  match: Match,
  { offers, declined, here, next }: RematchState,
): Match => ({
  ...match,
  rematch: { offers, declined, here, next },
});

/** The clock fields at the start of a turn. */
const clocksAtTurnStart = (
  { left_ms, periods, first_move_ms }: Pick<Snapshot, 'left_ms' | 'periods' | 'first_move_ms'>,
  now: number,
) => ({
  left_ms,
  periods,
  first_move_ms,
  turn_ms: 0,
  stands: false,
  clocksUpdatedAt: now,
});

/**
 * Applies a clock update, unless it belongs to another ply.
 * @param now by `performance.now()`
 */
export function withClocks(match: Match, update: ClockUpdate, now: number): Match {
  const { ply, left_ms, periods, turn_ms, stands, first_move_ms } = update;
  if (ply !== match.ply || match.status !== 'running') return match;
  return { ...match, left_ms, periods, turn_ms, stands, first_move_ms, clocksUpdatedAt: now };
}

function withOccupant(match: Match, number: number, occupant: Occupant): [Seat, Seat] {
  const [first, second] = match.seats;
  const occupied = (seat: Seat): Seat => ({ ...occupant, side: seat.side });
  return number === 0 ? [occupied(first), second] : [first, occupied(second)];
}

/** Adds the positions of earlier events to the match. */
export function withPastPositions(match: Match, events: MatchEvent[]): Match {
  const positions = [...match.positions];
  let { checkedAtStart } = match;
  for (const event of events) {
    if (event.type === 'started') {
      positions[0] = event.position;
      checkedAtStart = event.check === true;
    }
    if (event.type === 'moved') positions[event.ply + 1] = event.position;
    if (event.type === 'taken_back') positions[event.ply] = event.position;
  }
  return { ...match, positions, checkedAtStart };
}

/**
 * Applies the connection states and the spectators.
 * @param now by `performance.now()`
 */
export function withPresence(match: Match, presence: Presence, now: number): Match {
  const [first, second] = match.seats;
  const withConnection = (seat: Seat, number: number): Seat =>
    seat.occupant === 'player' ? { ...seat, connected: presence.seats[number] === true } : seat;
  const seats: [Seat, Seat] = [withConnection(first, 0), withConnection(second, 1)];
  const absences = seats.map((seat, number) => {
    if (!isAbsent(seat)) return null;
    const left = presence.gone_ms[number];
    const until = typeof left === 'number' ? now + left : null;
    return { since: match.absences[number]?.since ?? now, until };
  });
  return { ...match, seats, absences, spectators: presence.spectators };
}

/** Whether the seat belongs to a player without a connection. */
export const isAbsent = (seat: Seat) => seat.occupant === 'player' && !seat.connected;

/** Returns the seat of a running match where a bot stands in for the player, or `null`. */
export function standInSeat(
  { seats, status }: Pick<Match, 'seats' | 'status'>,
  player: string | undefined,
) {
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return status === 'running' && player !== undefined && at >= 0 ? at : null;
}

/**
 * Gives the user their seat back after the end of a match that a stand-in bot finished. The result
 * and a rematch concern the player, not the bot.
 */
export function withRestoredSeat(match: Match, player: string | undefined): Match {
  if (match.status !== 'ended' || match.you !== null || player === undefined) return match;
  const { seats } = match;
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return at < 0 ? match : { ...match, you: at };
}

/** Returns the player of a seat, even while a bot stands in. */
export function seatOwner({ seats }: Pick<Match, 'seats'>, number: number) {
  const seat = seats[number];
  if (seat?.occupant === 'player') return { player: seat.player, name: seat.name };
  return (seat?.occupant === 'bot' && seat.for) || null;
}

/**
 * Whether a match has not ended and involves the player as host, player or owner of a stand-in's
 * seat.
 */
export const isLiveFor = (match: Match, player: string | undefined) =>
  match.status !== 'ended' &&
  (match.you !== null || match.host === player || hasStandIn(match, player));

/** Whether a bot stands in for the player, who may take the seat back. */
export const hasStandIn = (match: Match, player: string | undefined) =>
  standInSeat(match, player) !== null;

export const isMyTurn = (match: Match) =>
  match.status === 'running' && match.you !== null && match.turn === match.you;

/** Returns the open offers, including a rematch offer. */
export function pendingOffers({ offers, ply, rematch }: Match): OfferState[] {
  const rematchSeats =
    rematch && !rematch.next ? [0, 1].filter((seat) => rematch.offers[seat]) : [];
  return [...offers, ...rematchSeats.map((seat) => ({ seat, offer: 'rematch' as const, ply }))];
}

/** Returns the opponent's open offers to the user. */
export const incomingOffers = (match: Match) =>
  match.you === null ? [] : pendingOffers(match).filter(({ seat }) => seat !== match.you);

/**
 * Returns the ply to which a takeback of the user's last move goes, or `null` without such a move.
 */
export function takebackPly(match: Match) {
  const { you, ply } = match;
  if (you === null) return null;
  // The seats alternate from the first ply.
  const own = (you + firstToMove(match)) % 2;
  const last = ply - 1 - ((ply - 1 - own + 2) % 2);
  return last < 0 ? null : last;
}
