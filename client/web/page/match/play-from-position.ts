// Starts a match against a bot from a position of a finished match.

import { BOT_PACE_MS, defaultLevel, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { firstToMove } from '../model/first-player.ts';

import type { Seat, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Level of the opponent if the finished match had no bot. */
const FALLBACK_LEVEL = 'hard';

/** Returns the position at a ply, or `null` if it is unknown or the game is over in it. */
export function playablePosition(
  { status, outcome, ply: lastPly, positions, position }: Match,
  ply: number,
) {
  if (status !== 'ended') return null;
  if (ply < lastPly) return positions[ply] ?? null;
  return outcome?.reason === 'rules' ? null : position;
}

/** Creates a match where the player takes the side to move. */
export async function playFromPosition(app: App, match: Match, ply: number) {
  const position = playablePosition(match, ply);
  if (position === null) return;
  const { game, seats } = match;
  const bot = { bot: opponentLevel(app, match) };
  const requestedSeats: [SeatRequest, SeatRequest] =
    firstToMove({ start: position, seats }) === 0 ? ['me', bot] : [bot, 'me'];
  const { thinking } = loadLobbyPrefs();
  await app.enterMatch({
    type: 'create',
    game,
    seats: requestedSeats,
    position,
    listed: false,
    pace_ms: BOT_PACE_MS,
    ...(thinking ? { thinking } : {}),
  });
}

/** Returns the level of the opponent's bot. */
function opponentLevel({ levels }: App, { seats, you }: Match) {
  const isBot = (seat: Seat | undefined) => seat?.occupant === 'bot' && !seat.for;
  const opponent = you === null ? seats.findLast(isBot) : seats[1 - you];
  if (opponent?.occupant === 'bot' && isBot(opponent)) return opponent.level;
  return levels.some(({ level }) => level === FALLBACK_LEVEL)
    ? FALLBACK_LEVEL
    : (defaultLevel(levels) ?? FALLBACK_LEVEL);
}
