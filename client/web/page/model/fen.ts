// Parses the board field of FEN-like positions.

/** An empty square. */
export const EMPTY = '.';

/** Returns the ranks of a board, the highest first. */
export const readRanks = (position: string): string[][] =>
  (position.split(' ')[0] ?? '').split('/').map((rank) =>
    [...rank.matchAll(/\d+|./gu)].flatMap(([part]) => {
      const isRun = /^\d/.test(part);
      // A square name has one letter for its file, so a board has at most 26 files.
      return isRun ? Array.from({ length: Math.min(Number(part), 26) }, () => EMPTY) : [part];
    }),
  );
