// Error texts of refused requests.

import { RequestError } from './connection.ts';
import { isCorrespondence } from '../lobby/correspondence.ts';
import { translate } from '../text/language.ts';
import { gameTitle } from '../text/labels.ts';
import { errorText, tooManyMatchesText } from '../text/phrases.ts';

import type { App } from '../app/main.ts';

export function errorToast(
  app: App,
  error: RequestError,
  isInLobby: boolean,
): { text: string; way?: { href: string; says: string } } {
  const own = app.myMatches().filter(({ host }) => host === app.player?.id);
  // Correspondence matches do not count towards this limit.
  const hosted = own.filter((match) => !isCorrespondence(match));
  const limit = app.connection.welcome?.limits.live_matches ?? Infinity;
  if (error.code !== 'too_many_matches' || hosted.length < limit) return { text: errorText(error) };
  const text = tooManyMatchesText(hosted, (game) => gameTitle(app.games, game));
  return isInLobby ? { text } : { text, way: { href: '/', says: translate('page.lobby') } };
}

/** The error text if a request is refused, `null` if it succeeds. */
export async function awaitErrorText(reply: Promise<unknown>): Promise<string | null> {
  try {
    await reply;
    return null;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return errorText(error);
  }
}
