// Translates the server's errors about positions.

import { translate } from '../text/language.ts';
import { errorText } from '../text/phrases.ts';

import type { RequestError } from '../net/connection.ts';

/** The server's messages are in English. Known messages are translated. */
export function serverErrorText(error: RequestError) {
  const { message } = error;
  switch (true) {
    case /game is over/.test(message):
      return translate('setup.why.over');
    case /no liberties$/.test(message):
      return translate('setup.why.liberty');
    case /not connected to the others$/.test(message):
      return translate('setup.why.apart');
    case /continued after/.test(message):
      return translate('setup.why.line');
    case /alternating|must have exactly|last rank|more than|adjacent squares|in check/.test(
      message,
    ):
      return translate('setup.why.never');
    default:
      return errorText(error);
  }
}
