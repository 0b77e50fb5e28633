// Checks that the generated protocol types are precise. The TypeScript compiler makes these checks.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type {
  Message,
  Outcome,
  ReplyTo,
  Request,
  Snapshot,
} from '../../client/web/page/net/protocol.ts';

test('type selects the fields of a message', () => {
  const levelsIn = (message: Message) => {
    // @ts-expect-error only `welcome` has levels
    message.levels;
    if (message.type !== 'welcome') return [];
    // @ts-expect-error `welcome` has no such field
    message.unknown_field;
    // @ts-expect-error levels are objects
    const text: string | undefined = message.levels[0];
    assert.equal(text, undefined);
    return message.levels.map(({ level }) => level.toUpperCase());
  };
  assert.deepEqual(levelsIn({ type: 'pong', now_ms: 0 }), []);
});

test('optional fields may be absent but not null', () => {
  const hasClock = ({ clock }: Pick<Snapshot, 'clock'>) => clock !== undefined;
  assert.ok(!hasClock({}));
  // @ts-expect-error the server omits the clock
  hasClock({ clock: null });
  // @ts-expect-error the clock may be absent
  ({}) as Snapshot satisfies { clock: object };
});

test('requests contain all required and no unknown fields', () => {
  const requests: Request[] = [
    { type: 'move', match: 'm', ply: 0, move: 'e2e4' },
    // @ts-expect-error the ply is missing
    { type: 'move', match: 'm', move: 'e2e4' },
    // @ts-expect-error `ping` has no match
    { type: 'ping', match: 'm' },
    { type: 'end_session', session: 's', recovery: 'key' },
  ];
  assert.equal(requests.length, 4);
});

test('reply type depends on request type', () => {
  const codeOf = (reply: Pick<ReplyTo<'create'>, 'code'>) => reply.code;
  // @ts-expect-error `resign` is answered by `ok`, which has no code
  ({}) as ReplyTo<'resign'> satisfies { code: string };
  assert.equal(codeOf({ code: 'ABCDEF' }), 'ABCDEF');
});

test('later servers may send unknown reasons', () => {
  const outcome: Outcome = { winner: null, reason: 'adjudication' };
  assert.equal(outcome.winner, null);
});
