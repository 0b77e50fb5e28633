// Tests how the lobby parses custom clocks.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseClock } from '../../client/web/page/lobby/custom-clock.ts';
import { isCorrespondenceClock } from '../../client/web/page/model/clocks.ts';

import type { Clock } from '../../client/web/page/net/protocol.ts';
import type { TimeUnit } from '../../client/web/page/lobby/custom-clock.ts';

const parse = (kind: Clock['kind'], fields: Record<string, string>, unit: TimeUnit = 'days') =>
  parseClock({ kind, said: fields, unit });

test('minutes, seconds and days become milliseconds', () => {
  const main_ms = '2,5';
  for (const [kind, fields, clock] of [
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
    assert.deepEqual(parse(kind, fields), { clock: { kind, ...clock } });
  }
});

test('numbers out of range and other texts are errors of their fields', () => {
  for (const [kind, fields, wrongFields] of [
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
    const clock = parse(kind, fields);
    assert.deepEqual(
      clock.clock === null && Object.keys(clock.troubles),
      wrongFields,
      JSON.stringify(fields),
    );
  }
  assert.equal(parse('move', { move_ms: '4' }, 'seconds').clock, null);
});

test('a clock of an hour or more per move is a correspondence clock', () => {
  const hour = parse('move', { move_ms: '1' }, 'hours');
  const underAnHour = parse('move', { move_ms: '59' }, 'minutes');
  assert.deepEqual(
    [hour, underAnHour].map(({ clock }) => isCorrespondenceClock(clock)),
    [true, false],
  );
  assert.equal(
    isCorrespondenceClock({ kind: 'fischer', main_ms: 10_800_000, increment_ms: 0 }),
    false,
  );
  assert.equal(isCorrespondenceClock(null), false);
});
