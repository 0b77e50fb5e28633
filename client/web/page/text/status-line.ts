// Tells in the room how its match stands, and at the end what has become of it.

import { replaceChildren, setText } from '../ui/dom.ts';
import { instructionText } from '../actions/instructions.ts';
import { translate, joinSentences } from './language.ts';
import { phraseContextOf } from './phrase-context.ts';
import * as words from './phrases.ts';

import type { MatchView } from '../match/match-view.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** What is to be known beside the match. */
export interface StatusLineState {
  /** after how many moves the board is shown; `null` for now */
  shownPly: number | null;
  /** how many moves there are, with one of ours that is under way */
  plyCount: number;
  /** whether a move of ours is under way */
  isPending: boolean;
  /** what is chosen ahead */
  premoveText: string;
  /** how the last move is judged that is shown, in parts */
  judgement: (Node | string | number)[] | null;
  /** how one stands who learns from a mistake */
  trainerStatus: string | undefined;
  /** why the match cannot be had just now */
  loadError: string;
}

export function updateStatusLine(
  app: App,
  { statusLine: standing, detailLine: why, actions, result }: MatchView,
  match: Match,
  beside: StatusLineState,
) {
  const {
    shownPly: shown,
    plyCount: count,
    isPending,
    premoveText: ahead,
    judgement: judged,
    trainerStatus: learned,
    loadError: trouble,
  } = beside;
  const now = shown === null;
  const speech = phraseContextOf(app, match);
  result.show(match, speech, actions.playAgainOption(match), now);
  const stands = isPending
    ? translate('room.playing')
    : words.statusTextForConnection(match, app.connection.status.state, speech);
  setText(standing, now ? stands : (learned ?? translate('room.after', { shown, count })));
  standing.title = standing.textContent ?? '';
  const isJudged = !now && !trouble && judged !== null;
  why.classList.toggle('judged', isJudged);
  if (isJudged) tellJudged(why, judged);
  else setText(why, trouble ? joinSentences(trouble, translate('room.again')) : whyOf());

  function whyOf() {
    const isOver = match.status === 'ended';
    if (!now) return translate(isOver ? 'room.back' : 'room.on');
    if (!isOver) return instructionText(app, match, ahead);
    // It stands over the board.
    return result.isOpen ? '' : words.resultTexts(match, speech).why;
  }
}

/** How a move is judged, unless that stands there already. */
function tellJudged(why: HTMLElement, judged: (Node | string | number)[]) {
  const text = judged.map((part) => (part instanceof Node ? part.textContent : part)).join('');
  if (why.textContent !== text) replaceChildren(why, ...judged);
}
