// What is said where the server knows that play cannot begin with a position.

import { say } from '../text/language.ts';
import { refusalText } from '../text/phrases.ts';

import type { Refusal } from '../net/connection.ts';

/** The server's own words are English: those that are known are said in the language of the page. */
export function refusedWords(refusal: Refusal) {
  const { message } = refusal;
  switch (true) {
    case /game is over/.test(message):
      return say('setup.why.over');
    case /no liberties$/.test(message):
      return say('setup.why.liberty');
    case /not connected to the others$/.test(message):
      return say('setup.why.apart');
    case /continued after/.test(message):
      return say('setup.why.line');
    case /alternating|must have exactly|last rank|more than|adjacent squares|in check/.test(
      message,
    ):
      return say('setup.why.never');
    default:
      return refusalText(refusal);
  }
}
