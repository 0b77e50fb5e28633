// Reads the text of a UCI `position` command: `startpos` or `fen FEN`, and optionally `moves`.

/** A position without comments, strings and brackets, before the word `moves`. */
const MOVES = /^([^"';%{}[\]()]*?\S)\s+moves(?:\s+(.*))?$/is;

/**
 * The position, without the words of the command, and the number of moves after it. The position
 * is `null` for `startpos`. Any other text is returned as the position.
 * @param text without white space around it
 */
export function splitUci(text: string): { position: string | null; moves: number } {
  const [, before = text, moves = ''] = MOVES.exec(text) ?? [];
  const position = before.replace(/^position\s+/i, '').replace(/^fen\s+/i, '');
  return {
    position: /^startpos$/i.test(position) ? null : position,
    moves: moves.split(/\s+/).filter(Boolean).length,
  };
}
