// What the clocks of a match show, reckoned from what was told last.

import { translate } from '../text/language.ts';
import { formatPeriods, TENTHS_BELOW_MS, formatTimeLeft } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { Match } from './match.ts';

/** A seat's clock at one instant. */
export interface ClockReading {
  /** of the main time, or of the period that has begun */
  left: number;
  /** how many are left, where there are any */
  periods: number | null;
  /** whether the main time is used up */
  inPeriod: boolean;
  /** what is left of the delay */
  delay: number;
  /** within how long the first move must come, where it is free */
  firstMoveMs: number | null;
  /** whether `left` is becoming less */
  isRunning: boolean;
  onTurn: boolean;
  isPaused: boolean;
}

/** The least that a clock shows before the server has said that it is over. */
const LEAST_MS = 1;

/**
 * @param now by `performance.now()`
 * @returns nothing without a clock
 */
export function clockReading(match: Match, seat: number, now: number): ClockReading | null {
  const { clock, left_ms: left } = match;
  if (!clock || !left) return null;
  const onTurn = match.status === 'running' && match.turn === seat;
  const stands = match.stands === true;
  const since = stands ? 0 : now - match.clocksUpdatedAt;
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
    firstMoveMs: first === null ? null : Math.max(LEAST_MS, first),
    isRunning: onTurn && !stands && first === null && delay === 0,
    onTurn,
    isPaused: onTurn && stands,
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
export function msUntilChange({
  left,
  delay,
  firstMoveMs: first,
  isRunning: runs,
  onTurn,
  isPaused: stands,
}: ClockReading) {
  if (!onTurn || stands) return null;
  const counted = first ?? (delay > 0 ? delay : runs ? left : null);
  if (counted === null) return null;
  // Something else may follow in an instant, or the server's word that it is over.
  if (counted <= LEAST_MS) return 100;
  const unit = counted <= TENTHS_BELOW_MS ? 100 : 1000;
  return counted % unit || unit;
}

/** Whether there is so little time that it is to be seen. */
export const isTimeLow = ({ left, inPeriod, periods }: ClockReading) =>
  left < TENTHS_BELOW_MS && (periods === null || periods === 0 || inPeriod);

/** What stands beside the time. */
export function clockDetailText(
  { periods, inPeriod, delay, firstMoveMs: first, onTurn, isPaused: stands }: ClockReading,
  clock: Clock,
  connected: boolean,
) {
  if (onTurn && !connected) return translate('clock.offline');
  const says = [];
  if (stands) says.push(translate('clock.stands'));
  if (first !== null) says.push(translate('clock.first', { time: formatTimeLeft(first) }));
  if (delay > 0) says.push(translate('clock.waits', { time: formatTimeLeft(delay) }));
  if (clock.kind === 'byo-yomi' && periods) {
    if (!inPeriod) says.push(`+ ${formatPeriods(periods, clock.period_ms)}`);
    else says.push(translate('clock.left', { count: periods }));
  }
  return says.join(', ') || (onTurn ? translate('clock.turn') : '');
}
