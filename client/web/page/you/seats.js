// In how many matches one sits: they are given up with who one is.

/** @import { App } from '../main.js' */

/** Matches that are not over. @param {App} app */
export function seats(app) {
  const seated = app.mine().filter(({ match, you }) => you !== null && !isByDays(app, match));
  return seated.length + app.days.rows.length;
}

/** Those by days are told of apart, too. @param {App} app @param {string} id */
const isByDays = (app, id) => app.days.rows.some(({ match }) => match === id);
