// Sends challenges. The browser stores the recent opponents and the challenged players.

import { getStored, setStored } from '../ui/storage.ts';
import { seatOwner } from '../model/match.ts';

import type { NamedPlayer, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

const OPPONENTS_MAX = 5;
/** The server's limit of open challenges per player. */
const CHALLENGES_MAX = 20;

interface StoredChallenge {
  match: string;
  name: string;
}

/** Recent opponents, latest first. */
export const recentOpponents = () => storedList<NamedPlayer>('opponents');

export function rememberOpponent(match: Match) {
  const opponent = match.you === null ? null : seatOwner(match, 1 - match.you);
  if (!opponent || match.status === 'open') return;
  const others = recentOpponents().filter(({ player }) => player !== opponent.player);
  setStored('opponents', JSON.stringify([opponent, ...others].slice(0, OPPONENTS_MAX)));
}

/** Name of the challenged player of a match, if this browser sent the challenge. */
export const challengedOpponent = ({ match }: Pick<Match, 'match'>) =>
  storedList<StoredChallenge>('challenged').find((challenge) => challenge.match === match)?.name;

function storedList<T>(key: string): T[] {
  try {
    const all = JSON.parse(getStored(key) ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}

/** Creates a match that only this player can join, and opens it. */
export function sendChallenge(
  app: App,
  { player, name }: NamedPlayer,
  request: RequestOf<'create'>,
) {
  void app.enterMatch({ ...request, for: player }, ({ match }) => {
    const all = [{ match, name }, ...storedList<StoredChallenge>('challenged')];
    setStored('challenged', JSON.stringify(all.slice(0, CHALLENGES_MAX)));
  });
}
