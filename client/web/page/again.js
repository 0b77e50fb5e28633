// The same two once more, with sides swapped: a rematch while both are there, a challenge to whoever has
// gone, and two bots anew.

import { BOT_PACE_MS, recallChoice } from './choice.js';
import { challenge } from './challenging.js';
import { Refusal } from './connection.js';
import { personIn } from './match.js';
import { refusalText } from './words.js';

/** @import { Request, SeatWish } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/**
 * In which way these two can play again; `null` if they cannot.
 * @param {Match} match
 * @returns {'rematch' | 'challenge' | 'anew' | null}
 */
export function wayAgain(match) {
  const { status, seats, you, rematch } = match;
  // Called off before somebody came: there is nobody to play with again.
  if (status !== 'ended' || seats.some(({ occupant }) => occupant === 'open')) return null;
  if (you === null) return isExhibition(match) ? 'anew' : null;
  const isGone = rematch?.here[1 - you] === false;
  return isGone && personIn(match, 1 - you) ? 'challenge' : 'rematch';
}

/** Whether two bots play that stand in for nobody. @param {Pick<Match, 'seats'>} match */
export const isExhibition = ({ seats }) =>
  seats.every((seat) => seat.occupant === 'bot' && !seat.for);

/**
 * @param {App} app
 * @param {Match} match
 * @returns {Promise<Refusal | null>} why not, if a rematch was refused
 */
export async function playAgain(app, match) {
  switch (wayAgain(match)) {
    case 'anew':
      await app.enter(anew(match));
      break;
    case 'challenge': {
      const other = personIn(match, 1 - (match.you ?? 0));
      if (other) challenge(app, other, anew(match));
      break;
    }
    case 'rematch':
      return await offerRematch(app, match);
  }
  return null;
}

/** @param {App} app @param {Match} match @returns {Promise<Refusal | null>} */
async function offerRematch(app, match) {
  try {
    await app.connection.ask({ type: 'offer', match: match.match, offer: 'rematch' });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isBot = !personIn(match, 1 - (match.you ?? 0));
    if (error.code !== 'not_allowed' || !isBot) {
      app.toast(refusalText(error));
      return error;
    }
    // It is too late for a rematch; a bot plays all the same.
    await app.enter(anew(match));
  }
  return null;
}

/** The terms of this match, with seats swapped. @param {Match} match @returns {Extract<Request, { type: 'create' }>} */
function anew({ game, seats, you, clock, takeback, stand_in, rated, thinking }) {
  const wishes = seats.map((seat, number) => wish(seat, number === you)).reverse();
  // Two bots are watched at the pace that was chosen for them.
  const pace = (you === null && recallChoice().pace) || BOT_PACE_MS;
  return {
    ...{ type: 'create', game, seats: wishes, takeback, pace_ms: pace },
    ...(clock ? { clock } : {}),
    ...(stand_in ? { stand_in } : {}),
    ...(rated ? { rated } : {}),
    ...(thinking ? { thinking } : {}),
  };
}

/**
 * @param {import('../protocol.js').Seat} seat
 * @param {boolean} isMine
 * @returns {SeatWish}
 */
const wish = (seat, isMine) =>
  isMine ? 'me' : seat.occupant === 'bot' && !seat.for ? { bot: seat.level } : 'open';
