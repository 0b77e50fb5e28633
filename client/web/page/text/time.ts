// Formats clocks and durations.

import { formatDecimal, formatUnit, formatNumber, translate } from './language.ts';

import type { Clock } from '../net/protocol.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Below this time, clocks show tenths of a second. */
export const TENTHS_BELOW_MS = 10 * SECOND;

/** Formats a time control: `5+3`, `5 d2`, `5 min + 3 × 30 sec`, `3 days a move`. */
export function formatClock(clock: Clock) {
  switch (clock.kind) {
    case 'fischer':
      return `${count(clock.main_ms, MINUTE)}+${count(clock.increment_ms, SECOND)}`;
    case 'delay': {
      const delay = count(clock.delay_ms, SECOND);
      return translate('clock.delay', { main: count(clock.main_ms, MINUTE), delay });
    }
    case 'byo-yomi': {
      const periods = formatPeriods(clock.periods, clock.period_ms);
      if (clock.main_ms === 0) return periods;
      return translate('clock.main', { main: formatDuration(clock.main_ms), periods });
    }
    case 'move':
      return translate('clock.move', { span: formatDuration(clock.move_ms) });
  }
}

/** @param ms duration of one period */
export const formatPeriods = (periods: number, ms: number) =>
  translate('clock.periods', { periods, period: formatDuration(ms) });

/** Formats a duration in the largest unit that divides it: `3 days`, `12 hr`, `5 min`, `30 sec`. */
export function formatDuration(ms: number, display: 'long' | 'short' | 'narrow' = 'short') {
  // The short forms of days are not widely understood.
  if (ms % DAY === 0) return formatUnit(ms / DAY, 'day', 'long');
  if (ms % HOUR === 0) return formatUnit(ms / HOUR, 'hour', display);
  if (ms % MINUTE === 0) return formatUnit(ms / MINUTE, 'minute', display);
  return formatUnit(inUnits(ms, SECOND), 'second', display);
}

/** Formats whole seconds in a short form, rounded up. */
export const formatSeconds = (ms: number) => formatUnit(Math.ceil(ms / SECOND), 'second', 'narrow');

/** Rounds down to three decimals. */
const inUnits = (ms: number, unit: number) => Math.floor((ms * 1000) / unit) / 1000;

const count = (ms: number, unit: number) => formatNumber(inUnits(ms, unit));

/**
 * Formats the time left on a clock: `2d 13h`, `1:05:00`, `4:59`, and with tenths below ten seconds.
 * Rounds up, so that a clock shows zero only when its time is over.
 */
export function formatTimeLeft(ms: number) {
  if (ms < TENTHS_BELOW_MS) return formatDecimal(Math.max(0, Math.ceil(ms / 100)) / 10, 1);
  if (ms >= DAY) {
    const hours = Math.ceil(ms / HOUR);
    return `${formatUnit(Math.floor(hours / 24), 'day', 'narrow')} ${formatUnit(hours % 24, 'hour', 'narrow')}`;
  }
  const seconds = Math.ceil(ms / SECOND);
  const two = (number: number) => String(number % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
}
