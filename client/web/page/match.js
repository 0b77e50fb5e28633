// A match as this page knows it: a fold of the snapshot and of the events after it, as on the
// server. Nothing here changes a match; everything gives another.

import { firstToMove } from './first.js';

/** @import { ClockTold, MatchEvent, Outcome, Presence, RematchState, Seat, Snapshot, StandingOffer, TimeLeft } from '../protocol.js' */

/**
 * A match, and what can be known of its past: `past[n]` is the position after `n` moves, where we
 * have been told it. `toldAt` is when, by `performance.now()`, we were told how its clocks stand, and
 * `gone` who is gone: since when, as far as we know, and until when that is borne, where we were told.
 * `unrated` is why a match that was played for ratings changes none.
 * `checkedAtStart` is whether it began with a check.
 * @typedef {Snapshot & { past: (string | undefined)[], toldAt: number, gone: (Gone | null)[], unrated?: string, checkedAtStart: boolean }} Match
 * @typedef {{ since: number, until: number | null }} Gone
 */

/**
 * @param {Snapshot} snapshot
 * @param {number} now by `performance.now()`
 * @param {Match} [before] what was known of the same match
 * @returns {Match}
 */
export function fromSnapshot(snapshot, now, before) {
  const past = before?.past.slice(0, snapshot.ply + 1) ?? [];
  // Before the start there may be no position worth keeping.
  if (snapshot.status !== 'open') past[snapshot.ply] = snapshot.position;
  const gone = snapshot.seats.map((seat, number) =>
    isGone(seat) ? (before?.gone[number] ?? { since: now, until: null }) : null,
  );
  const checkedAtStart =
    snapshot.ply === 0 ? snapshot.check === true : (before?.checkedAtStart ?? false);
  return { ...snapshot, past, toldAt: now, gone, checkedAtStart };
}

/**
 * The match after an event; `null` if events between are missing.
 * @param {Match} match
 * @param {MatchEvent} event
 * @param {number} now by `performance.now()`
 * @returns {Match | null}
 */
export function fold(match, event, now) {
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
      return { ...next, status: 'running', ...told, past: [position], checkedAtStart };
    }
    case 'moved': {
      const { position, turn, legal } = event;
      const moves = [...match.moves.slice(0, event.ply), event.move];
      const san = match.san && [...match.san.slice(0, event.ply), event.san ?? event.move];
      const past = [...match.past];
      past[moves.length] = position;
      // A draw's offer ends by a move of the other seat, a takeback's by any.
      const offers = match.offers.filter(
        ({ seat, offer }) => offer === 'draw' && seat === event.seat,
      );
      const told = { position, turn, legal, offers, ...turnBegins(event, now) };
      return { ...next, ...told, moves, san, past, ply: moves.length };
    }
    case 'offered': {
      const { seat, offer, ply, to_ply } = event;
      return { ...next, offers: [...without(match, event), { seat, offer, ply, to_ply }] };
    }
    case 'declined':
      return { ...next, offers: without(match, event) };
    case 'taken_back': {
      const { ply, position, turn, legal, takebacks } = event;
      const past = match.past.slice(0, ply + 1);
      past[ply] = position;
      const told = { ply, position, turn, legal, takebacks, ...turnBegins(event, now) };
      const line = { moves: match.moves.slice(0, ply), san: match.san?.slice(0, ply) };
      return { ...next, ...told, ...line, past, offers: [] };
    }
    case 'time_given': {
      const { left_ms, periods } = event;
      return { ...next, left_ms, periods };
    }
    case 'ended': {
      const over = { status: /** @type {const} */ ('ended'), turn: null, legal: [], offers: [] };
      const { outcome, left_ms, periods } = event;
      const told = { outcome, left_ms, periods, series: scored(match, outcome) };
      return { ...next, ...over, ...told, rematch: unasked(match) };
    }
    default:
      return next;
  }
}

/**
 * The offers that stand beside this one.
 * @param {Match} match
 * @param {{ seat: number, offer: string }} one
 */
const without = ({ offers }, one) =>
  offers.filter(({ seat, offer }) => seat !== one.seat || offer !== one.offer);

/**
 * What is known of a rematch when a match has just ended: the rest is told when it changes.
 * @param {Match} match
 * @returns {RematchState | undefined}
 */
function unasked({ status, seats }) {
  if (status !== 'running') return undefined;
  const isHere = (/** @type {Seat} */ seat) => seat.occupant !== 'player' || seat.connected;
  return {
    ...{ offers: [false, false], declined: [false, false], next: null },
    here: [isHere(seats[0]), isHere(seats[1])],
  };
}

/**
 * The series with what this match has brought, in half-points.
 * @param {Match} match
 * @param {Outcome} outcome
 */
function scored({ series }, { winner, reason }) {
  if (!series || reason === 'aborted') return series;
  const [first, second] = series.points;
  const won = (/** @type {number} */ seat) => (winner === null ? 1 : winner === seat ? 2 : 0);
  return { ...series, points: /** @type {[number, number]} */ ([first + won(0), second + won(1)]) };
}

/**
 * The match with what is told of a rematch.
 * @param {Match} match
 * @param {RematchState} told
 * @returns {Match}
 */
export const withRematch = (match, { offers, declined, here, next }) => ({
  ...match,
  rematch: { offers, declined, here, next },
});

/**
 * The clocks as a turn begins that an event gives.
 * @param {Partial<TimeLeft> & { first_move_ms?: number }} event
 * @param {number} now
 */
const turnBegins = ({ left_ms, periods, first_move_ms }, now) => ({
  ...{ left_ms, periods, first_move_ms },
  ...{ turn_ms: 0, stands: false, toldAt: now },
});

/**
 * The match with its clocks as they are now.
 * @param {Match} match
 * @param {ClockTold} told
 * @param {number} now by `performance.now()`
 * @returns {Match}
 */
export function withClocks(match, told, now) {
  const { ply, left_ms, periods, turn_ms, stands, first_move_ms } = told;
  if (ply !== match.ply || match.status !== 'running') return match;
  return { ...match, left_ms, periods, turn_ms, stands, first_move_ms, toldAt: now };
}

/**
 * @param {Match} match
 * @param {number} number
 * @param {import('../protocol.js').Occupant} occupant
 * @returns {[Seat, Seat]}
 */
function seated(match, number, occupant) {
  const [first, second] = match.seats;
  /** @param {Seat} seat @returns {Seat} */
  const taken = (seat) => ({ ...occupant, side: seat.side });
  return number === 0 ? [taken(first), second] : [first, taken(second)];
}

/**
 * The match with the positions of these events, which it has been through.
 * @param {Match} match
 * @param {MatchEvent[]} events
 * @returns {Match}
 */
export function remembering(match, events) {
  const past = [...match.past];
  let { checkedAtStart } = match;
  for (const event of events) {
    if (event.type === 'started') {
      past[0] = event.position;
      checkedAtStart = event.check === true;
    }
    if (event.type === 'moved') past[event.ply + 1] = event.position;
    if (event.type === 'taken_back') past[event.ply] = event.position;
  }
  return { ...match, past, checkedAtStart };
}

/**
 * The match with who is there now.
 * @param {Match} match
 * @param {Presence} presence
 * @param {number} now by `performance.now()`
 * @returns {Match}
 */
export function withPresence(match, presence, now) {
  const [first, second] = match.seats;
  /** @param {Seat} seat @param {number} number @returns {Seat} */
  const isThere = (seat, number) =>
    seat.occupant === 'player' ? { ...seat, connected: presence.seats[number] === true } : seat;
  /** @type {[Seat, Seat]} */
  const seats = [isThere(first, 0), isThere(second, 1)];
  const gone = seats.map((seat, number) => {
    if (!isGone(seat)) return null;
    const left = presence.gone_ms[number];
    const until = typeof left === 'number' ? now + left : null;
    return { since: match.gone[number]?.since ?? now, until };
  });
  return { ...match, seats, gone, spectators: presence.spectators };
}

/** Whether the player of a seat has no connection. @param {Seat} seat */
export const isGone = (seat) => seat.occupant === 'player' && !seat.connected;

/**
 * The seat in which a bot stands in for this player; `null` if none does.
 * @param {Pick<Match, 'seats' | 'status'>} match
 * @param {string | undefined} player
 */
export function stoodIn({ seats, status }, player) {
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return status === 'running' && player !== undefined && at >= 0 ? at : null;
}

/**
 * The match, in which a seat is ours at the end though a bot has stood in for us: who has won, and who may
 * ask for a rematch, are those for whom bots stood in.
 * @param {Match} match
 * @param {string | undefined} player
 * @returns {Match}
 */
export function asHeld(match, player) {
  if (match.status !== 'ended' || match.you !== null || player === undefined) return match;
  const { seats } = match;
  const at = seats.findIndex((seat) => seat.occupant === 'bot' && seat.for?.player === player);
  return at < 0 ? match : { ...match, you: at };
}

/** The person whose seat this is, though a bot may stand in there. @param {Pick<Match, 'seats'>} match @param {number} number */
export function personIn({ seats }, number) {
  const seat = seats[number];
  if (seat?.occupant === 'player') return { player: seat.player, name: seat.name };
  return (seat?.occupant === 'bot' && seat.for) || null;
}

/**
 * Whether a player has to do with a match that is not over.
 * @param {Match} match
 * @param {string | undefined} player
 */
export const isLiveOf = (match, player) =>
  match.status !== 'ended' &&
  (match.you !== null || match.host === player || isStoodIn(match, player));

/** Whether a bot plays there for a player, who may take the seat back. @param {Match} match @param {string | undefined} player */
export const isStoodIn = (match, player) => stoodIn(match, player) !== null;

/** @param {Match} match */
export const isMyTurn = (match) =>
  match.status === 'running' && match.you !== null && match.turn === match.you;

/** The offers that stand, that of a rematch among them. @param {Match} match @returns {StandingOffer[]} */
export function offersOf({ offers, ply, rematch }) {
  const again = rematch && !rematch.next ? [0, 1].filter((seat) => rematch.offers[seat]) : [];
  return [
    ...offers,
    ...again.map((seat) => ({ seat, offer: /** @type {const} */ ('rematch'), ply })),
  ];
}

/** What the other offers, to be answered by us. @param {Match} match */
export const offersTo = (match) =>
  match.you === null ? [] : offersOf(match).filter(({ seat }) => seat !== match.you);

/** To which ply our own last move would be taken back; `null` if there is none. @param {Match} match */
export function takebackTo(match) {
  const { you, ply } = match;
  if (you === null) return null;
  // From the first ply on the seats take turns.
  const own = (you + firstToMove(match)) % 2;
  const last = ply - 1 - ((ply - 1 - own + 2) % 2);
  return last < 0 ? null : last;
}
