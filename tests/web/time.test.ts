// Tests the formats of clocks and times.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatClock, formatTimeLeft } from '../../client/web/page/text/time.ts';

import type { Clock } from '../../client/web/page/net/protocol.ts';

test('clocks have the titles that the server gives them', () => {
  for (const [clock, words] of [
    [{ kind: 'fischer', main_ms: 300_000, increment_ms: 3000 }, '5+3'],
    [{ kind: 'fischer', main_ms: 30_000, increment_ms: 0 }, '0.5+0'],
    [{ kind: 'fischer', main_ms: 100_000, increment_ms: 500 }, '1.666+0.5'],
    [{ kind: 'delay', main_ms: 300_000, delay_ms: 2000 }, '5 d2'],
    [{ kind: 'byo-yomi', main_ms: 300_000, period_ms: 30_000, periods: 3 }, '5 min + 3 × 30 sec'],
    [{ kind: 'byo-yomi', main_ms: 0, period_ms: 90_000, periods: 1 }, '1 × 90 sec'],
    [{ kind: 'move', move_ms: 86_400_000 }, '1 day a move'],
    [{ kind: 'move', move_ms: 259_200_000 }, '3 days a move'],
    [{ kind: 'move', move_ms: 43_200_000 }, '12 hr a move'],
  ] as [Clock, string][]) {
    assert.equal(formatClock(clock), words);
  }
});

test('times have tenths below ten seconds, and days from one day on', () => {
  for (const [ms, words] of [
    [0, '0.0'],
    [1, '0.1'],
    [100, '0.1'],
    [9_900, '9.9'],
    [9_999, '10.0'],
    [10_000, '0:10'],
    [10_001, '0:11'],
    [59_001, '1:00'],
    [300_000, '5:00'],
    [3_599_001, '1:00:00'],
    [3_900_000, '1:05:00'],
    [86_399_000, '23:59:59'],
    [86_400_000, '1d 0h'],
    [219_600_000, '2d 13h'],
  ] as [number, string][]) {
    assert.equal(formatTimeLeft(ms), words);
  }
});
