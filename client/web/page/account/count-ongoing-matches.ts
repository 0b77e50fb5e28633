// Counts the player's ongoing matches, which the player loses by signing in as another player.

import { correspondenceRows } from '../lobby/correspondence-rows.ts';
import type { App } from '../app/main.ts';

export function countOngoingMatches(app: App) {
  const live = app
    .myMatches()
    .filter(({ match, you }) => you !== null && !isCorrespondence(app, match));
  return live.length + correspondenceRows(app).length;
}

/** Correspondence matches can be in both lists, and are counted once. */
const isCorrespondence = (app: App, id: string) =>
  correspondenceRows(app).some(({ match }) => match === id);
