// What people say to each other beside the board, and who is not heard: that is the affair of this browser alone.

import { recall } from '../ui/storage.ts';
import { known } from '../text/language.ts';
import { personIn } from '../model/match.ts';

import type { Preset, Said } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** So many lines of a match are kept, as the server keeps them. */
const LINES = 20;

/** The match with what somebody has just said. */
export function withSaid(match: Match, { seat, name, preset, text }: Said): Match {
  const said = [...match.said, { seat, name, preset, text }];
  return { ...match, said: said.slice(-LINES) };
}

/** What was said, in the reader's language where it is a phrase that all know. */
export function wordsOf({ preset, text }: Said, presets: Preset[]) {
  if (preset === undefined) return text ?? '';
  const own = presets.find((one) => one.preset === preset)?.text;
  return known(`preset.${preset}`) ?? own ?? preset;
}

/** By what a speaker is known: of spectators nothing but the name is told. */
export function speakerOf(match: Match, { seat, name }: Said) {
  return (seat === null ? null : personIn(match, seat)?.player) ?? `@${name}`;
}

/** Whether it is not to be heard. */
export const isMuted = (match: Match, line: Said) =>
  line.seat !== match.you && muted().includes(speakerOf(match, line));

export function muted(): string[] {
  try {
    const all = JSON.parse(recall('muted') ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}
