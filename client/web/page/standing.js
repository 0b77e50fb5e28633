// Tells in the room how its match stands, and at the end what has become of it.

import { fill, write } from './dom.js';
import { hintOf } from './hint.js';
import { say, sentences } from './language.js';
import { speechOf } from './speech.js';
import * as words from './words.js';

/** @import { Furniture } from './furniture.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/**
 * What is to be known beside the match.
 * @typedef {object} Beside
 * @property {number | null} shown after how many moves the board is shown; `null` for now
 * @property {number} count how many moves there are, with one of ours that is under way
 * @property {boolean} isPending whether a move of ours is under way
 * @property {string} ahead what is chosen ahead
 * @property {(Node | string | number)[] | null} judged how the last move is judged that is shown, in parts
 * @property {string | undefined} learned how one stands who learns from a mistake
 * @property {string} trouble why the match cannot be had just now
 */

/**
 * @param {App} app
 * @param {Furniture} furniture
 * @param {Match} match
 * @param {Beside} beside
 */
export function tellHow(app, { standing, why, actions, result }, match, beside) {
  const { shown, count, isPending, ahead, judged, learned, trouble } = beside;
  const now = shown === null;
  const speech = speechOf(app, match);
  result.show(match, speech, actions.next(match), now);
  const stands = isPending
    ? say('room.playing')
    : words.standingOver(match, app.connection.link.state, speech);
  write(standing, now ? stands : (learned ?? say('room.after', { shown, count })));
  standing.title = standing.textContent ?? '';
  const isJudged = !now && !trouble && judged !== null;
  why.classList.toggle('judged', isJudged);
  if (isJudged) tellJudged(why, judged);
  else write(why, trouble ? sentences(trouble, say('room.again')) : whyOf());

  function whyOf() {
    const isOver = match.status === 'ended';
    if (!now) return say(isOver ? 'room.back' : 'room.on');
    if (!isOver) return hintOf(app, match, ahead);
    // It stands over the board.
    return result.isShown ? '' : words.ended(match, speech).why;
  }
}

/**
 * How a move is judged, unless that stands there already.
 * @param {HTMLElement} why
 * @param {(Node | string | number)[]} judged
 */
function tellJudged(why, judged) {
  const text = judged.map((part) => (part instanceof Node ? part.textContent : part)).join('');
  if (why.textContent !== text) fill(why, ...judged);
}
