// How one challenges a player: whoever one has played lately.

import { recall, remember } from './keep.js';
import { personIn } from './match.js';

/** @import { Person, Request } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/** So many whom one has played are remembered. */
const OPPONENTS = 5;
/** So many challenges of one's own are remembered: the server allows no more. */
const CHALLENGED = 20;

/** Whom one has played, the last first. @returns {Person[]} */
export const opponents = () => recalled('opponents');

/** Remembers who sits opposite. @param {Match} match */
export function rememberOpponent(match) {
  const other = match.you === null ? null : personIn(match, 1 - match.you);
  if (!other || match.status === 'open') return;
  const others = opponents().filter(({ player }) => player !== other.player);
  remember('opponents', JSON.stringify([other, ...others].slice(0, OPPONENTS)));
}

/**
 * For whom alone a match of ours waits, which only this browser knows.
 * @param {Pick<Match, 'match'>} match
 * @returns {string | undefined} a name
 */
export const challengedTo = ({ match }) =>
  recalled('challenged').find((known) => known.match === match)?.name;

/** @param {string} key @returns {any[]} */
function recalled(key) {
  try {
    const all = JSON.parse(recall(key) ?? '[]');
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}

/**
 * Makes a match for this player alone, and goes there.
 * @param {App} app
 * @param {Person} person
 * @param {Extract<Request, { type: 'create' }>} wanted
 */
export function challenge(app, { player, name }, wanted) {
  void app.enter({ ...wanted, for: player }, ({ match }) => {
    const all = [{ match, name }, ...recalled('challenged')];
    remember('challenged', JSON.stringify(all.slice(0, CHALLENGED)));
  });
}
