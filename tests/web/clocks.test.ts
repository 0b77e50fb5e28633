// Tests what clocks show for each kind of clock in the protocol documentation.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  clockDetailText,
  msUntilChange,
  clockReading,
  isTimeLow,
} from '../../client/web/page/model/clocks.ts';
import { formatTimeLeft } from '../../client/web/page/text/time.ts';

import type { Clock } from '../../client/web/page/net/protocol.ts';
import type { Match } from '../../client/web/page/model/match.ts';

const FISCHER: Clock = { kind: 'fischer', main_ms: 60_000, increment_ms: 0 };
const DELAY: Clock = { kind: 'delay', main_ms: 60_000, delay_ms: 2000 };
const PERIODS: Clock = { kind: 'byo-yomi', main_ms: 60_000, period_ms: 30_000, periods: 3 };

/** A running match with seat 0 to move, received at time 1000. */
const match = (clock: Clock, fields: Partial<Match> = {}) =>
  ({
    ...{ status: 'running', turn: 0, clock, left_ms: [60_000, 50_000], turn_ms: 0, stands: false },
    ...{ clocksUpdatedAt: 1000, ...fields },
  }) as Match;

/** Text of a clock `ms` after the match was received. */
function clockText(match: Match, ms: number, seat = 0) {
  const reading = clockReading(match, seat, 1000 + ms);
  assert.ok(reading && match.clock);
  const detail = clockDetailText(reading, match.clock, true);
  return [formatTimeLeft(reading.left), detail]
    .filter((text) => text && text !== 'to move')
    .join(' ');
}

test('time runs from the receipt of the match', () => {
  assert.equal(clockText(match(FISCHER), 1500), '0:59');
  assert.equal(clockText(match(FISCHER, { turn_ms: 1480 }), 1520), '0:57');
  assert.equal(clockText(match(FISCHER), 1500, 1), '0:50');
  assert.equal(clockText(match(FISCHER, { stands: true, turn_ms: 5000 }), 9000), '0:55 stands');
  assert.equal(clockText(match(FISCHER, { first_move_ms: 30_000 }), 1000), '1:00 first move: 0:29');
  assert.equal(clockText(match({ kind: 'move', move_ms: 60_000 }), 59_000), '1.0');
});

test('a clock stops just above zero until the server ends the match', () => {
  assert.equal(clockText(match(FISCHER), 70_000), '0.1');
  const periods = match(PERIODS, { left_ms: [0, 0], periods: [1, 3] });
  assert.equal(clockText(periods, 70_000), '0.1 last period');
  const over = match(FISCHER, { status: 'ended', turn: null, left_ms: [0, 50_000] });
  assert.equal(clockText(over, 0), '0.0');
  assert.equal(clockReading({ ...match(FISCHER), clock: undefined }, 0, 0), null);
});

test('a delay runs before the main time', () => {
  assert.equal(clockText(match(DELAY), 500), '1:00 delay: 1.5');
  assert.equal(clockText(match(DELAY), 3000), '0:59');
});

test('periods follow the main time', () => {
  const periods = match(PERIODS, { periods: [3, 3] });
  assert.equal(clockText(periods, 59_000), '1.0 + 3 × 30 sec');
  assert.equal(clockText(periods, 60_000), '0:30 3 periods');
  assert.equal(clockText(periods, 91_000), '0:29 2 periods');
  assert.equal(clockText(periods, 149_000), '1.0 last period');
  assert.equal(
    clockText(match(PERIODS, { left_ms: [0, 0], periods: [3, 2] }), 0, 1),
    '0:30 2 periods',
  );
});

test('the last ten seconds of a period are low, those of the main time only without periods', () => {
  const isLow = (match: Match, ms: number) => {
    const reading = clockReading(match, 0, 1000 + ms);
    return reading !== null && isTimeLow(reading);
  };
  assert.equal(isLow(match(FISCHER), 50_000), false);
  assert.equal(isLow(match(FISCHER), 50_001), true);
  const periods = match(PERIODS, { periods: [3, 3] });
  assert.equal(isLow(periods, 55_000), false);
  assert.equal(isLow(periods, 81_000), true);
});

test('the next update is due when the text changes', () => {
  const nextUpdate = (match: Match, ms: number, seat = 0) => {
    const reading = clockReading(match, seat, 1000 + ms);
    return reading && msUntilChange(reading);
  };
  assert.equal(nextUpdate(match(FISCHER), 0), 1000);
  assert.equal(nextUpdate(match(FISCHER), 300), 700);
  assert.equal(nextUpdate(match(FISCHER), 55_030), 70);
  assert.equal(nextUpdate(match(FISCHER), 0, 1), null);
  assert.equal(nextUpdate(match(FISCHER, { stands: true }), 0), null);
  assert.equal(nextUpdate(match(FISCHER), 60_000), 100);
  assert.equal(nextUpdate(match(DELAY), 1950), 50);
});
