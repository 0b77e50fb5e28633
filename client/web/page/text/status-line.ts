// Tells in the room how its match stands, and at the end what has become of it.

import { fill, write } from '../ui/dom.ts';
import { hintOf } from '../actions/hint.ts';
import { say, sentences } from './language.ts';
import { speechOf } from './phrase-context.ts';
import * as words from './phrases.ts';

import type { Furniture } from '../match/match-view.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** What is to be known beside the match. */
export interface Beside {
  /** after how many moves the board is shown; `null` for now */
  shown: number | null;
  /** how many moves there are, with one of ours that is under way */
  count: number;
  /** whether a move of ours is under way */
  isPending: boolean;
  /** what is chosen ahead */
  ahead: string;
  /** how the last move is judged that is shown, in parts */
  judged: (Node | string | number)[] | null;
  /** how one stands who learns from a mistake */
  learned: string | undefined;
  /** why the match cannot be had just now */
  trouble: string;
}

export function tellHow(
  app: App,
  { standing, why, actions, result }: Furniture,
  match: Match,
  beside: Beside,
) {
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

/** How a move is judged, unless that stands there already. */
function tellJudged(why: HTMLElement, judged: (Node | string | number)[]) {
  const text = judged.map((part) => (part instanceof Node ? part.textContent : part)).join('');
  if (why.textContent !== text) fill(why, ...judged);
}
