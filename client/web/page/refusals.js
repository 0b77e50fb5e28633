// What is said to whoever is refused something.

import { Refusal } from './connection.js';
import { isByDays } from './days.js';
import { say } from './language.js';
import { titleOfGame } from './naming.js';
import { refusalText, tooMany } from './words.js';

/** @import { App } from './main.js' */

/**
 * @param {App} app
 * @param {Refusal} refusal
 * @param {boolean} isInLobby
 * @returns {{ text: string, way?: { href: string, says: string } }}
 */
export function refusalWords(app, refusal, isInLobby) {
  const ours = app.mine().filter(({ host }) => host === app.player?.id);
  // Those by days are counted apart.
  const hosted = ours.filter((match) => !isByDays(match));
  const most = app.connection.welcome?.limits.live_matches ?? Infinity;
  if (refusal.code !== 'too_many_matches' || hosted.length < most)
    return { text: refusalText(refusal) };
  const text = tooMany(hosted, (game) => titleOfGame(app.games, game));
  return isInLobby ? { text } : { text, way: { href: '/', says: say('page.lobby') } };
}

/**
 * Why something was refused, `null` if it was not.
 * @param {Promise<unknown>} answer
 * @returns {Promise<string | null>}
 */
export async function refusalOf(answer) {
  try {
    await answer;
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalText(error);
  }
}
