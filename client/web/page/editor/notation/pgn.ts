// Reads PGN and PDN: the position that the first game begins with, and the number of its moves.

import { PositionError } from '../position-error.ts';

/**
 * One token: an escaped line, a comment, a tag (also one with stray quotes in its value), a parenthesis or a word.
 * A comment without an end goes on to the end of the text.
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
 * The position that the first game begins with, and the number of its moves. A text that is not PGN is returned as
 * the position.
 * @param result matches the results with which a game can end
 */
export function positionFromPgn(text: string, result: RegExp): { fen: string; moves: number } {
  const tags: Map<string, string> = new Map();
  let [isFirst, isRecord, hasMoves] = [true, false, false];
  let [moves, depth] = [0, 0];
  for (const { 0: token, groups = {} } of text.matchAll(TOKEN)) {
    const { value = '', word } = groups;
    const tag = (groups.tag ?? groups.badTag)?.toUpperCase();
    if (tag !== undefined) {
      // The tags of the next game.
      if (hasMoves || tags.has(tag)) break;
      isRecord = true;
      tags.set(tag, value);
    } else if (word !== undefined) {
      isRecord ||= isFirst && NUMBERED.test(word);
      isFirst = false;
      if (!isRecord) continue;
      hasMoves = true;
      if (depth > 0) continue;
      if (result.test(word)) break;
      if (isMove(word)) moves++;
    } else if (token === '(') depth++;
    else if (token === ')') depth = Math.max(0, depth - 1);
  }
  if (!isRecord) return { fen: text, moves: 0 };
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
