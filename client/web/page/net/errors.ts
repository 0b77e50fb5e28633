// What is said to whoever is refused something.

import { Refusal } from './connection.ts';
import { isByDays } from '../lobby/correspondence.ts';
import { say } from '../text/language.ts';
import { titleOfGame } from '../text/labels.ts';
import { refusalText, tooMany } from '../text/phrases.ts';

import type { App } from '../app/main.ts';

export function refusalWords(
  app: App,
  refusal: Refusal,
  isInLobby: boolean,
): { text: string; way?: { href: string; says: string } } {
  const ours = app.mine().filter(({ host }) => host === app.player?.id);
  // Those by days are counted apart.
  const hosted = ours.filter((match) => !isByDays(match));
  const most = app.connection.welcome?.limits.live_matches ?? Infinity;
  if (refusal.code !== 'too_many_matches' || hosted.length < most)
    return { text: refusalText(refusal) };
  const text = tooMany(hosted, (game) => titleOfGame(app.games, game));
  return isInLobby ? { text } : { text, way: { href: '/', says: say('page.lobby') } };
}

/** Why something was refused, `null` if it was not. */
export async function refusalOf(answer: Promise<unknown>): Promise<string | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalText(error);
  }
}
