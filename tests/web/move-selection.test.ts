// Which move is meant by the squares that one chooses one after the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MoveSelection } from '../../client/web/page/model/move-selection.ts';

/** @param moves their squares apart by `-` */
const picking = (...moves: string[]) =>
  new MoveSelection(moves.map((move) => ({ move, path: move.replace(/=.*/, '').split('-') })));

/** Chooses squares one after the other, and gives what is meant in the end. */
function choose(picking: MoveSelection, squares: string) {
  let moves: string[] = [];
  for (const square of squares.split(' ')) {
    assert.deepEqual(moves, [], 'nothing is left to choose');
    moves = picking.selectSquare(square);
  }
  return moves;
}

test('a piece is picked up and put down', () => {
  const chess = picking('e2-e3', 'e2-e4', 'd2-d4');
  assert.deepEqual([...chess.origins()], ['e2', 'd2']);
  assert.deepEqual(choose(chess, 'e2'), []);
  assert.deepEqual([...chess.targets()], ['e3', 'e4']);
  assert.deepEqual(choose(chess, 'e4'), ['e2-e4']);
  assert.deepEqual(chess.selectedSquares, []);
});

test('what is picked up is let go, or changed for another', () => {
  const chess = picking('e2-e3', 'e2-e4', 'd2-d4');
  for (const [squares, way] of [
    ['e2 e2', []],
    ['e2 h8', []],
    ['h8', []],
    ['e2 d2', ['d2']],
  ] as const) {
    chess.clear();
    assert.deepEqual(choose(chess, squares), []);
    assert.deepEqual(chess.selectedSquares, way, squares);
  }
});

test('several moves over the same squares are left to choose between', () => {
  const chess = picking('e7-e8=q', 'e7-e8=n', 'e7-d8=q');
  assert.deepEqual(choose(chess, 'e7 e8'), ['e7-e8=q', 'e7-e8=n']);
});

test('a move of one way is chosen by its next square or its last', () => {
  const draughts = () => picking('22-15-6', '23-14');
  assert.deepEqual(choose(draughts(), '22 6'), ['22-15-6']);
  assert.deepEqual(choose(draughts(), '22 15'), ['22-15-6']);
});

test('where ways part, the squares between are chosen', () => {
  // Two ways around to the same end, and a third that ends elsewhere.
  const draughts = () => picking('1-10-19', '1-12-19', '1-10-17');
  const begun = draughts();
  assert.deepEqual(choose(begun, '1'), []);
  assert.deepEqual([...begun.targets()].sort(), ['10', '12', '17']);
  assert.deepEqual(choose(begun, '19'), []);
  const midway = draughts();
  assert.deepEqual(choose(midway, '1 10'), []);
  assert.deepEqual(midway.selectedSquares, ['1', '10']);
  assert.deepEqual([...midway.targets()], ['19', '17']);
  assert.deepEqual(choose(midway, '19'), ['1-10-19']);
  assert.deepEqual(choose(draughts(), '1 17'), ['1-10-17']);
  assert.deepEqual(choose(draughts(), '1 12'), ['1-12-19']);
});

test('a way that leads back to where it began is chosen on the way', () => {
  const draughts = picking('1-10-17-8-1', '1-10-19');
  assert.deepEqual(choose(draughts, '1 10 17'), ['1-10-17-8-1']);
});

test('what is only put somewhere is not picked up', () => {
  assert.deepEqual([...picking('e4', 'd4').origins()], []);
});
