// The board editor reads positions and game records of other programs.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadLazyTexts } from '../../client/web/page/text/language.ts';
import { readPosition } from '../../client/web/page/editor/notation/read-position.ts';
import { PositionError } from '../../client/web/page/editor/position-error.ts';

import type { Game } from '../../client/web/page/net/protocol.ts';

await loadLazyTexts();

const createGame = (game: string, title: string, size: number): Game => ({
  ...{ game, title, sides: ['black', 'white'], files: size, ranks: size, draws: true },
});
const CHESS = createGame('chess', 'Chess', 8);
const DRAUGHTS = createGame('draughts', 'Draughts', 8);
const OTHELLO = createGame('othello', 'Othello', 8);
const GOMOKU = createGame('gomoku', 'Gomoku', 15);
const GO = createGame('go', 'Go', 9);

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
const ROOK = '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20';
const PAWN = '4k3/8/8/8/8/8/4P3/4K3 b - - 7 31';

/** Returns the position and the number of its unplayed moves. */
function read(game: Game, text: string) {
  const { position, unplayedMoves } = readPosition(text, game);
  return [position.text, unplayedMoves];
}

/** Returns the error message for a text, if reading fails. */
function readError(game: Game, text: string) {
  try {
    readPosition(text, game);
  } catch (error) {
    if (error instanceof PositionError) return error.text;
    throw error;
  }
  return null;
}

/** Returns the stones of a Go board, the side to move, and the number of unplayed moves. */
function readStones(text: string) {
  const { position, unplayedMoves } = readPosition(text, GO);
  const stones = [...position.squares].map(([square, piece]) => `${piece}:${square}`);
  return [stones.sort().join(' '), position.turn === 0 ? 'b' : 'w', unplayedMoves];
}

test('moves after a chess position are counted', () => {
  for (const [text, fen, moves] of [
    [`${ROOK} moves e1g1 e8d7`, ROOK, 2],
    [`position fen ${ROOK} moves e1g1`, ROOK, 1],
    [`fen ${ROOK}`, ROOK, 0],
    [`\uFEFF${ROOK}\r\nmoves\r\ne1g1\r\n`, ROOK, 1],
    ['position startpos moves e2e4 e7e5 g1f3', START, 3],
    ['startpos', START, 0],
    ['startpos moves', START, 0],
    ['4k3/8/8/8/8/8/4P3/4K3 b - - moves e8d7', '4k3/8/8/8/8/8/4P3/4K3 b - - 0 1', 1],
    ['4k3/8/8/8/8/8/4P3/4K3 moves e2e4', '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1', 1],
    [`${ROOK} e1g1 e8d7 e2e4`, ROOK, 3],
    [`${ROOK}\n\n20. O-O Kd7 21. e4`, ROOK, 3],
  ] as const) {
    assert.deepEqual(read(CHESS, text), [fen, moves], text);
  }
});

test('moves after a position of another game are counted', () => {
  const men = 'B:W31,K32:B1,2:H0:F1';
  for (const [text, position, moves] of [
    [`position fen ${men} moves 1-6 32-28`, 'B:W31,K32:B1,2:H0:F1', 2],
    ['B:W31,K32:B1,2 moves 1-6', 'B:W31,K32:B1,2:H0:F1', 1],
  ] as const) {
    assert.deepEqual(read(DRAUGHTS, text), [position, moves], text);
  }
  const [first, moves] = read(DRAUGHTS, 'position startpos moves 11-15 22-18 15x22');
  assert.match(String(first), /^B:W21,22,.*:B1,2,.*:H0:F1$/);
  assert.equal(moves, 3);
  const othello = `${'.'.repeat(27)}OX......XO${'.'.repeat(27)} X`;
  assert.equal(read(OTHELLO, `position fen ${othello} moves d3 c3`)[1], 2);
  assert.equal(read(GO, 'position startpos moves E5')[1], 1);
});

test('the first of several games in PGN is read', () => {
  for (const [text, fen, moves] of [
    [
      `[Event "A"]\n[FEN "${ROOK}"]\n\n20. O-O 1-0\n\n[Event "B"]\n[FEN "${PAWN}"]\n\n31... Kd7 *`,
      ROOK,
      1,
    ],
    // The first game has no result.
    [`[FEN "${ROOK}"]\n\n20. O-O Kd7\n\n[FEN "${PAWN}"]\n\n31... Kd7`, ROOK, 2],
    // The first game has no moves, and then no result either.
    [`[FEN "${ROOK}"]\r\n\r\n*\r\n\r\n[FEN "${PAWN}"]\r\n\r\n31... Kd7 *`, ROOK, 0],
    [`[Event "A"]\n[FEN "${ROOK}"]\n\n[Event "B"]\n[FEN "${PAWN}"]\n\n31... Kd7 *`, ROOK, 0],
    // The second game has no FEN.
    [`[FEN "${ROOK}"]\n\n20. O-O *\n\n[Event "B"]\n\n1. e4 e5 2. Nf3 1/2-1/2`, ROOK, 1],
  ] as const) {
    assert.deepEqual(read(CHESS, text), [fen, moves], text);
  }
  for (const text of [
    `[Event "A"]\n\n1. e4 e5 1-0\n\n[Event "B"]\n[FEN "${PAWN}"]\n\n31... Kd7 *`,
    `[Event "A"]\n\n[Event "B"]\n[FEN "${PAWN}"]\n\n31... Kd7 *`,
    `1. d4 d5 2. c4\n\n[FEN "${PAWN}"]\n\n31... Kd7 *`,
    `[Event "A"]\n\n1. e4 {[FEN "${PAWN}"]} e5 *`,
    `; [FEN "${PAWN}"]\n1. e4 e5 *`,
    `% [FEN "${PAWN}"]\n1. e4 e5 *`,
  ]) {
    assert.match(readError(CHESS, text) ?? '', /this record tells moves only/, text);
  }
});

test('comments, escaped lines and variations of PGN have no tags and no moves', () => {
  const tag = `[FEN "${ROOK}"]`;
  for (const [text, moves] of [
    [`% [FEN "${PAWN}"]\n${tag}\n\n20. O-O\n% 20... Kd8 21. e3\n20... Kd7 *`, 2],
    [`{ [FEN "${PAWN}"] }\n${tag}\n\n20. O-O { (20. e4 } Kd7 { :-) ; } 21. e4 *`, 3],
    [`${tag}\r\n\r\n20. O-O ; a } comment ( to the end\r\n20... Kd7 $1 21. e4 !? *`, 3],
    [`${tag}\n\n20. O-O (20. e4 e5 (20... Kd8 1-0) 21. Kd2) 20... Kd7 *`, 2],
    [`${tag}\n\n20.O-O Kd7 21.e4 {without an end`, 3],
    [`[Event "the {"]\n[Site "a ] b"]\n[White "\\"X\\" (1"]\n${tag}\n\n20. O-O *`, 1],
    [`[Event "the "big" one"]\n${tag}\n\n20. O-O *`, 1],
    [`\uFEFF[Event "?"] ${tag} 20 0-0 Kd7 21 -- e6 *`, 4],
    [`My game 3:\n\n${tag}\n\n20. O-O *`, 1],
  ] as const) {
    assert.deepEqual(read(CHESS, text), [ROOK, moves], text);
  }
});

test('the first of several games in PDN is read', () => {
  const [first, second] = ['W:W18,K31:B5,K9', 'B:W32:B1'];
  const position = 'W:W18,K31:B5,K9:H0:F1';
  for (const [text, moves] of [
    [`[FEN "${first}."]\n1. 18-14 9x18 0-0\n\n[FEN "${second}"]\n1. 1-6 32-28 1-1`, 2],
    [`[Event "A"]\n[FEN "${first}"]\n2-0\n[Event "B"]\n[FEN "${second}"]\n1. 1-6 *`, 0],
    [`[FEN "${first}"]\r\n% 1. 18-15\r\n1. 18-14 {(18-15} 9-18\r\n\r\n[FEN "${second}"]\r\n`, 2],
  ] as const) {
    assert.deepEqual(read(DRAUGHTS, text), [position, moves], text);
  }
  const text = `[Event "A"]\n1. 11-15 22-18 1-0\n\n[FEN "${second}"]\n1. 1-6 *`;
  assert.match(readError(DRAUGHTS, text) ?? '', /this record tells moves only/);
});

test('a quoted operand of EPD is one string', () => {
  const board = '4k3/8/8/8/8/8/4P3/4K2R w K -';
  for (const [operations, counts] of [
    ['c0 "mate, hmvc 100 now";', '0 1'],
    ['c0 "hmvc 9; fmvn 8;";', '0 1'],
    ['id "a; hmvc 99; b"; hmvc 4; fmvn 12;', '4 12'],
    ['c1 "say \\"hmvc 50;\\" twice"; fmvn 3;', '0 3'],
    ['pv O-O hmvc 5; hmvc 6;', '6 1'],
    ['hmvc 7; c9 "no end; fmvn 40;', '7 1'],
    ['bm O-O; fmvn 9; hmvc 2', '2 9'],
    ['c0 "two moves e2e4";', '0 1'],
    // FEN with operations, as in files of openings.
    ['3 17;', '3 17'],
    ['3 17 ; hmvc 40; fmvn 50;', '3 17'],
    ['3 bm O-O; fmvn 5;', '3 5'],
    [';', '0 1'],
  ] as const) {
    const text = `${board} ${operations}`;
    assert.deepEqual(read(CHESS, text), [`${board} ${counts}`, 0], text);
  }
});

test('the first of several positions in a file is read', () => {
  const board = '4k3/8/8/8/8/8/4P3/4K3 w - -';
  for (const [text, counts] of [
    [`${board} bm e4;\n${PAWN.slice(0, -5)} hmvc 31; fmvn 9;`, '0 1'],
    [`${board} 5 8\r\n${PAWN}\r\n${ROOK}`, '5 8'],
    [`${board}\n${PAWN}`, '0 1'],
  ] as const) {
    assert.deepEqual(read(CHESS, text), [`${board} ${counts}`, 0], text);
  }
});

test('counts of a FEN may exceed the maximum of the server', () => {
  const board = '4k3/8/8/8/8/8/3R4/4K3 w - -';
  for (const [counts, limited] of [
    ['104 92', '104 92'],
    ['150 70000', '150 65535'],
    ['0 65536', '0 65535'],
    ['99999999999999999999999 0', '65535 1'],
    ['hmvc 120; fmvn 99999;', '120 65535'],
  ] as const) {
    const { position } = readPosition(`${board} ${counts}`, CHESS);
    assert.equal(position.text, `${board} ${limited}`);
    assert.equal(position.board.pieceAt('d2'), 'R');
  }
  assert.equal(read(DRAUGHTS, 'W:W18:BK9:H81:F70000')[0], 'W:W18:BK9:H81:F70000');
  for (const count of ['-1', '1.5', '0x10', 'e2e4']) {
    assert.match(readError(CHESS, `${board} 0 ${count}`) ?? '', /stands where a number belongs/);
  }
});

test('the set-up of an SGF ends before the first move of its main line', () => {
  for (const [text, squares, turn, moves] of [
    ['(;GM[1]FF[4]SZ[9];AB[aa]AW[bb]PL[W])', 'b:a9 w:b8', 'w', 0],
    ['(;GM[1]SZ[9]AB[aa][bb];AE[bb];AW[cc];B[dd];AB[ee];W[ff])', 'b:a9 w:c7', 'b', 2],
    ['(;SZ[9];C[a \\] (;AB[cc\\])]\n;AB[aa:ba]\nAW[ab]\n;W[ii])', 'b:a9 b:b9 w:a8', 'w', 1],
    ['(;SZ[9]AB[aa](;AW[bb](;B[cc];W[dd])(;B[ee]))(;AW[gg];B[hh]))', 'b:a9 w:b8', 'b', 2],
    ['(;SZ[9]AB[aa]AB[bb]AW[cc]PL[B];PL[W])', 'b:a9 b:b8 w:c7', 'w', 0],
    ['(;SZ[9]AB[aa:cc]AE[bb]AW[ii])', 'b:a7 b:a8 b:a9 b:b7 b:b9 b:c7 b:c8 b:c9 w:i1', 'b', 0],
    // The set-up of a node comes before its move.
    ['(;SZ[9]AW[cc]AB[dd]W[aa])', 'b:d6 w:c7', 'w', 1],
    // A comment is not a move.
    ['(;SZ[9]AB[aa]C[1 ;B[bb\\] W[cc\\]])', 'b:a9', 'w', 0],
  ] as const) {
    assert.deepEqual(readStones(text), [squares, turn, moves], text);
  }
  const gomoku = readPosition('(;GM[4]SZ[15];AB[hh][ii];AW[gh];W[aa])', GOMOKU);
  assert.deepEqual([...gomoku.position.squares.keys()].sort(), ['g8', 'h8', 'i7']);
  assert.equal(gomoku.unplayedMoves, 1);
  const othello = readPosition('(;GM[2];AB[dc][dd][ed][de]AW[ee];W[cd];B[ef])', OTHELLO);
  assert.equal(othello.position.text.length, 66);
  assert.deepEqual([othello.position.turn, othello.unplayedMoves], [1, 2]);
});

test('an SGF may have other text around it, another size notation, and no end', () => {
  for (const [text, moves] of [
    ['(;GM[1]SZ[9]AB[aa]AW[bb];B[cc]', 1],
    ['(;GM[1]SZ[9]AB[aa]AW[bb]', 0],
    ['(;GM[1]SZ[9]AB[aa]AW[bb];B[cc];W[dd];C[cut off', 2],
    ['Game (1) of 2:\r\n\r\n(;GM[1]\r\nSZ[09]\r\nAB[aa]AW[bb])\r\nBye', 0],
    ['\uFEFF(;SZ[9:9]AB[aa]AW[bb])', 0],
    ['( ; GM [ 01 ] SZ [ 9 ] AB [aa] AW [bb] ; B [] )', 1],
    ['(;GaMe[1]SiZe[9]AddBlack[aa]AddWhite[bb];White[cc])', 1],
    ['(;SZ[9]AB[aa]AW[bb];B[cc])\n(;SZ[19]AB[dd];B[ee];W[ff])', 1],
    ['(;SZ[9]AB[aa]AW[bb])(;GM[2]SZ[8];B[ee];W[ff])', 0],
  ] as const) {
    const [squares, , unplayed] = readStones(text);
    assert.deepEqual([squares, unplayed], ['b:a9 w:b8', moves], text);
  }
});

test('an SGF that the board cannot show is rejected with the reason', () => {
  for (const [game, text, reason] of [
    [GO, '(;GM[1]FF[4];B[ed];W[de])', /Without a board size \(SZ\), an SGF has 19 lines; 9 are/],
    [GO, '(;AB[aa]AW[bb])', /Without a board size/],
    [GO, '(;GM[1]SZ[13]AB[aa])', /has 13 lines in place of 9/],
    [GO, '(;GM[1]SZ[9:13]AB[aa])', /has 9×13 lines in place of 9/],
    [GO, '(;GM[1]SZ[nine]AB[aa])', /“nine” stands where a number belongs/],
    [GO, '(;GM[4]SZ[9]AB[aa])', /not of Go/],
    [GO, '(;GM[12]SZ[9]AB[aa])(;GM[1]SZ[9]AB[aa])', /not of Go/],
    [OTHELLO, '(;GM[1]SZ[8]AB[dd])', /not of Othello/],
    [GOMOKU, '(;GM[Go]SZ[15]AB[dd])', /not of Gomoku/],
    [GO, '(;SZ[9];AB[aj])', /“aj” is no point/],
    [GO, '(;SZ[9];AB[aa:bb:cc])', /“aa:bb:cc” is no point/],
    [GO, '(;SZ[9];;B[aa];AB[bb])', /tells moves, and sets nothing up/],
    [GO, '(;SZ[9]AB[aa]C[cut off', /This is no SGF/],
    [GO, '(;SZ[9]AB[aa] 1 AW[bb])', /This is no SGF/],
    [GO, '(AB[aa])', /This is no SGF/],
  ] as const) {
    assert.match(readError(game, text) ?? '', reason, text);
  }
});

test('long texts are read in linear time', { timeout: 30_000 }, () => {
  // In quadratic time, one of these takes longer than the limit.
  const many = 100_000;
  for (const part of [
    '[a "',
    '(',
    '{',
    '1. e4 ',
    '"',
    '\\',
    '[',
    ' moves',
    'a ',
    '\n',
    '%\n',
    '0 ',
  ]) {
    for (const before of ['', `${ROOK} `, `[FEN "${ROOK}"] `, `${PAWN.slice(0, -5)} c0 `]) {
      readError(CHESS, before + part.repeat(many));
      readError(DRAUGHTS, before + part.repeat(many));
    }
  }
  for (const part of ['(', ';', 'A[', 'AB[aa]', '[', 'C[\\]', 'A', ' ', 'PL', ')']) {
    readError(GO, `(;SZ[9]${part.repeat(many)}`);
    readError(GO, part.repeat(many));
  }
});
