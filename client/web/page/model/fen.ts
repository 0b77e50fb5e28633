// Boards as they are written in FEN: rank by rank from the highest, ranks apart by `/`, one character
// a square, and a number for so many empty squares.

/** An empty square. */
export const EMPTY = '.';

/** The ranks of a board, the highest first. What follows after a space is not the board. */
export const readRanks = (position: string): string[][] =>
  (position.split(' ')[0] ?? '').split('/').map((rank) =>
    [...rank.matchAll(/\d+|./gu)].flatMap(([part]) => {
      const run = /^\d/.test(part);
      // No board is wider than that, whatever somebody writes.
      return run ? Array.from({ length: Math.min(Number(part), 26) }, () => EMPTY) : [part];
    }),
  );
