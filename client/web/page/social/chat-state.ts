// Chat messages of a match, and the senders that the user muted in this browser.

import { getStored } from '../ui/storage.ts';
import { tryTranslate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';

import type { ChatPresetText, ChatEntry } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** Maximum number of messages per match, as in a snapshot from the server. */
const MESSAGES_MAX = 20;

/** The match with a new chat message. */
export function withChatMessage(match: Match, { seat, name, preset, text }: ChatEntry): Match {
  const said = [...match.said, { seat, name, preset, text }];
  return { ...match, said: said.slice(-MESSAGES_MAX) };
}

/** Text of a message; presets are translated into the user's language. */
export function chatText({ preset, text }: ChatEntry, presets: ChatPresetText[]) {
  if (preset === undefined) return text ?? '';
  const serverText = presets.find((entry) => entry.preset === preset)?.text;
  return tryTranslate(`preset.${preset}`) ?? serverText ?? preset;
}

/** Id of the sender: the player id, or `@` and the name for spectators. */
export function senderOf(match: Match, { seat, name }: ChatEntry) {
  return (seat === null ? null : seatOwner(match, seat)?.player) ?? `@${name}`;
}

/** Whether a message is hidden because its sender is muted. */
export const isMuted = (match: Match, message: ChatEntry) =>
  message.seat !== match.you && mutedSenders().includes(senderOf(match, message));

export function mutedSenders(): string[] {
  try {
    const all = JSON.parse(getStored('muted') ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}
