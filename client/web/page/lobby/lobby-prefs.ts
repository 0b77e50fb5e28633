// The user's last choices in the lobby, which the browser stores.

import { getStoredObject, setStored } from '../ui/storage.ts';

import type { Level, SpectatorAccess } from '../net/protocol.ts';
import type { CustomClock } from './custom-clock.ts';

/** Minimum time between two moves against a bot: an instant reply startles the player. */
export const BOT_PACE_MS = 500;

export interface LobbyPrefs {
  game: string;
  level: string;
  side: 'first' | 'second' | 'chance';
  /** a clock of the server as JSON, `own` for the custom clock, or empty for none */
  clock: string;
  /** input of the custom clock */
  own: CustomClock;
  /** level of the bot that replaces an absent player; empty for none */
  standIn: string;
  takeback: boolean;
  /** whether to play rated if the match can be rated */
  rated: boolean;
  /** who may watch; empty for the server's default */
  watch: SpectatorAccess | '';
  /** delay for spectators in milliseconds */
  delay: number;
  /** whether to show the thinking of the opponent's bot */
  thinking: boolean;
  /** whether to show the thinking of both bots in a bot match */
  thoughts: boolean;
  /** level of the first bot in a bot match */
  one: string;
  /** level of the second bot */
  other: string;
  /** minimum time between two moves in a bot match, in milliseconds */
  pace: number;
}

export const loadLobbyPrefs = (): Partial<LobbyPrefs> => getStoredObject('choice');

/**
 * Level that is selected at first: not the weakest, which even beginners beat.
 * @param levels from the weakest to the strongest
 */
export const defaultLevel = (levels: Level[]) => levels[Math.min(1, levels.length - 1)]?.level;

export const saveLobbyPrefs = (choice: Partial<LobbyPrefs>) =>
  setStored('choice', JSON.stringify(choice));
