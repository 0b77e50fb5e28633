// Reads the initial position and the number of moves of the first game in PGN or PDN.

import { PositionError } from '../position-error.ts';

/**
 * One token: an escaped line, a comment, a tag (also one with stray quotes in its value), a
 * parenthesis or a word.
 * A comment without an end includes the rest of the text.
 */
const TOKEN = new RegExp(
  [
    /^%.*/,
    /\{[^}]*\}?/,
    /;.*/,
    /\[\s*(?<tag>[\w+#=:-]+)\s+"(?<value>(?:\\.|[^"\\])*)"\s*\]/,
    /^\[\s*(?<badTag>[\w+#=:-]+)\s+".*"\s*\]\s*$/,
    /[()]/,
    /(?<word>[^\s(){};[\]]+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gmu',
);
/** The number of a move, and perhaps the move itself; a FEN has a slash in its first word. */
const NUMBERED = /^\d+[.…]+[^/]*$/;
const NUMBER = /^\d+([.…]+|$)/;
/** Words without a letter or a digit are annotations; `--` is a null move. */
const ANNOTATION = /^(\$.*|e\.?p\.?|(?!--$)[^\p{L}\p{N}♔-♟]+)$/u;

/**
 * Returns a text that is not PGN as the position.
 * @param result matches the result at the end of a game
 */
export function positionFromPgn(text: string, result: RegExp): { fen: string; moves: number } {
  const tags = new Map<string, string>();
  let [isFirstWord, isPgn, hasMoves] = [true, false, false];
  let [moves, depth] = [0, 0];
  for (const { 0: token, groups = {} } of text.matchAll(TOKEN)) {
    const { value = '', word } = groups;
    const tag = (groups.tag ?? groups.badTag)?.toUpperCase();
    if (tag !== undefined) {
      // A tag of the next game.
      if (hasMoves || tags.has(tag)) break;
      isPgn = true;
      tags.set(tag, value);
    } else if (word !== undefined) {
      isPgn ||= isFirstWord && NUMBERED.test(word);
      isFirstWord = false;
      if (!isPgn) continue;
      hasMoves = true;
      if (depth > 0) continue;
      if (result.test(word)) break;
      if (isMove(word)) moves++;
    } else if (token === '(') depth++;
    else if (token === ')') depth = Math.max(0, depth - 1);
  }
  if (!isPgn) return { fen: text, moves: 0 };
  const fen = tags.get('FEN');
  // Users who paste a whole game do not mean the first position of the game.
  if (fen === undefined) throw new PositionError('setup.bad.record');
  return { fen, moves };
}

/** Whether a word of the movetext is a move. */
function isMove(word: string) {
  const move = word.replace(NUMBER, '');
  return move !== '' && !ANNOTATION.test(move);
}
