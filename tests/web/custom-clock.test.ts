// What is a clock of one's own, and what is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isCorrespondenceClock, parseClock } from '../../client/web/page/lobby/custom-clock.ts';

import type { Clock } from '../../client/web/page/net/protocol.ts';
import type { TimeUnit } from '../../client/web/page/lobby/custom-clock.ts';

const read = (kind: Clock['kind'], said: Record<string, string>, unit: TimeUnit = 'days') =>
  parseClock({ kind, said, unit });

test('minutes and seconds are milliseconds', () => {
  const main_ms = '2,5';
  for (const [kind, said, clock] of [
    ['fischer', { main_ms, increment_ms: ' 0 ' }, { main_ms: 150_000, increment_ms: 0 }],
    ['fischer', { main_ms: '0', increment_ms: '3' }, { main_ms: 0, increment_ms: 3000 }],
    ['delay', { main_ms, delay_ms: '0.5' }, { main_ms: 150_000, delay_ms: 500 }],
    [
      'byo-yomi',
      { main_ms: '0', period_ms: '30', periods: '5' },
      { main_ms: 0, period_ms: 30_000, periods: 5 },
    ],
    ['move', { move_ms: '3' }, { move_ms: 259_200_000 }],
  ] as const) {
    assert.deepEqual(read(kind, said), { clock: { kind, ...clock } });
  }
});

test('what is out of its bounds, or no number, is told at its field', () => {
  for (const [kind, said, fields] of [
    ['fischer', { main_ms: '181', increment_ms: '181' }, ['main_ms', 'increment_ms']],
    ['fischer', { main_ms: '0', increment_ms: '0' }, ['increment_ms']],
    ['fischer', { main_ms: '0.01', increment_ms: '1' }, ['main_ms']],
    ['fischer', { main_ms: '', increment_ms: '-1' }, ['main_ms', 'increment_ms']],
    ['delay', { main_ms: '0', delay_ms: '0.4' }, ['main_ms', 'delay_ms']],
    [
      'byo-yomi',
      { main_ms: '1e2', period_ms: '601', periods: '26' },
      ['main_ms', 'period_ms', 'periods'],
    ],
    ['byo-yomi', { main_ms: '0', period_ms: '1', periods: '1.5' }, ['periods']],
    ['move', { move_ms: '15' }, ['move_ms']],
  ] as const) {
    const clock = read(kind, said);
    assert.deepEqual(
      clock.clock === null && Object.keys(clock.troubles),
      fields,
      JSON.stringify(said),
    );
  }
  assert.equal(read('move', { move_ms: '4' }, 'seconds').clock, null);
});

test('from an hour a move on it is played over days', () => {
  const hour = read('move', { move_ms: '1' }, 'hours');
  const less = read('move', { move_ms: '59' }, 'minutes');
  assert.deepEqual(
    [hour, less].map(({ clock }) => isCorrespondenceClock(clock)),
    [true, false],
  );
  assert.equal(
    isCorrespondenceClock({ kind: 'fischer', main_ms: 10_800_000, increment_ms: 0 }),
    false,
  );
  assert.equal(isCorrespondenceClock(null), false);
});
