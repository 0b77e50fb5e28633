// A clock of one's own: what is asked for, and within which bounds.

import { inUnit, number, say } from './language.js';
import { spanWords } from './time.js';

/** @import { Clock } from '../protocol.js' */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * What one writes down of a clock, in its unit.
 * @typedef {object} Field
 * @property {keyof typeof FIRST_SAID} name of the protocol's field
 * @property {number} unit in milliseconds; 1 for what is counted
 * @property {number} least
 * @property {number} most
 * @property {boolean} [mayBeNone] whether 0 will do as well
 */

/**
 * As it was written.
 * @typedef {object} OwnClock
 * @property {Clock['kind']} kind
 * @property {Record<string, string>} said by the protocol's fields
 * @property {Unit} unit of the time for a move
 */

/** @typedef {keyof typeof UNITS} Unit */

export const UNITS = { seconds: SECOND, minutes: MINUTE, hours: HOUR, days: DAY };
export const UNIT_NAMES = /** @type {Unit[]} */ (Object.keys(UNITS));

/** @type {Pick<Field, 'name' | 'unit' | 'most'>} */
const MAIN = { name: 'main_ms', unit: MINUTE, most: 3 * HOUR };

/** @type {{ kind: Clock['kind'], fields: Field[] }[]} */
export const KINDS = [
  {
    kind: 'fischer',
    fields: [
      { ...MAIN, least: SECOND, mayBeNone: true },
      {
        name: 'increment_ms',
        unit: SECOND,
        least: 0,
        most: 3 * MINUTE,
      },
    ],
  },
  {
    kind: 'delay',
    fields: [
      { ...MAIN, least: SECOND },
      {
        name: 'delay_ms',
        unit: SECOND,
        least: SECOND / 2,
        most: 3 * MINUTE,
      },
    ],
  },
  {
    kind: 'byo-yomi',
    fields: [
      { ...MAIN, least: 0 },
      {
        name: 'period_ms',
        unit: SECOND,
        least: SECOND,
        most: 10 * MINUTE,
      },
      { name: 'periods', unit: 1, least: 1, most: 25 },
    ],
  },
  {
    kind: 'move',
    fields: [
      {
        name: 'move_ms',
        unit: DAY,
        least: 5 * SECOND,
        most: 14 * DAY,
      },
    ],
  },
];

const FIRST_SAID = {
  main_ms: '10',
  increment_ms: '5',
  delay_ms: '5',
  period_ms: '30',
  periods: '3',
  move_ms: '1',
};
/** What stands in the fields at first. @type {OwnClock} */
export const FIRST = { kind: 'fischer', said: FIRST_SAID, unit: 'days' };

/** @param {Clock['kind']} kind */
export const fieldsOf = (kind) => KINDS.find((known) => known.kind === kind)?.fields ?? [];

/**
 * The clock that was written down, or what is wrong with it, by the protocol's fields.
 * @param {OwnClock} own
 * @returns {{ clock: Clock } | { clock: null, troubles: Record<string, string> }}
 */
export function readClock({ kind, said, unit }) {
  /** @type {Record<string, string>} */
  const troubles = {};
  /** @type {Record<string, number>} */
  const read = {};
  for (const field of fieldsOf(kind)) {
    const { name, least, most, mayBeNone = false } = field;
    const value = quantity(said[name] ?? '', name === 'move_ms' ? UNITS[unit] : field.unit);
    read[name] = value;
    const fits = (value >= least && value <= most) || (mayBeNone && value === 0);
    if (!fits) troubles[name] = bounds(field);
  }
  if (kind === 'fischer' && read['main_ms'] === 0 && read['increment_ms'] === 0) {
    troubles['increment_ms'] = say('own.nothing');
  }
  if (Object.keys(troubles).length > 0) return { clock: null, troubles };
  return { clock: /** @type {Clock} */ (/** @type {unknown} */ ({ kind, ...read })) };
}

/** Within which bounds a field is. @param {Field} field */
function bounds({ unit, least, most, mayBeNone }) {
  const key = mayBeNone ? 'own.bounds.none' : 'own.bounds';
  return say(key, { least: bound(least, unit), most: bound(most, unit) });
}

/** @param {number} value @param {number} unit */
function bound(value, unit) {
  if (unit === 1 || value === 0) return number(value);
  return unit === DAY || value < unit ? spanWords(value, 'long') : inUnitOf(value, unit);
}

/** In a field's own unit, though there may be a larger one. @param {number} ms @param {number} unit */
const inUnitOf = (ms, unit) => inUnit(ms / unit, unit === MINUTE ? 'minute' : 'second', 'long');

/**
 * How many milliseconds are meant, or how many pieces; `NaN` for what is no number.
 * @param {string} text @param {number} unit
 */
function quantity(text, unit) {
  // Half of the world writes a decimal comma.
  const plain = text.trim().replace(',', '.');
  if (!/^\d+(\.\d+)?$/.test(plain)) return NaN;
  const value = Number(plain) * unit;
  if (unit === 1) return Number.isInteger(value) ? value : NaN;
  return Math.round(value);
}

/** Whether a match with this clock is played over days. @param {Clock | null | undefined} clock */
export const isOfDays = (clock) => clock?.kind === 'move' && clock.move_ms >= HOUR;
