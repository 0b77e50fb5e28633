// The same two once more, with sides swapped: a rematch while both are there, a challenge to whoever has
// gone, and two bots anew.

import { BOT_PACE_MS, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { sendChallenge } from '../social/send-challenge.ts';
import { RequestError } from '../net/connection.ts';
import { seatOwner } from '../model/match.ts';
import { errorText } from '../text/phrases.ts';

import type { RequestOf, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** In which way these two can play again; `null` if they cannot. */
export function playAgainKind(match: Match): 'rematch' | 'challenge' | 'anew' | null {
  const { status, seats, you, rematch } = match;
  // Called off before somebody came: there is nobody to play with again.
  if (status !== 'ended' || seats.some(({ occupant }) => occupant === 'open')) return null;
  if (you === null) return isBotVsBot(match) ? 'anew' : null;
  const isGone = rematch?.here[1 - you] === false;
  return isGone && seatOwner(match, 1 - you) ? 'challenge' : 'rematch';
}

/** Whether two bots play that stand in for nobody. */
export const isBotVsBot = ({ seats }: Pick<Match, 'seats'>) =>
  seats.every((seat) => seat.occupant === 'bot' && !seat.for);

/** @returns why not, if a rematch was refused */
export async function playAgain(app: App, match: Match): Promise<RequestError | null> {
  switch (playAgainKind(match)) {
    case 'anew':
      await app.enterMatch(anew(match));
      break;
    case 'challenge': {
      const other = seatOwner(match, 1 - (match.you ?? 0));
      if (other) sendChallenge(app, other, anew(match));
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
    // It is too late for a rematch; a bot plays all the same.
    await app.enterMatch(anew(match));
  }
  return null;
}

/** The terms of this match, with seats swapped. */
function anew({
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
  const wishes: [SeatRequest, SeatRequest] = [wish(second, you === 1), wish(first, you === 0)];
  // Two bots are watched at the pace that was chosen for them.
  const pace = (you === null && loadLobbyPrefs().pace) || BOT_PACE_MS;
  return {
    ...{ type: 'create', game, seats: wishes, takeback, pace_ms: pace },
    ...(clock ? { clock } : {}),
    ...(stand_in ? { stand_in } : {}),
    ...(rated ? { rated } : {}),
    ...(thinking ? { thinking } : {}),
  };
}

const wish = (seat: import('../net/protocol.ts').Seat, isMine: boolean): SeatRequest =>
  isMine ? 'me' : seat.occupant === 'bot' && !seat.for ? { bot: seat.level } : 'open';
