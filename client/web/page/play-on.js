// Playing on from a position of a match that is over, against a bot.

import { BOT_PACE_MS, firstLevel, recallChoice } from './choice.js';
import { firstToMove } from './first.js';

/** @import { Request, Seat, SeatWish } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/** Who plays on where no bot has played. */
const LEVEL = 'hard';

/**
 * The position after so many moves, if one can play on from it; `null` if it is not known, or the game is over in it.
 * @param {Match} match
 * @param {number} ply
 */
export function positionFrom({ status, outcome, ply: last, past, position }, ply) {
  if (status !== 'ended') return null;
  if (ply < last) return past[ply] ?? null;
  return outcome?.reason === 'rules' ? null : position;
}

/**
 * Plays on from there: whoever is to move is we, and the other is a bot.
 * @param {App} app
 * @param {Match} match
 * @param {number} ply
 */
export async function playOn(app, match, ply) {
  const position = positionFrom(match, ply);
  if (position === null) return;
  const { game, seats } = match;
  const bot = { bot: levelOf(app, match) };
  /** @type {SeatWish[]} */
  const wishes = firstToMove({ start: position, seats }) === 0 ? ['me', bot] : [bot, 'me'];
  /** @type {Request} */
  const wanted = { type: 'create', game, seats: wishes, position, listed: false };
  const { thinking } = recallChoice();
  await app.enter({ ...wanted, pace_ms: BOT_PACE_MS, ...(thinking ? { thinking } : {}) });
}

/** The bot that was played. @param {App} app @param {Match} match */
function levelOf({ levels }, { seats, you }) {
  const isBot = (/** @type {Seat | undefined} */ seat) => seat?.occupant === 'bot' && !seat.for;
  const played = you === null ? seats.findLast(isBot) : seats[1 - you];
  if (played?.occupant === 'bot' && isBot(played)) return played.level;
  return levels.some(({ level }) => level === LEVEL) ? LEVEL : (firstLevel(levels) ?? LEVEL);
}
