// How one challenges a player: whoever one has played lately.

import { getStored, setStored } from '../ui/storage.ts';
import { seatOwner } from '../model/match.ts';

import type { NamedPlayer, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** So many whom one has played are remembered. */
const OPPONENTS = 5;
/** So many challenges of one's own are remembered: the server allows no more. */
const CHALLENGED = 20;

/** Whom one has played, the last first. */
export const recentOpponents = (): NamedPlayer[] => recalled('opponents');

/** Remembers who sits opposite. */
export function rememberOpponent(match: Match) {
  const other = match.you === null ? null : seatOwner(match, 1 - match.you);
  if (!other || match.status === 'open') return;
  const others = recentOpponents().filter(({ player }) => player !== other.player);
  setStored('opponents', JSON.stringify([other, ...others].slice(0, OPPONENTS)));
}

/**
 * For whom alone a match of ours waits, which only this browser knows.
 * @returns a name
 */
export const challengedOpponent = ({ match }: Pick<Match, 'match'>): string | undefined =>
  recalled('challenged').find((known) => known.match === match)?.name;

function recalled(key: string): any[] {
  try {
    const all = JSON.parse(getStored(key) ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}

/** Makes a match for this player alone, and goes there. */
export function sendChallenge(
  app: App,
  { player, name }: NamedPlayer,
  wanted: RequestOf<'create'>,
) {
  void app.enterMatch({ ...wanted, for: player }, ({ match }) => {
    const all = [{ match, name }, ...recalled('challenged')];
    setStored('challenged', JSON.stringify(all.slice(0, CHALLENGED)));
  });
}
