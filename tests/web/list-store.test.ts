// What is made of changes of a list, without a server.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ListStore } from '../../client/web/page/net/list-store.ts';

import type { ListedMatch, MatchStatus } from '../../client/web/page/net/protocol.ts';

const row = (match: string, status: MatchStatus, ply = 0): ListedMatch => ({
  match,
  code: match.toUpperCase(),
  game: 'chess',
  status,
  seats: [
    { side: 'white', occupant: 'open' },
    { side: 'black', occupant: 'open' },
  ],
  ply,
  spectators: 0,
});

const names = ({ byStatus: known }: ListStore) =>
  [known.open, known.running].map(({ rows, total }) => [
    rows.map(({ match }) => match).join(' '),
    total,
  ]);

const two = () => {
  const lists = new ListStore();
  lists.setList('open', { matches: [row('b', 'open'), row('a', 'open')], total: 2 });
  lists.setList('running', { matches: [row('c', 'running')], total: 1 });
  return lists;
};

test('a match that comes stands first, and one that goes on moves to the other list', () => {
  const lists = two();
  const changed = [row('a', 'running'), row('d', 'open'), row('e', 'open')];
  assert.ok(lists.applyChange({ changed, gone: [] }));
  assert.deepEqual(names(lists), [
    ['e d b', 3],
    ['a c', 2],
  ]);
});

test('a match that looks otherwise keeps its place', () => {
  const lists = two();
  assert.ok(lists.applyChange({ changed: [row('a', 'open', 7)], gone: [] }));
  assert.deepEqual(names(lists)[0], ['b a', 2]);
  assert.equal(lists.byStatus.open.rows[1]?.ply, 7);
});

test('what has ended, or is gone, is in no list', () => {
  const lists = two();
  assert.ok(lists.applyChange({ changed: [row('c', 'ended')], gone: ['b'] }));
  assert.deepEqual(names(lists), [
    ['a', 1],
    ['', 0],
  ]);
});

test('of a list that is not known to its end, or after a reset, it is asked anew', () => {
  const lists = two();
  assert.equal(lists.applyChange({ changed: [], gone: [], reset: true }), false);
  lists.setList('open', { matches: [row('b', 'open')], total: 60 });
  assert.equal(lists.applyChange({ changed: [row('d', 'open')], gone: [] }), false);
  assert.deepEqual(names(lists)[0], ['b', 60]);
});

test('a list that grows beyond what is kept knows its length', () => {
  const lists = two();
  const changed = Array.from({ length: 60 }, (_, at) => row(`new-${at}`, 'open'));
  assert.ok(lists.applyChange({ changed, gone: [] }));
  assert.equal(lists.byStatus.open.rows.length, 50);
  assert.equal(lists.byStatus.open.total, 62);
  assert.equal(lists.applyChange({ changed: [], gone: ['a'] }), false);
});
