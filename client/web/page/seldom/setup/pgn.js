// What PGN and PDN tell beside a position: the moves, which are played in a match only.

import { Wrong } from './wrong.js';

const TAG = /\[\s*\w+\s+"[^"]*"\s*\]/g;
const REMARK = /\{[^}]*\}|;[^\n]*|\$\d+/g;
/** Moves that were not played, without others in them. */
const VARIATION = /\([^()]*\)/g;
/** Variations lie no deeper in each other. */
const DEPTH_MAX = 10;
const NUMBER = /\d+\.+/g;
/** How it ended. */
const END = /^(1-0|0-1|1\/2-1\/2|2-0|0-2|1-1|\*)$/;

/**
 * The position of a record, and how many moves it tells beside. What is no record is taken for a position.
 * @param {string} text
 * @returns {{ fen: string, moves: number }}
 */
export function positionOf(text) {
  const fen = /\[\s*FEN\s+"([^"]*)"/i.exec(text)?.[1];
  const isRecord = text.search(TAG) >= 0 || /^1\./.test(text);
  if (!isRecord) return { fen: text, moves: 0 };
  // Who pastes a whole game does not mean the position that it begins with.
  if (fen === undefined) throw new Wrong('setup.bad.record');
  let told = text.replaceAll(TAG, ' ').replaceAll(REMARK, ' ');
  for (let depth = 0; depth < DEPTH_MAX; depth++) told = told.replaceAll(VARIATION, ' ');
  const words = told.replaceAll(NUMBER, ' ').split(/\s+/);
  return { fen, moves: words.filter((word) => word !== '' && !END.test(word)).length };
}
