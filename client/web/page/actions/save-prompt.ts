// Whether to ask a guest who has won for the first time to keep who they are: their seat in this browser is
// all they have.

import { getStored, setStored } from '../ui/storage.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** This player can come back: there is another device, or a key. */
export const markPlayerSaved = (app: App) => setStored('kept', app.player?.id ?? null);

/** Whether this is the match of a guest's first win. */
export function isFirstWin(app: App, { match, you, outcome }: Match) {
  const player = app.player?.id;
  // What is played without the server is kept nowhere else.
  if (app.connection.isOffline) return false;
  // An account has its password, or a proxy that knows it.
  if (app.player?.account) return false;
  if (you === null || outcome?.winner !== you || !player || getStored('kept') === player)
    return false;
  // It is that one whenever one looks at it.
  const known = getStored('won')?.split(' ') ?? [];
  if (known[0] !== player) setStored('won', `${player} ${match}`);
  return known[0] !== player || known[1] === match;
}
