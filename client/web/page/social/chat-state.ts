// What people say to each other beside the board, and who is not heard: that is the affair of this browser alone.

import { getStored } from '../ui/storage.ts';
import { tryTranslate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';

import type { ChatPresetText, ChatEntry } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** So many lines of a match are kept, as the server keeps them. */
const LINES = 20;

/** The match with what somebody has just said. */
export function withChatMessage(match: Match, { seat, name, preset, text }: ChatEntry): Match {
  const said = [...match.said, { seat, name, preset, text }];
  return { ...match, said: said.slice(-LINES) };
}

/** What was said, in the reader's language where it is a phrase that all know. */
export function chatText({ preset, text }: ChatEntry, presets: ChatPresetText[]) {
  if (preset === undefined) return text ?? '';
  const own = presets.find((one) => one.preset === preset)?.text;
  return tryTranslate(`preset.${preset}`) ?? own ?? preset;
}

/** By what a speaker is known: of spectators nothing but the name is told. */
export function senderOf(match: Match, { seat, name }: ChatEntry) {
  return (seat === null ? null : seatOwner(match, seat)?.player) ?? `@${name}`;
}

/** Whether it is not to be heard. */
export const isMuted = (match: Match, line: ChatEntry) =>
  line.seat !== match.you && mutedSenders().includes(senderOf(match, line));

export function mutedSenders(): string[] {
  try {
    const all = JSON.parse(getStored('muted') ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}
