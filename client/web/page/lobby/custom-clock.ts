// A clock of one's own: what is asked for, and within which bounds.

import { formatUnit, formatNumber, translate } from '../text/language.ts';
import { formatDuration } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What one writes down of a clock, in its unit. */
export interface ClockField {
  /** of the protocol's field */
  name: keyof typeof FIRST_SAID;
  /** in milliseconds; 1 for what is counted */
  unit: number;
  least: number;
  most: number;
  /** whether 0 will do as well */
  allowsZero?: boolean;
}

/** As it was written. */
export interface CustomClock {
  kind: Clock['kind'];
  /** by the protocol's fields */
  said: Record<string, string>;
  /** of the time for a move */
  unit: TimeUnit;
}

export type TimeUnit = keyof typeof UNIT_MS;

export const UNIT_MS = { seconds: SECOND, minutes: MINUTE, hours: HOUR, days: DAY };
export const UNIT_NAMES = Object.keys(UNIT_MS) as TimeUnit[];

const MAIN: Pick<ClockField, 'name' | 'unit' | 'most'> = {
  name: 'main_ms',
  unit: MINUTE,
  most: 3 * HOUR,
};

export const CLOCK_KINDS: { kind: Clock['kind']; fields: ClockField[] }[] = [
  {
    kind: 'fischer',
    fields: [
      { ...MAIN, least: SECOND, allowsZero: true },
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
/** What stands in the fields at first. */
export const DEFAULT_CUSTOM_CLOCK: CustomClock = {
  kind: 'fischer',
  said: FIRST_SAID,
  unit: 'days',
};

export const clockFields = (kind: Clock['kind']) =>
  CLOCK_KINDS.find((known) => known.kind === kind)?.fields ?? [];

/** The clock that was written down, or what is wrong with it, by the protocol's fields. */
export function parseClock({
  kind,
  said,
  unit,
}: CustomClock): { clock: Clock } | { clock: null; troubles: Record<string, string> } {
  const troubles: Record<string, string> = {};
  const read: Record<string, number> = {};
  for (const field of clockFields(kind)) {
    const { name, least, most, allowsZero: mayBeNone = false } = field;
    const value = quantity(said[name] ?? '', name === 'move_ms' ? UNIT_MS[unit] : field.unit);
    read[name] = value;
    const fits = (value >= least && value <= most) || (mayBeNone && value === 0);
    if (!fits) troubles[name] = bounds(field);
  }
  if (kind === 'fischer' && read['main_ms'] === 0 && read['increment_ms'] === 0) {
    troubles['increment_ms'] = translate('own.nothing');
  }
  if (Object.keys(troubles).length > 0) return { clock: null, troubles };
  return { clock: { kind, ...read } as unknown as Clock };
}

/** Within which bounds a field is. */
function bounds({ unit, least, most, allowsZero: mayBeNone }: ClockField) {
  const key = mayBeNone ? 'own.bounds.none' : 'own.bounds';
  return translate(key, { least: bound(least, unit), most: bound(most, unit) });
}

function bound(value: number, unit: number) {
  if (unit === 1 || value === 0) return formatNumber(value);
  return unit === DAY || value < unit ? formatDuration(value, 'long') : inUnitOf(value, unit);
}

/** In a field's own unit, though there may be a larger one. */
const inUnitOf = (ms: number, unit: number) =>
  formatUnit(ms / unit, unit === MINUTE ? 'minute' : 'second', 'long');

/** How many milliseconds are meant, or how many pieces; `NaN` for what is no number. */
function quantity(text: string, unit: number) {
  // Half of the world writes a decimal comma.
  const plain = text.trim().replace(',', '.');
  if (!/^\d+(\.\d+)?$/.test(plain)) return NaN;
  const value = Number(plain) * unit;
  if (unit === 1) return Number.isInteger(value) ? value : NaN;
  return Math.round(value);
}

/** Whether a match with this clock is played over days. */
export const isCorrespondenceClock = (clock: Clock | null | undefined) =>
  clock?.kind === 'move' && clock.move_ms >= HOUR;
