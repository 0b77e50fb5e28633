// Clocks and spans of time, as people read them.

/** @import { Clock } from '../protocol.js' */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Below this, tenths are told. */
export const TENTHS_MS = 10 * SECOND;

/**
 * A clock as its terms are told: `5+3`, `5 d2`, `5 min + 3 x 30 s`, `3 days a move`, as the server titles
 * the clocks that it proposes.
 * @param {Clock} clock
 */
export function clockWords(clock) {
  switch (clock.kind) {
    case 'fischer':
      return `${inUnit(clock.main_ms, MINUTE)}+${inUnit(clock.increment_ms, SECOND)}`;
    case 'delay':
      return `${inUnit(clock.main_ms, MINUTE)} d${inUnit(clock.delay_ms, SECOND)}`;
    case 'byo-yomi': {
      const main = clock.main_ms > 0 ? `${spanWords(clock.main_ms)} + ` : '';
      return `${main}${clock.periods} x ${spanWords(clock.period_ms)}`;
    }
    case 'move':
      return `${spanWords(clock.move_ms)} a move`;
  }
}

/**
 * A span in the largest unit of which it is a multiple: `3 days`, `12 h`, `5 min`, `30 s`.
 * @param {number} ms
 */
export function spanWords(ms) {
  if (ms % DAY === 0) return ms === DAY ? '1 day' : `${ms / DAY} days`;
  if (ms % HOUR === 0) return `${ms / HOUR} h`;
  if (ms % MINUTE === 0) return `${ms / MINUTE} min`;
  return `${inUnit(ms, SECOND)} s`;
}

/** With three decimals at most. @param {number} ms @param {number} unit */
const inUnit = (ms, unit) => Math.floor((ms * 1000) / unit) / 1000;

/**
 * What is left, as a clock shows it: `2 d 13 h`, `1:05:00`, `4:59`, and with tenths below ten seconds.
 * What has begun counts as there, so that nothing is told to be over that is not.
 * @param {number} ms
 */
export function timeWords(ms) {
  if (ms < TENTHS_MS) return (Math.max(0, Math.ceil(ms / 100)) / 10).toFixed(1);
  if (ms >= DAY) {
    const hours = Math.ceil(ms / HOUR);
    return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  }
  const seconds = Math.ceil(ms / SECOND);
  const two = (/** @type {number} */ number) => String(number % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
}
