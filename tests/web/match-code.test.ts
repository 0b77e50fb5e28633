// What names a match, where a code is asked for.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseMatchCode } from '../../client/web/page/model/match-code.ts';

test('a code is read with what comes along when it is copied', () => {
  for (const text of [
    '4VZYBX',
    ' 4vzybx \n',
    '4vz ybx',
    'http://127.0.0.1:7878/m/4vzybx',
    'https://play.example.org/m/4VZYBX/?from=mail#board',
    'Play with me: http://localhost/m/4VZYBX now!',
    '/m/4vzybx',
  ]) {
    assert.equal(parseMatchCode(text), '4VZYBX', text);
  }
});

test('a match is named by its id, too', () => {
  const id = '0190b9e4-7c31-7d30-9a54-3f0f6a1c2b7d';
  assert.equal(parseMatchCode(`http://localhost/m/${id}`), id.toUpperCase());
});

test('what names no match is none', () => {
  for (const text of ['', ' ', '4VZYB', '4VZYBXX', '4VZ-BX', 'http://localhost/', '/m/../x']) {
    assert.equal(parseMatchCode(text), null, text);
  }
});
