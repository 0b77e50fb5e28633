// What is said to whoever is refused something.

import { RequestError } from './connection.ts';
import { isCorrespondence } from '../lobby/correspondence.ts';
import { translate } from '../text/language.ts';
import { gameTitle } from '../text/labels.ts';
import { errorText, tooManyMatchesText } from '../text/phrases.ts';

import type { App } from '../app/main.ts';

export function errorToast(
  app: App,
  refusal: RequestError,
  isInLobby: boolean,
): { text: string; way?: { href: string; says: string } } {
  const ours = app.myMatches().filter(({ host }) => host === app.player?.id);
  // Those by days are counted apart.
  const hosted = ours.filter((match) => !isCorrespondence(match));
  const most = app.connection.welcome?.limits.live_matches ?? Infinity;
  if (refusal.code !== 'too_many_matches' || hosted.length < most)
    return { text: errorText(refusal) };
  const text = tooManyMatchesText(hosted, (game) => gameTitle(app.games, game));
  return isInLobby ? { text } : { text, way: { href: '/', says: translate('page.lobby') } };
}

/** Why something was refused, `null` if it was not. */
export async function awaitErrorText(answer: Promise<unknown>): Promise<string | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return errorText(error);
  }
}
