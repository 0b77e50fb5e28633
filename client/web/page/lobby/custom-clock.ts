// The custom clock form: its fields, their bounds and the parser of the user's input.

import { formatUnit, formatNumber, translate } from '../text/language.ts';
import { formatDuration } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A field of the form. */
export interface ClockField {
  /** field of the protocol's clock */
  name: keyof typeof DEFAULT_INPUTS;
  /** milliseconds per unit of the input; 1 for a count */
  unit: number;
  least: number;
  most: number;
  /** whether 0 is valid, even if `least` is greater */
  allowsZero?: boolean;
}

/** The user's input, which is stored in the lobby preferences. */
export interface CustomClock {
  kind: Clock['kind'];
  /** text of each field */
  said: Record<string, string>;
  /** unit of `move_ms` */
  unit: TimeUnit;
}

export type TimeUnit = keyof typeof UNIT_MS;

export const UNIT_MS = { seconds: SECOND, minutes: MINUTE, hours: HOUR, days: DAY };
export const UNIT_NAMES = Object.keys(UNIT_MS) as TimeUnit[];

const MAIN_TIME: Pick<ClockField, 'name' | 'unit' | 'most'> = {
  name: 'main_ms',
  unit: MINUTE,
  most: 3 * HOUR,
};

export const CLOCK_KINDS: { kind: Clock['kind']; fields: ClockField[] }[] = [
  {
    kind: 'fischer',
    fields: [
      { ...MAIN_TIME, least: SECOND, allowsZero: true },
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
      { ...MAIN_TIME, least: SECOND },
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
      { ...MAIN_TIME, least: 0 },
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

const DEFAULT_INPUTS = {
  main_ms: '10',
  increment_ms: '5',
  delay_ms: '5',
  period_ms: '30',
  periods: '3',
  move_ms: '1',
};
export const DEFAULT_CUSTOM_CLOCK: CustomClock = {
  kind: 'fischer',
  said: DEFAULT_INPUTS,
  unit: 'days',
};

export const clockFields = (kind: Clock['kind']) =>
  CLOCK_KINDS.find((entry) => entry.kind === kind)?.fields ?? [];

/** Returns the clock, or an error text for each invalid field. */
export function parseClock({
  kind,
  said,
  unit,
}: CustomClock): { clock: Clock } | { clock: null; troubles: Record<string, string> } {
  const troubles: Record<string, string> = {};
  const values: Record<string, number> = {};
  for (const field of clockFields(kind)) {
    const { name, least, most, allowsZero } = field;
    const value = parseQuantity(said[name] ?? '', name === 'move_ms' ? UNIT_MS[unit] : field.unit);
    values[name] = value;
    const isValid = (value >= least && value <= most) || (allowsZero && value === 0);
    if (!isValid) troubles[name] = boundsText(field);
  }
  if (kind === 'fischer' && values['main_ms'] === 0 && values['increment_ms'] === 0) {
    troubles['increment_ms'] = translate('own.nothing');
  }
  if (Object.keys(troubles).length > 0) return { clock: null, troubles };
  return { clock: { kind, ...values } as unknown as Clock };
}

function boundsText({ unit, least, most, allowsZero }: ClockField) {
  const key = allowsZero ? 'own.bounds.none' : 'own.bounds';
  return translate(key, { least: formatBound(least, unit), most: formatBound(most, unit) });
}

function formatBound(value: number, unit: number) {
  if (unit === 1 || value === 0) return formatNumber(value);
  return unit === DAY || value < unit ? formatDuration(value, 'long') : formatInUnit(value, unit);
}

/** Formats in the unit of the field even if there is a larger one: 180 minutes, not 3 hours. */
const formatInUnit = (ms: number, unit: number) =>
  formatUnit(ms / unit, unit === MINUTE ? 'minute' : 'second', 'long');

/** Parses a count or a duration, which is returned in milliseconds; `NaN` for other text. */
function parseQuantity(text: string, unit: number) {
  // Many languages use a decimal comma.
  const plain = text.trim().replace(',', '.');
  if (!/^\d+(\.\d+)?$/.test(plain)) return NaN;
  const value = Number(plain) * unit;
  if (unit === 1) return Number.isInteger(value) ? value : NaN;
  return Math.round(value);
}
