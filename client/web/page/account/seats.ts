// In how many matches one sits: they are given up with who one is.

import type { App } from '../app/main.ts';

/** Matches that are not over. */
export function seats(app: App) {
  const seated = app.mine().filter(({ match, you }) => you !== null && !isByDays(app, match));
  return seated.length + app.days.rows.length;
}

/** Those by days are told of apart, too. */
const isByDays = (app: App, id: string) => app.days.rows.some(({ match }) => match === id);
