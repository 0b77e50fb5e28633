// Tests which seat moves first from a custom position, and the takebacks that depend on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { firstToMove } from '../../client/web/page/model/first-player.ts';
import { takebackPly } from '../../client/web/page/model/match.ts';

import type { Match } from '../../client/web/page/model/match.ts';

const match = (sides: string[], start?: string) =>
  ({ start, seats: sides.map((side) => ({ side })) }) as Match;

test('the side to move in the position moves first', () => {
  for (const [sides, first, second] of [
    [['x', 'o'], '.../.x./..o', '.../.x./...'],
    [['red', 'yellow'], '......./ry.....', '......./r......'],
    [['black', 'white'], '15/7bw6', '15/7b7'],
    [['black', 'white'], '---O*--- *', '---O*--- O'],
    [['black', 'white'], 'B:W21:B1:H0:F3', 'W:W21:B1:H0:F3'],
    [['white', 'black'], '4k3/8 w - - 0 1', '4k3/8 b - - 0 1'],
    [['black', 'white'], 'b.w b 0 0 0 2', 'b.. w 0 0 0 1'],
  ] as [string[], string, string][]) {
    assert.equal(firstToMove(match(sides)), 0);
    assert.equal(firstToMove(match(sides, first)), 0, first);
    assert.equal(firstToMove(match(sides, second)), 1, second);
  }
});

test('a takeback undoes the last own move, whichever side began', () => {
  const takeback = (fields: object) =>
    takebackPly({ ...match(['x', 'o'], '.../.x./...'), ...fields });
  assert.equal(takeback({ you: 1, ply: 1 }), 0);
  assert.equal(takeback({ you: 0, ply: 1 }), null);
  assert.equal(takeback({ you: 1, ply: 4 }), 2);
  assert.equal(takebackPly({ ...match(['x', 'o']), you: 0, ply: 4 }), 2);
});
