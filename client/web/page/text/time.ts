// Clocks and spans of time, as people read them.

import { decimal, inUnit, number, say } from './language.ts';

import type { Clock } from '../net/protocol.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Below this, tenths are told. */
export const TENTHS_MS = 10 * SECOND;

/** A clock as its terms are told: `5+3`, `5 d2`, `5 min + 3 × 30 sec`, `3 days a move`. */
export function clockWords(clock: Clock) {
  switch (clock.kind) {
    case 'fischer':
      return `${count(clock.main_ms, MINUTE)}+${count(clock.increment_ms, SECOND)}`;
    case 'delay': {
      const delay = count(clock.delay_ms, SECOND);
      return say('clock.delay', { main: count(clock.main_ms, MINUTE), delay });
    }
    case 'byo-yomi': {
      const periods = periodWords(clock.periods, clock.period_ms);
      if (clock.main_ms === 0) return periods;
      return say('clock.main', { main: spanWords(clock.main_ms), periods });
    }
    case 'move':
      return say('clock.move', { span: spanWords(clock.move_ms) });
  }
}

/** @param ms of each */
export const periodWords = (periods: number, ms: number) =>
  say('clock.periods', { periods, period: spanWords(ms) });

/** A span in the largest unit of which it is a multiple: `3 days`, `12 hr`, `5 min`, `30 sec`. */
export function spanWords(ms: number, display: 'long' | 'short' | 'narrow' = 'short') {
  // A day has no short form that everybody reads.
  if (ms % DAY === 0) return inUnit(ms / DAY, 'day', 'long');
  if (ms % HOUR === 0) return inUnit(ms / HOUR, 'hour', display);
  if (ms % MINUTE === 0) return inUnit(ms / MINUTE, 'minute', display);
  return inUnit(parts(ms, SECOND), 'second', display);
}

/**
 * So many seconds, where there is little room.
 * @param ms what has begun counts
 */
export const secondsLeft = (ms: number) => inUnit(Math.ceil(ms / SECOND), 'second', 'narrow');

/** With three decimals at most. */
const parts = (ms: number, unit: number) => Math.floor((ms * 1000) / unit) / 1000;

const count = (ms: number, unit: number) => number(parts(ms, unit));

/**
 * What is left, as a clock shows it: `2d 13h`, `1:05:00`, `4:59`, and with tenths below ten seconds.
 * What has begun counts as there, so that nothing is told to be over that is not.
 */
export function timeWords(ms: number) {
  if (ms < TENTHS_MS) return decimal(Math.max(0, Math.ceil(ms / 100)) / 10, 1);
  if (ms >= DAY) {
    const hours = Math.ceil(ms / HOUR);
    return `${inUnit(Math.floor(hours / 24), 'day', 'narrow')} ${inUnit(hours % 24, 'hour', 'narrow')}`;
  }
  const seconds = Math.ceil(ms / SECOND);
  const two = (number: number) => String(number % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
}
