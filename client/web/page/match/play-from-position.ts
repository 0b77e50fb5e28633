// Playing on from a position of a match that is over, against a bot.

import { BOT_PACE_MS, defaultLevel, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { firstToMove } from '../model/first-player.ts';

import type { Seat, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Who plays on where no bot has played. */
const LEVEL = 'hard';

/** The position after so many moves, if one can play on from it; `null` if it is not known, or the game is over in it. */
export function playablePosition(
  { status, outcome, ply: last, positions: past, position }: Match,
  ply: number,
) {
  if (status !== 'ended') return null;
  if (ply < last) return past[ply] ?? null;
  return outcome?.reason === 'rules' ? null : position;
}

/** Plays on from there: whoever is to move is we, and the other is a bot. */
export async function playFromPosition(app: App, match: Match, ply: number) {
  const position = playablePosition(match, ply);
  if (position === null) return;
  const { game, seats } = match;
  const bot = { bot: levelOf(app, match) };
  const wishes: [SeatRequest, SeatRequest] =
    firstToMove({ start: position, seats }) === 0 ? ['me', bot] : [bot, 'me'];
  const wanted = { type: 'create' as const, game, seats: wishes, position, listed: false };
  const { thinking } = loadLobbyPrefs();
  await app.enterMatch({ ...wanted, pace_ms: BOT_PACE_MS, ...(thinking ? { thinking } : {}) });
}

/** The bot that was played. */
function levelOf({ levels }: App, { seats, you }: Match) {
  const isBot = (seat: Seat | undefined) => seat?.occupant === 'bot' && !seat.for;
  const played = you === null ? seats.findLast(isBot) : seats[1 - you];
  if (played?.occupant === 'bot' && isBot(played)) return played.level;
  return levels.some(({ level }) => level === LEVEL) ? LEVEL : (defaultLevel(levels) ?? LEVEL);
}
