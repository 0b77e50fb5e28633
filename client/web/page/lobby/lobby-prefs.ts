// What is chosen in the lobby. The last choice is remembered.

import { getStoredObject, setStored } from '../ui/storage.ts';

import type { Level } from '../net/protocol.ts';
import type { CustomClock } from './custom-clock.ts';

/** The least time between two moves against a bot: one that answers in the same instant startles. */
export const BOT_PACE_MS = 500;

export interface LobbyPrefs {
  game: string;
  level: string;
  side: 'first' | 'second' | 'chance';
  /** empty for none, `own`, or one of the operator's, as JSON */
  clock: string;
  /** the clock that was written down last */
  own: CustomClock;
  /** the level of the bot that plays on for whoever leaves; empty for none */
  standIn: string;
  /** whether moves may be taken back */
  takeback: boolean;
  /** whether it counts for ratings, where it can */
  rated: boolean;
  /** who may watch; empty for what is usual */
  watch: import('../net/protocol.ts').SpectatorAccess | '';
  /** how much later whoever watches sees it, in milliseconds */
  delay: number;
  /** whether one sees what the bot thinks that one plays */
  thinking: boolean;
  /** whether one sees what two bots think */
  thoughts: boolean;
  /** the first bot's level, where two bots play */
  one: string;
  /** the second bot's */
  other: string;
  /** the least time between the moves of two bots, in milliseconds */
  pace: number;
}

export const loadLobbyPrefs = (): Partial<LobbyPrefs> => getStoredObject('choice');

/**
 * The bot that is offered to whoever has chosen none: not the weakest, which loses to anybody.
 * @param levels from the weakest to the strongest
 */
export const defaultLevel = (levels: Level[]) => levels[Math.min(1, levels.length - 1)]?.level;

export const saveLobbyPrefs = (choice: Partial<LobbyPrefs>) =>
  setStored('choice', JSON.stringify(choice));
