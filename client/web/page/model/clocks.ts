// Computes what the clocks of a match show from the server's last clock update.

import { translate } from '../text/language.ts';
import { formatPeriods, TENTHS_BELOW_MS, formatTimeLeft } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { Match } from './match.ts';

const HOUR_MS = 3_600_000;

/** A seat's clock at one instant. */
export interface ClockReading {
  /** milliseconds left of the main time, or of the current period */
  left: number;
  /** number of periods left, or `null` for a clock without periods */
  periods: number | null;
  /** whether the main time is used up */
  inPeriod: boolean;
  /** milliseconds left of the delay */
  delay: number;
  /** milliseconds left for the first move, if it does not use the clock */
  firstMoveMs: number | null;
  /** whether `left` is decreasing */
  isRunning: boolean;
  onTurn: boolean;
  isPaused: boolean;
}

/** Minimum that a clock shows until the server ends the match. */
const LEAST_MS = 1;

/**
 * Returns the reading of a seat's clock, or `null` if the match has no clock.
 * @param now by `performance.now()`
 */
export function clockReading(match: Match, seat: number, now: number): ClockReading | null {
  const { clock, left_ms: left } = match;
  if (!clock || !left) return null;
  const onTurn = match.status === 'running' && match.turn === seat;
  const isPaused = match.stands === true;
  const elapsed = isPaused ? 0 : now - match.clocksUpdatedAt;
  const firstMoveMs =
    onTurn && match.first_move_ms !== undefined ? match.first_move_ms - elapsed : null;
  const spent = onTurn && firstMoveMs === null ? (match.turn_ms ?? 0) + elapsed : 0;
  const minimum = match.status === 'ended' ? 0 : LEAST_MS;
  const reading = readingAfter(clock, left[seat] ?? 0, match.periods?.[seat] ?? null, spent);
  const delay = onTurn && firstMoveMs === null ? reading.delay : 0;
  return {
    ...reading,
    left: Math.max(minimum, reading.left),
    periods: reading.periods === null ? null : Math.max(0, reading.periods),
    delay,
    firstMoveMs: firstMoveMs === null ? null : Math.max(LEAST_MS, firstMoveMs),
    isRunning: onTurn && !isPaused && firstMoveMs === null && delay === 0,
    onTurn,
    isPaused: onTurn && isPaused,
  };
}

/**
 * Returns the reading after `spent` milliseconds of a turn.
 * @param left at the start of the turn
 */
function readingAfter(clock: Clock, left: number, periods: number | null, spent: number) {
  const base = { periods, inPeriod: false, delay: 0 };
  switch (clock.kind) {
    case 'delay': {
      const delay = Math.max(0, clock.delay_ms - spent);
      return { ...base, left: left - Math.max(0, spent - clock.delay_ms), delay };
    }
    case 'byo-yomi': {
      const over = spent - left;
      if (over < 0 || periods === null || periods === 0) return { ...base, left: -over };
      const used = Math.floor(over / clock.period_ms);
      if (used >= periods) return { ...base, left: 0, periods: 1, inPeriod: true };
      const rest = clock.period_ms - (over % clock.period_ms);
      return { ...base, left: rest, periods: periods - used, inPeriod: true };
    }
    default:
      return { ...base, left: left - spent };
  }
}

/** Milliseconds until the displayed text changes; `null` if it only changes with an update. */
export function msUntilChange({
  left,
  delay,
  firstMoveMs,
  isRunning,
  onTurn,
  isPaused,
}: ClockReading) {
  if (!onTurn || isPaused) return null;
  const counted = firstMoveMs ?? (delay > 0 ? delay : isRunning ? left : null);
  if (counted === null) return null;
  // At the minimum, the next phase or the end of the match is due.
  if (counted <= LEAST_MS) return 100;
  const unit = counted <= TENTHS_BELOW_MS ? 100 : 1000;
  return counted % unit || unit;
}

/** Whether the clock shows a low-time warning. */
export const isTimeLow = ({ left, inPeriod, periods }: ClockReading) =>
  left < TENTHS_BELOW_MS && (periods === null || periods === 0 || inPeriod);

/** The text beside the time. */
export function clockDetailText(
  { periods, inPeriod, delay, firstMoveMs, onTurn, isPaused }: ClockReading,
  clock: Clock,
  connected: boolean,
) {
  if (onTurn && !connected) return translate('clock.offline');
  const parts = [];
  if (isPaused) parts.push(translate('clock.stands'));
  if (firstMoveMs !== null)
    parts.push(translate('clock.first', { time: formatTimeLeft(firstMoveMs) }));
  if (delay > 0) parts.push(translate('clock.waits', { time: formatTimeLeft(delay) }));
  if (clock.kind === 'byo-yomi' && periods) {
    if (!inPeriod) parts.push(`+ ${formatPeriods(periods, clock.period_ms)}`);
    else parts.push(translate('clock.left', { count: periods }));
  }
  return parts.join(', ') || (onTurn ? translate('clock.turn') : '');
}

/** Whether the clock gives at least an hour per move. */
export const isCorrespondenceClock = (clock: Clock | null | undefined) =>
  clock?.kind === 'move' && clock.move_ms >= HOUR_MS;
