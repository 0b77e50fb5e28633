// Updates the status line of a match and its result at the end.

import { replaceChildren, setText } from '../ui/dom.ts';
import { instructionText } from '../actions/instructions.ts';
import { translate, joinSentences } from './language.ts';
import { phraseContextOf } from './phrase-context.ts';
import * as phrases from './phrases.ts';

import type { MatchView } from '../match/match-view.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export interface StatusLineState {
  /** ply of the position on the board; `null` for the current one */
  shownPly: number | null;
  /** number of moves, including a pending one of the user */
  plyCount: number;
  /** whether the server has not yet confirmed a move of the user */
  isPending: boolean;
  premoveText: string;
  /** judgement of the last shown move, in parts */
  judgement: (Node | string | number)[] | null;
  /** status of the mistake trainer */
  trainerStatus: string | undefined;
  /** reason why the match could not be loaded */
  loadError: string;
}

export function updateStatusLine(
  app: App,
  { statusLine, detailLine, actions, result }: MatchView,
  match: Match,
  state: StatusLineState,
) {
  const { shownPly, plyCount, isPending, premoveText, judgement, trainerStatus, loadError } = state;
  const isCurrent = shownPly === null;
  const context = phraseContextOf(app, match);
  result.show(match, context, actions.playAgainOption(match), isCurrent);
  const status = isPending
    ? translate('room.playing')
    : phrases.statusTextForConnection(match, app.connection.status.state, context);
  const pastStatus = () =>
    trainerStatus ?? translate('room.after', { shown: shownPly ?? 0, count: plyCount });
  setText(statusLine, isCurrent ? status : pastStatus());
  statusLine.title = statusLine.textContent ?? '';
  const isJudged = !isCurrent && !loadError && judgement !== null;
  detailLine.classList.toggle('judged', isJudged);
  if (isJudged) showJudgement(detailLine, judgement);
  else if (loadError) setText(detailLine, joinSentences(loadError, translate('room.again')));
  else setText(detailLine, detailText());

  function detailText() {
    const isOver = match.status === 'ended';
    if (!isCurrent) return translate(isOver ? 'room.back' : 'room.on');
    if (!isOver) return instructionText(app, match, premoveText);
    // The open result panel already shows the reason.
    return result.isOpen ? '' : phrases.resultTexts(match, context).why;
  }
}

/** Replaces the line only if its text differs. */
function showJudgement(line: HTMLElement, judgement: (Node | string | number)[]) {
  const text = judgement.map((part) => (part instanceof Node ? part.textContent : part)).join('');
  if (line.textContent !== text) replaceChildren(line, ...judgement);
}
