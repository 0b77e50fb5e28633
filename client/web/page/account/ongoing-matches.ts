// Counts the player's ongoing matches, which the player loses by signing in as another player.

import type { App } from '../app/main.ts';

export function countOngoingMatches(app: App) {
  const live = app
    .myMatches()
    .filter(({ match, you }) => you !== null && !isCorrespondence(app, match));
  return live.length + app.correspondence.rows.length;
}

/** Correspondence matches can be in both lists, and are counted once. */
const isCorrespondence = (app: App, id: string) =>
  app.correspondence.rows.some(({ match }) => match === id);
