// What the clocks of a match show, reckoned from what was told last.

import { say } from '../text/language.ts';
import { periodWords, TENTHS_MS, timeWords } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { Match } from './match.ts';

/** A seat's clock at one instant. */
export interface Shown {
  /** of the main time, or of the period that has begun */
  left: number;
  /** how many are left, where there are any */
  periods: number | null;
  /** whether the main time is used up */
  inPeriod: boolean;
  /** what is left of the delay */
  delay: number;
  /** within how long the first move must come, where it is free */
  first: number | null;
  /** whether `left` is becoming less */
  runs: boolean;
  onTurn: boolean;
  stands: boolean;
}

/** The least that a clock shows before the server has said that it is over. */
const LEAST_MS = 1;

/**
 * @param now by `performance.now()`
 * @returns nothing without a clock
 */
export function clockOf(match: Match, seat: number, now: number): Shown | null {
  const { clock, left_ms: left } = match;
  if (!clock || !left) return null;
  const onTurn = match.status === 'running' && match.turn === seat;
  const stands = match.stands === true;
  const since = stands ? 0 : now - match.toldAt;
  const first = onTurn && match.first_move_ms !== undefined ? match.first_move_ms - since : null;
  const spent = onTurn && first === null ? (match.turn_ms ?? 0) + since : 0;
  const most = match.status === 'ended' ? 0 : LEAST_MS;
  const shown = reckon(clock, left[seat] ?? 0, match.periods?.[seat] ?? null, spent);
  const delay = onTurn && first === null ? shown.delay : 0;
  return {
    ...shown,
    left: Math.max(most, shown.left),
    periods: shown.periods === null ? null : Math.max(0, shown.periods),
    delay,
    first: first === null ? null : Math.max(LEAST_MS, first),
    runs: onTurn && !stands && first === null && delay === 0,
    onTurn,
    stands: onTurn && stands,
  };
}

/**
 * What is left after so much of a turn.
 * @param left when the turn began
 */
function reckon(clock: Clock, left: number, periods: number | null, spent: number) {
  const plain = { periods, inPeriod: false, delay: 0 };
  switch (clock.kind) {
    case 'delay': {
      const delay = Math.max(0, clock.delay_ms - spent);
      return { ...plain, left: left - Math.max(0, spent - clock.delay_ms), delay };
    }
    case 'byo-yomi': {
      const over = spent - left;
      if (over < 0 || periods === null || periods === 0) return { ...plain, left: -over };
      const begun = Math.floor(over / clock.period_ms);
      // The last period is not followed by another.
      if (begun >= periods) return { ...plain, left: 0, periods: 1, inPeriod: true };
      const rest = clock.period_ms - (over % clock.period_ms);
      return { ...plain, left: rest, periods: periods - begun, inPeriod: true };
    }
    default:
      return { ...plain, left: left - spent };
  }
}

/** How long what a clock tells stays as it is; `null` if it does so until something is told. */
export function changesIn({ left, delay, first, runs, onTurn, stands }: Shown) {
  if (!onTurn || stands) return null;
  const counted = first ?? (delay > 0 ? delay : runs ? left : null);
  if (counted === null) return null;
  // Something else may follow in an instant, or the server's word that it is over.
  if (counted <= LEAST_MS) return 100;
  const unit = counted <= TENTHS_MS ? 100 : 1000;
  return counted % unit || unit;
}

/** Whether there is so little time that it is to be seen. */
export const isLow = ({ left, inPeriod, periods }: Shown) =>
  left < TENTHS_MS && (periods === null || periods === 0 || inPeriod);

/** What stands beside the time. */
export function besideTime(
  { periods, inPeriod, delay, first, onTurn, stands }: Shown,
  clock: Clock,
  connected: boolean,
) {
  if (onTurn && !connected) return say('clock.offline');
  const says = [];
  if (stands) says.push(say('clock.stands'));
  if (first !== null) says.push(say('clock.first', { time: timeWords(first) }));
  if (delay > 0) says.push(say('clock.waits', { time: timeWords(delay) }));
  if (clock.kind === 'byo-yomi' && periods) {
    if (!inPeriod) says.push(`+ ${periodWords(periods, clock.period_ms)}`);
    else says.push(say('clock.left', { count: periods }));
  }
  return says.join(', ') || (onTurn ? say('clock.turn') : '');
}
