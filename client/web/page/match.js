// A match as this page knows it: a fold of the snapshot and of the events after it, as on the
// server. Nothing here changes a match; everything gives another.

/** @import { MatchEvent, Presence, Seat, Snapshot } from '../protocol.js' */

/**
 * A match, and what can be known of its past: `past[n]` is the position after `n` moves, where we
 * have been told it.
 * @typedef {Snapshot & { past: (string | undefined)[] }} Match
 */

/**
 * @param {Snapshot} snapshot
 * @param {Match} [before] what was known of the same match
 * @returns {Match}
 */
export function fromSnapshot(snapshot, before) {
  const past = before?.past.slice(0, snapshot.ply + 1) ?? [];
  // Before the start there may be no position worth keeping.
  if (snapshot.status !== 'open') past[snapshot.ply] = snapshot.position;
  return { ...snapshot, past };
}

/**
 * The match after an event; `null` if events between are missing.
 * @param {Match} match
 * @param {MatchEvent} event
 * @returns {Match | null}
 */
export function fold(match, event) {
  if (event.seq <= match.seq) return match;
  if (event.seq > match.seq + 1) return null;
  const next = { ...match, seq: event.seq };
  switch (event.type) {
    case 'seated':
      return { ...next, seats: seated(match, event.seat, event) };
    case 'started': {
      const { position, ply, turn, legal } = event;
      return { ...next, status: 'running', position, ply, turn, legal, past: [position] };
    }
    case 'moved': {
      const { position, turn, legal } = event;
      const moves = [...match.moves.slice(0, event.ply), event.move];
      const past = [...match.past];
      past[moves.length] = position;
      return { ...next, position, turn, legal, moves, past, ply: moves.length };
    }
    case 'ended':
      return { ...next, status: 'ended', turn: null, legal: [], outcome: event.outcome };
    default:
      return next;
  }
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
  for (const event of events) {
    if (event.type === 'started') past[0] = event.position;
    if (event.type === 'moved') past[event.ply + 1] = event.position;
  }
  return { ...match, past };
}

/**
 * The match with who is there now.
 * @param {Match} match
 * @param {Presence} presence
 * @returns {Match}
 */
export function withPresence(match, presence) {
  const [first, second] = match.seats;
  /** @param {Seat} seat @param {number} number @returns {Seat} */
  const now = (seat, number) =>
    seat.occupant === 'player' ? { ...seat, connected: presence.seats[number] === true } : seat;
  return { ...match, seats: [now(first, 0), now(second, 1)], spectators: presence.spectators };
}

/**
 * Whether a player has to do with a match that is not over.
 * @param {Match} match
 * @param {string | undefined} player
 */
export const isLiveOf = ({ status, you, host }, player) =>
  status !== 'ended' && (you !== null || host === player);

/** @param {Match} match */
export const isMyTurn = (match) =>
  match.status === 'running' && match.you !== null && match.turn === match.you;
