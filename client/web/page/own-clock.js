// A clock of one's own: what is asked for, and within which bounds.

/** @import { Clock } from '../protocol.js' */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * What one writes down of a clock, in its unit.
 * @typedef {object} Field
 * @property {string} name of the protocol's field
 * @property {string} label
 * @property {number} unit in milliseconds; 1 for what is counted
 * @property {number} least
 * @property {number} most
 * @property {boolean} [mayBeNone] whether 0 will do as well
 * @property {string} bounds in words
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

/** @type {Pick<Field, 'name' | 'label' | 'unit' | 'most'>} */
const MAIN = { name: 'main_ms', label: 'Minutes for each', unit: MINUTE, most: 3 * HOUR };

/** @type {{ kind: Clock['kind'], title: string, about: string, fields: Field[] }[]} */
export const KINDS = [
  {
    kind: 'fischer',
    title: 'Increment',
    about: 'Every move adds some seconds.',
    fields: [
      { ...MAIN, least: SECOND, mayBeNone: true, bounds: '0, or one second to 180 minutes' },
      {
        name: 'increment_ms',
        label: 'Seconds added by a move',
        unit: SECOND,
        least: 0,
        most: 3 * MINUTE,
        bounds: '0 to 180 seconds',
      },
    ],
  },
  {
    kind: 'delay',
    title: 'Delay',
    about: 'The clock waits some seconds before each move.',
    fields: [
      { ...MAIN, least: SECOND, bounds: 'One second to 180 minutes' },
      {
        name: 'delay_ms',
        label: 'Seconds of delay',
        unit: SECOND,
        least: SECOND / 2,
        most: 3 * MINUTE,
        bounds: '0.5 to 180 seconds',
      },
    ],
  },
  {
    kind: 'byo-yomi',
    title: 'Byo-yomi',
    about: 'After the main time a period is lost by every move that takes longer than one.',
    fields: [
      { ...MAIN, least: 0, bounds: '0 to 180 minutes' },
      {
        name: 'period_ms',
        label: 'Seconds of a period',
        unit: SECOND,
        least: SECOND,
        most: 10 * MINUTE,
        bounds: '1 to 600 seconds',
      },
      { name: 'periods', label: 'Periods', unit: 1, least: 1, most: 25, bounds: '1 to 25' },
    ],
  },
  {
    kind: 'move',
    title: 'Time a move',
    about: 'Every move may take so long; with an hour or more nobody need stay connected.',
    fields: [
      {
        name: 'move_ms',
        label: 'Time for a move',
        unit: DAY,
        least: 5 * SECOND,
        most: 14 * DAY,
        bounds: '5 seconds to 14 days',
      },
    ],
  },
];

/** What stands in the fields at first. @type {OwnClock} */
export const FIRST = {
  kind: 'fischer',
  said: {
    main_ms: '10',
    increment_ms: '5',
    delay_ms: '5',
    period_ms: '30',
    periods: '3',
    move_ms: '1',
  },
  unit: 'days',
};

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
    const { name, least, most, mayBeNone = false, bounds } = field;
    const value = quantity(said[name] ?? '', name === 'move_ms' ? UNITS[unit] : field.unit);
    read[name] = value;
    const fits = (value >= least && value <= most) || (mayBeNone && value === 0);
    if (!fits) troubles[name] = `${bounds}, please.`;
  }
  if (kind === 'fischer' && read['main_ms'] === 0 && read['increment_ms'] === 0) {
    troubles['increment_ms'] = 'Without minutes a move has to add something.';
  }
  if (Object.keys(troubles).length > 0) return { clock: null, troubles };
  return { clock: /** @type {Clock} */ (/** @type {unknown} */ ({ kind, ...read })) };
}

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
