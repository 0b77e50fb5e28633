// Decides whether to tell a guest, after the first win, that the player exists in this browser
// only.

import { getStored, setStored } from '../ui/storage.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Records that the player can log in again by another device or a key. */
export const markPlayerSaved = (app: App) => setStored('kept', app.player?.id ?? null);

export function isFirstWin(app: App, { match, you, outcome }: Match) {
  const player = app.player?.id;
  // The server does not store offline matches.
  if (app.connection.isOffline) return false;
  // Accounts log in by password or through a proxy.
  if (app.player?.account) return false;
  if (you === null || outcome?.winner !== you || !player || getStored('kept') === player)
    return false;
  // The first win is stored with its match, so that a reload gives the same answer.
  const firstWin = getStored('won')?.split(' ') ?? [];
  if (firstWin[0] !== player) setStored('won', `${player} ${match}`);
  return firstWin[0] !== player || firstWin[1] === match;
}
