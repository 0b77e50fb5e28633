// Tests the selection of a move by its squares.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MoveSelection } from '../../client/web/page/model/move-selection.ts';

/** @param moves squares, separated by `-` */
const createSelection = (...moves: string[]) =>
  new MoveSelection(moves.map((move) => ({ move, path: move.replace(/=.*/, '').split('-') })));

/** Selects squares in turn and returns the selected moves. */
function selectSquares(selection: MoveSelection, squares: string) {
  let moves: string[] = [];
  for (const square of squares.split(' ')) {
    assert.deepEqual(moves, [], 'no square is left to select');
    moves = selection.selectSquare(square);
  }
  return moves;
}

test('a move is selected by its origin and its target', () => {
  const chess = createSelection('e2-e3', 'e2-e4', 'd2-d4');
  assert.deepEqual([...chess.origins()], ['e2', 'd2']);
  assert.deepEqual(selectSquares(chess, 'e2'), []);
  assert.deepEqual([...chess.targets()], ['e3', 'e4']);
  assert.deepEqual(selectSquares(chess, 'e4'), ['e2-e4']);
  assert.deepEqual(chess.selectedSquares, []);
});

test('a selected piece can be deselected or replaced by another one', () => {
  const chess = createSelection('e2-e3', 'e2-e4', 'd2-d4');
  for (const [squares, selected] of [
    ['e2 e2', []],
    ['e2 h8', []],
    ['h8', []],
    ['e2 d2', ['d2']],
  ] as const) {
    chess.clear();
    assert.deepEqual(selectSquares(chess, squares), []);
    assert.deepEqual(chess.selectedSquares, selected, squares);
  }
});

test('all moves over the selected squares are returned', () => {
  const chess = createSelection('e7-e8=q', 'e7-e8=n', 'e7-d8=q');
  assert.deepEqual(selectSquares(chess, 'e7 e8'), ['e7-e8=q', 'e7-e8=n']);
});

test('the next or the last square selects a move with a single path', () => {
  const draughts = () => createSelection('22-15-6', '23-14');
  assert.deepEqual(selectSquares(draughts(), '22 6'), ['22-15-6']);
  assert.deepEqual(selectSquares(draughts(), '22 15'), ['22-15-6']);
});

test('if several paths end on a square, an intermediate square selects one of them', () => {
  // Two paths end on 19, and a third one ends on 17.
  const draughts = () => createSelection('1-10-19', '1-12-19', '1-10-17');
  const started = draughts();
  assert.deepEqual(selectSquares(started, '1'), []);
  assert.deepEqual([...started.targets()].sort(), ['10', '12', '17']);
  assert.deepEqual(selectSquares(started, '19'), []);
  const midway = draughts();
  assert.deepEqual(selectSquares(midway, '1 10'), []);
  assert.deepEqual(midway.selectedSquares, ['1', '10']);
  assert.deepEqual([...midway.targets()], ['19', '17']);
  assert.deepEqual(selectSquares(midway, '19'), ['1-10-19']);
  assert.deepEqual(selectSquares(draughts(), '1 17'), ['1-10-17']);
  assert.deepEqual(selectSquares(draughts(), '1 12'), ['1-12-19']);
});

test('a path that returns to its origin is selected by an intermediate square', () => {
  const draughts = createSelection('1-10-17-8-1', '1-10-19');
  assert.deepEqual(selectSquares(draughts, '1 10 17'), ['1-10-17-8-1']);
});

test('moves without an origin offer no square to pick up', () => {
  assert.deepEqual([...createSelection('e4', 'd4').origins()], []);
});
