// Tests how the page finds a match code or id in text that a user enters.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseMatchCode } from '../../client/web/page/model/match-code.ts';

test('a match code is found in pasted text', () => {
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

test('a match id is found, too', () => {
  const id = '0190b9e4-7c31-7d30-9a54-3f0f6a1c2b7d';
  assert.equal(parseMatchCode(`http://localhost/m/${id}`), id.toUpperCase());
});

test('text without a match code or id is rejected', () => {
  for (const text of ['', ' ', '4VZYB', '4VZYBXX', '4VZ-BX', 'http://localhost/', '/m/../x']) {
    assert.equal(parseMatchCode(text), null, text);
  }
});
