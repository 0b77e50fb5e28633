// What clocks show, by the table of the protocol's page.

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

/** A match in which seat 0 is to move, as it was told at the instant 1000. */
const match = (clock: Clock, more: Partial<Match> = {}) =>
  ({
    ...{ status: 'running', turn: 0, clock, left_ms: [60_000, 50_000], turn_ms: 0, stands: false },
    ...{ clocksUpdatedAt: 1000, ...more },
  }) as Match;

/** What seat 0 sees so long after it was told. */
function shown(match: Match, ms: number, seat: number = 0) {
  const shown = clockReading(match, seat, 1000 + ms);
  assert.ok(shown && match.clock);
  const beside = clockDetailText(shown, match.clock, true);
  return [formatTimeLeft(shown.left), beside]
    .filter((words) => words && words !== 'to move')
    .join(' ');
}

test('what is left is counted from the moment of receipt', () => {
  assert.equal(shown(match(FISCHER), 1500), '0:59');
  assert.equal(shown(match(FISCHER, { turn_ms: 1480 }), 1520), '0:57');
  assert.equal(shown(match(FISCHER), 1500, 1), '0:50');
  assert.equal(shown(match(FISCHER, { stands: true, turn_ms: 5000 }), 9000), '0:55 stands');
  assert.equal(shown(match(FISCHER, { first_move_ms: 30_000 }), 1000), '1:00 first move: 0:29');
  assert.equal(shown(match({ kind: 'move', move_ms: 60_000 }), 59_000), '1.0');
});

test('nothing is over before it is told', () => {
  assert.equal(shown(match(FISCHER), 70_000), '0.1');
  const periods = match(PERIODS, { left_ms: [0, 0], periods: [1, 3] });
  assert.equal(shown(periods, 70_000), '0.1 last period');
  const over = match(FISCHER, { status: 'ended', turn: null, left_ms: [0, 50_000] });
  assert.equal(shown(over, 0), '0.0');
  assert.equal(clockReading({ ...match(FISCHER), clock: undefined }, 0, 0), null);
});

test('a delay runs before the time does', () => {
  assert.equal(shown(match(DELAY), 500), '1:00 delay: 1.5');
  assert.equal(shown(match(DELAY), 3000), '0:59');
});

test('periods follow the main time', () => {
  const told = match(PERIODS, { periods: [3, 3] });
  assert.equal(shown(told, 59_000), '1.0 + 3 × 30 sec');
  assert.equal(shown(told, 60_000), '0:30 3 periods');
  assert.equal(shown(told, 91_000), '0:29 2 periods');
  assert.equal(shown(told, 149_000), '1.0 last period');
  assert.equal(shown(match(PERIODS, { left_ms: [0, 0], periods: [3, 2] }), 0, 1), '0:30 2 periods');
});

test('it is red where there is little left, and no period to come', () => {
  const low = (match: Match, ms: number) => {
    const shown = clockReading(match, 0, 1000 + ms);
    return shown !== null && isTimeLow(shown);
  };
  assert.equal(low(match(FISCHER), 50_000), false);
  assert.equal(low(match(FISCHER), 50_001), true);
  const periods = match(PERIODS, { periods: [3, 3] });
  assert.equal(low(periods, 55_000), false);
  assert.equal(low(periods, 81_000), true);
});

test('it is looked at again when it shows something else', () => {
  const next = (match: Match, ms: number, seat = 0) => {
    const shown = clockReading(match, seat, 1000 + ms);
    return shown && msUntilChange(shown);
  };
  assert.equal(next(match(FISCHER), 0), 1000);
  assert.equal(next(match(FISCHER), 300), 700);
  assert.equal(next(match(FISCHER), 55_030), 70);
  assert.equal(next(match(FISCHER), 0, 1), null);
  assert.equal(next(match(FISCHER, { stands: true }), 0), null);
  assert.equal(next(match(FISCHER), 60_000), 100);
  assert.equal(next(match(DELAY), 1950), 50);
});
