// What people say to each other beside the board, and who is not heard: that is the affair of this browser alone.

import { recall } from './keep.js';
import { known } from './language.js';
import { personIn } from './match.js';

/** @import { Preset, Said } from '../protocol.js' */
/** @import { Match } from './match.js' */

/** So many lines of a match are kept, as the server keeps them. */
const LINES = 20;

/** The match with what somebody has just said. @param {Match} match @param {Said} line @returns {Match} */
export function withSaid(match, { seat, name, preset, text }) {
  const said = [...(match.said ?? []), { seat, name, preset, text }];
  return { ...match, said: said.slice(-LINES) };
}

/** What was said, in the reader's language where it is a phrase that all know. @param {Said} line @param {Preset[]} presets */
export function wordsOf({ preset, text }, presets) {
  if (preset === undefined) return text ?? '';
  const own = presets.find((one) => one.preset === preset)?.text;
  return known(`preset.${preset}`) ?? own ?? preset;
}

/** By what a speaker is known: of spectators nothing but the name is told. @param {Match} match @param {Said} line */
export function speakerOf(match, { seat, name }) {
  return (seat === null ? null : personIn(match, seat)?.player) ?? `@${name}`;
}

/** Whether it is not to be heard. @param {Match} match @param {Said} line */
export const isMuted = (match, line) =>
  line.seat !== match.you && muted().includes(speakerOf(match, line));

/** @returns {string[]} */
export function muted() {
  try {
    const all = JSON.parse(recall('muted') ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}
