// Clocks and spans of time, as people read them.

import { formatDecimal, formatUnit, formatNumber, translate } from './language.ts';

import type { Clock } from '../net/protocol.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Below this, tenths are told. */
export const TENTHS_BELOW_MS = 10 * SECOND;

/** A clock as its terms are told: `5+3`, `5 d2`, `5 min + 3 × 30 sec`, `3 days a move`. */
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

/** @param ms of each */
export const formatPeriods = (periods: number, ms: number) =>
  translate('clock.periods', { periods, period: formatDuration(ms) });

/** A span in the largest unit of which it is a multiple: `3 days`, `12 hr`, `5 min`, `30 sec`. */
export function formatDuration(ms: number, display: 'long' | 'short' | 'narrow' = 'short') {
  // A day has no short form that everybody reads.
  if (ms % DAY === 0) return formatUnit(ms / DAY, 'day', 'long');
  if (ms % HOUR === 0) return formatUnit(ms / HOUR, 'hour', display);
  if (ms % MINUTE === 0) return formatUnit(ms / MINUTE, 'minute', display);
  return formatUnit(parts(ms, SECOND), 'second', display);
}

/**
 * So many seconds, where there is little room.
 * @param ms what has begun counts
 */
export const formatSeconds = (ms: number) => formatUnit(Math.ceil(ms / SECOND), 'second', 'narrow');

/** With three decimals at most. */
const parts = (ms: number, unit: number) => Math.floor((ms * 1000) / unit) / 1000;

const count = (ms: number, unit: number) => formatNumber(parts(ms, unit));

/**
 * What is left, as a clock shows it: `2d 13h`, `1:05:00`, `4:59`, and with tenths below ten seconds.
 * What has begun counts as there, so that nothing is told to be over that is not.
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
