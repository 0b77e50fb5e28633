// The board editor reads the files of the corpus. Other libraries have computed the expected
// values: see `tests/data/corpus/expected.py`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { readPosition } from '../../client/web/page/editor/notation/read-position.ts';
import { PositionError } from '../../client/web/page/editor/position-error.ts';

import type { Game } from '../../client/web/page/net/protocol.ts';

/** A position, or the key of the error message. */
type Value = { position: string; unplayed: number } | { refused: string };
interface Entry {
  file: string;
  game: string;
  page?: Value[];
}

const FOLDER = new URL('../data/corpus/', import.meta.url);
const RECORD = /\.(pgn|pdn|sgf)$/;

const GAMES: Record<string, Pick<Game, 'files' | 'ranks' | 'sides'>> = {
  'tic-tac-toe': { files: 3, ranks: 3, sides: ['x', 'o'] },
  'connect-four': { files: 7, ranks: 6, sides: ['red', 'yellow'] },
  othello: { files: 8, ranks: 8, sides: ['black', 'white'] },
  draughts: { files: 8, ranks: 8, sides: ['black', 'white'] },
  chess: { files: 8, ranks: 8, sides: ['white', 'black'] },
  gomoku: { files: 15, ranks: 15, sides: ['black', 'white'] },
  go: { files: 9, ranks: 9, sides: ['black', 'white'] },
};

const readCorpus = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8');

/** The texts that a user pastes: a whole record, or one line. */
function textsOf(file: string) {
  const text = readCorpus(file);
  if (RECORD.test(file)) return [text];
  const lines = text.replace('\uFEFF', '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !/^[#%]/.test(line));
}

/**
 * Limits the counts of a position to the maximum of the server. Of a Go position only the stones
 * and the turn remain, because SGF contains nothing else.
 */
function normalizePosition(game: string, position: string) {
  const [quietMax, numberMax] = [game === 'chess' ? 100 : 80, 65_535];
  const cap = (text: string, max: number) => String(Math.min(Number(text), max));
  if (game === 'go') return position.split(' ').slice(0, 2).join(' ');
  if (game !== 'chess' && game !== 'draughts') return position;
  return position.replace(
    /(\d+)( |:F)(\d+)$/,
    (_, quiet, sign, number) => `${cap(quiet, quietMax)}${sign}${cap(number, numberMax)}`,
  );
}

function readValue({ game }: Entry, text: string): Value {
  const rules = GAMES[game];
  assert.ok(rules, game);
  try {
    const { position, unplayedMoves } = readPosition(text, {
      game,
      title: game,
      draws: true,
      ...rules,
    });
    return { position: normalizePosition(game, position.text), unplayed: unplayedMoves };
  } catch (error) {
    if (error instanceof PositionError) return { refused: error.key };
    throw error;
  }
}

const entries: Entry[] = JSON.parse(readCorpus('expected.json'));

for (const entry of entries) {
  const { file, game, page } = entry;
  if (!page) continue;
  test(`the board editor reads ${file}`, () => {
    const expected = page.map((value) =>
      'refused' in value ? value : { ...value, position: normalizePosition(game, value.position) },
    );
    assert.deepEqual(
      textsOf(file).map((text) => readValue(entry, text)),
      expected,
    );
  });
}

test('the corpus has files for the board editor', () => {
  assert.ok(entries.filter(({ page }) => page).length >= 20);
});
