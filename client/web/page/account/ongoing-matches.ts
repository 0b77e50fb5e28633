// In how many matches one sits: they are given up with who one is.

import type { App } from '../app/main.ts';

/** Matches that are not over. */
export function countOngoingMatches(app: App) {
  const seated = app.myMatches().filter(({ match, you }) => you !== null && !isByDays(app, match));
  return seated.length + app.correspondence.rows.length;
}

/** Those by days are told of apart, too. */
const isByDays = (app: App, id: string) =>
  app.correspondence.rows.some(({ match }) => match === id);
