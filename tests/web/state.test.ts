// The reducer of the page's state.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { INITIAL_STATE, reduce } from '../../client/web/page/model/state.ts';

import type { Action, State } from '../../client/web/page/model/state.ts';

const message = (content: object) => content as Action;

const apply = (...actions: object[]) =>
  actions.reduce<State>((state, action) => reduce(state, message(action), 1), INITIAL_STATE);

const snapshot = (match: string, more: object = {}) => ({
  ...{ type: 'match', match, code: 'ABCDEF', seq: 3, game: 'tic-tac-toe', status: 'running' },
  ...{ host: 'ann', you: 0, ply: 0, turn: 0, legal: ['a1', 'a2'], position: '9', moves: [] },
  ...{ seats: [seat('ann'), seat('bob')], offers: [], said: [] },
  ...more,
});

const seat = (player: string) => ({ occupant: 'player', player, name: player, connected: true });

const moved = (seq: number) => ({
  ...{ type: 'moved', match: 'm', seq, ply: 0, next_ply: 1, seat: 0, move: 'a1', turn: 1 },
  ...{ position: 'X8', legal: [] },
});

const welcome = (more: object = {}) => ({
  ...{ type: 'welcome', player: { id: 'ann', name: 'ann' }, following: [], challenges: [] },
  ...{ resumed: true },
  ...more,
});

const challenge = (match: string) => ({ type: 'challenge', match, from: { name: 'bob' } });

test('an event changes its match only, and earlier states remain as they were', () => {
  const before = apply(snapshot('m'), snapshot('other'));
  const after = reduce(before, message(moved(4)), 2);
  assert.deepEqual(after.matches.get('m')?.moves, ['a1']);
  assert.deepEqual(before.matches.get('m')?.moves, []);
  assert.equal(after.matches.get('other'), before.matches.get('other'));
});

test('repeated events and events after a gap change nothing', () => {
  const state = apply(snapshot('m'));
  for (const seq of [3, 5]) assert.equal(reduce(state, message(moved(seq)), 2), state);
});

test('a reconnection keeps the followed matches and the match in view', () => {
  const state = apply(snapshot('followed'), snapshot('shown'), snapshot('old'));
  const following = [{ match: 'followed', you: 0 }];
  const after = reduce(state, message(welcome({ following })), 2, 'shown');
  assert.deepEqual([...after.matches.keys()], ['followed', 'shown']);
  const other = reduce(state, message(welcome({ following, resumed: false })), 2, 'shown');
  assert.equal(other.matches.size, 0);
});

test('correspondence matches and unseen turns follow the server', () => {
  const row = { match: 'm', days: true, you: 0, turn: 1, due_ms: 9 };
  const state = apply(welcome({ following: [row] }));
  assert.deepEqual(state.correspondence.get('m'), { match: 'm', isMine: false, due: 9 });
  const mine = reduce(state, message({ type: 'your_turn', match: 'm', due_ms: 20 }), 2);
  assert.deepEqual(mine.correspondence.get('m'), { match: 'm', isMine: true, due: 20 });
  assert.ok(mine.unseenTurns.has('m'));
  assert.equal(reduce(mine, message(snapshot('m')), 3).unseenTurns.size, 0);
  assert.equal(reduce(mine, message(snapshot('m', { status: 'ended' })), 3).correspondence.size, 0);
  assert.equal(reduce(mine, message(welcome({ following: [row] })), 3).unseenTurns.size, 0);
});

test('a challenge ends when it is answered, withdrawn or started', () => {
  const state = apply(challenge('m'), challenge('n'));
  const open = snapshot('m', { you: null, status: 'open' });
  assert.equal(reduce(state, message(open), 2).challenges.size, 2);
  for (const action of [
    { type: 'challenge_answered', match: 'm' },
    { type: 'challenge_over', match: 'm' },
    snapshot('m'),
  ]) {
    assert.deepEqual([...reduce(state, message(action), 2).challenges.keys()], ['n']);
  }
});

test('new sessions wait for confirmation, and belong to one player', () => {
  const added = (session: string) => ({ type: 'session_added', session, label: session });
  const state = apply(welcome(), added('s'), added('t'));
  const confirm = (session: string) =>
    reduce(state, message({ type: 'session_confirmed', session }), 2).newSessions.length;
  assert.equal(confirm('s'), 1);
  assert.equal(confirm('others'), 0);
  assert.equal(reduce(state, message(welcome()), 2).newSessions.length, 2);
  const other = welcome({ player: { id: 'bob', name: 'bob' } });
  assert.equal(reduce(state, message(other), 2).newSessions.length, 0);
});
