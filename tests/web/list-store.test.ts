// Tests how the store of match lists applies changes.

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

/** Ids and total of the open and of the running matches. */
const summarize = ({ byStatus }: ListStore) =>
  [byStatus.open, byStatus.running].map(({ rows, total }) => [
    rows.map(({ match }) => match).join(' '),
    total,
  ]);

const createLists = () => {
  const lists = new ListStore();
  lists.setList('open', { matches: [row('b', 'open'), row('a', 'open')], total: 2 });
  lists.setList('running', { matches: [row('c', 'running')], total: 1 });
  return lists;
};

test('a new match is listed first, and a started match moves to the running matches', () => {
  const lists = createLists();
  const changed = [row('a', 'running'), row('d', 'open'), row('e', 'open')];
  assert.ok(lists.applyChange({ changed, gone: [] }));
  assert.deepEqual(summarize(lists), [
    ['e d b', 3],
    ['a c', 2],
  ]);
});

test('a changed match keeps its position', () => {
  const lists = createLists();
  assert.ok(lists.applyChange({ changed: [row('a', 'open', 7)], gone: [] }));
  assert.deepEqual(summarize(lists)[0], ['b a', 2]);
  assert.equal(lists.byStatus.open.rows[1]?.ply, 7);
});

test('ended and removed matches are in no list', () => {
  const lists = createLists();
  assert.ok(lists.applyChange({ changed: [row('c', 'ended')], gone: ['b'] }));
  assert.deepEqual(summarize(lists), [
    ['a', 1],
    ['', 0],
  ]);
});

test('changes are not applied to an incomplete list or after a reset', () => {
  const lists = createLists();
  assert.equal(lists.applyChange({ changed: [], gone: [], reset: true }), false);
  lists.setList('open', { matches: [row('b', 'open')], total: 60 });
  assert.equal(lists.applyChange({ changed: [row('d', 'open')], gone: [] }), false);
  assert.deepEqual(summarize(lists)[0], ['b', 60]);
});

test('a list that outgrows the stored rows knows its total', () => {
  const lists = createLists();
  const changed = Array.from({ length: 60 }, (_, at) => row(`new-${at}`, 'open'));
  assert.ok(lists.applyChange({ changed, gone: [] }));
  assert.equal(lists.byStatus.open.rows.length, 50);
  assert.equal(lists.byStatus.open.total, 62);
  assert.equal(lists.applyChange({ changed: [], gone: ['a'] }), false);
});
