// Starts another match with the same settings and swapped seats: a rematch, a challenge if the
// opponent has left, or a new match of two bots.

import { BOT_PACE_MS, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { sendChallenge } from '../social/send-challenge.ts';
import { RequestError } from '../net/connection.ts';
import { seatOwner } from '../model/match.ts';
import { errorText } from '../text/phrases.ts';

import type { RequestOf, Seat, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export function playAgainKind(match: Match): 'rematch' | 'challenge' | 'newMatch' | null {
  const { status, seats, you, rematch } = match;
  // A match that was aborted before the second player joined has no opponent.
  if (status !== 'ended' || seats.some(({ occupant }) => occupant === 'open')) return null;
  if (you === null) return isBotVsBot(match) ? 'newMatch' : null;
  const isGone = rematch?.here[1 - you] === false;
  return isGone && seatOwner(match, 1 - you) ? 'challenge' : 'rematch';
}

/** Whether both seats belong to bots that are not stand-ins. */
export const isBotVsBot = ({ seats }: Pick<Match, 'seats'>) =>
  seats.every((seat) => seat.occupant === 'bot' && !seat.for);

/** @returns the server's error, if it rejected a rematch */
export async function playAgain(app: App, match: Match): Promise<RequestError | null> {
  switch (playAgainKind(match)) {
    case 'newMatch':
      await app.enterMatch(createRequest(match));
      break;
    case 'challenge': {
      const opponent = seatOwner(match, 1 - (match.you ?? 0));
      if (opponent) sendChallenge(app, opponent, createRequest(match));
      break;
    }
    case 'rematch':
      return await offerRematch(app, match);
  }
  return null;
}

async function offerRematch(app: App, match: Match): Promise<RequestError | null> {
  try {
    await app.connection.request({ type: 'offer', match: match.match, offer: 'rematch' });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const isBot = !seatOwner(match, 1 - (match.you ?? 0));
    if (error.code !== 'not_allowed' || !isBot) {
      app.toast(errorText(error));
      return error;
    }
    // Too late for a rematch: create a new match, which a bot always accepts.
    await app.enterMatch(createRequest(match));
  }
  return null;
}

/** Builds a request for a match with the same settings and swapped seats. */
function createRequest({
  game,
  seats,
  you,
  clock,
  takeback,
  stand_in,
  rated,
  thinking,
}: Match): RequestOf<'create'> {
  const [first, second] = seats;
  const swapped: [SeatRequest, SeatRequest] = [
    seatRequest(second, you === 1),
    seatRequest(first, you === 0),
  ];
  // The pace that the user chose only applies to matches between bots.
  const pace = (you === null && loadLobbyPrefs().pace) || BOT_PACE_MS;
  return {
    type: 'create',
    game,
    seats: swapped,
    takeback,
    pace_ms: pace,
    ...(clock ? { clock } : {}),
    ...(stand_in ? { stand_in } : {}),
    ...(rated ? { rated } : {}),
    ...(thinking ? { thinking } : {}),
  };
}

const seatRequest = (seat: Seat, isMine: boolean): SeatRequest =>
  isMine ? 'me' : seat.occupant === 'bot' && !seat.for ? { bot: seat.level } : 'open';
