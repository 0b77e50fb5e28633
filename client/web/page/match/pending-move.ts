// A move of ours that is shown before the server has taken it. In a game by days it is asked for first whether it
// is meant: a slip would be seen by the other long before one could ask to take it back.

import { RequestError } from '../net/connection.ts';
import { isCorrespondence } from '../lobby/correspondence.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { errorText } from '../text/phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** A move, at which ply it is played, and after how many takebacks. */
export interface MoveAtPly {
  ply: number;
  move: string;
  takebacks: number;
}

export class PendingMove {
  /** Whether the move is meant. */
  element = h('div', {
    class: 'answer',
    role: 'group',
    'aria-label': translate('move.label'),
    hidden: true,
  });
  #app;
  /** On its way, and not yet answered. */
  #sent: MoveAtPly | null = null;
  /** Shown, and not yet confirmed. */
  #meant: { match: Match; move: MoveAtPly } | null = null;
  #confirm = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => this.#play() },
    translate('move.play'),
  );

  #does;

  /** @param does `back` puts the focus back on the board, `played` draws a move that is on its way */
  constructor(app: App, does: { focusBoard: () => void; onSent: () => void }) {
    this.#app = app;
    this.#does = does;
    const callOff = () => this.cancel();
    const another = h('button', { type: 'button', onclick: callOff }, translate('move.another'));
    replaceChildren(this.element, h('p', {}, translate('move.question')), this.#confirm, another);
  }

  /** Whether one is asked about a move. */
  get isConfirming() {
    return this.#meant !== null;
  }

  /** Whether a move is on its way. */
  get isSent() {
    return this.#sent !== null;
  }

  /** What is shown as played already. */
  moveFor(match: Match): MoveAtPly | null {
    const move = this.#sent ?? this.#meant?.move;
    return move?.ply === match.ply && move.takebacks === match.takebacks ? move : null;
  }

  /**
   * @param match in which it is our turn
   * @param move a legal one
   */
  submit(match: Match, move: string) {
    const chosen = { ply: match.ply, move, takebacks: match.takebacks };
    if (isCorrespondence(match)) {
      this.#meant = { match, move: chosen };
      this.element.hidden = false;
      this.#app.announce(translate('move.question'));
      this.#app.update();
      this.#confirm.focus({ preventScroll: true });
    } else {
      this.#send(match, chosen);
    }
  }

  /** It was not meant. */
  cancel() {
    this.#forgetMeant();
    this.#app.update();
  }

  /** There is another match. */
  reset() {
    this.#sent = null;
    this.#forgetMeant();
  }

  /** @param match as the event has left it */
  onMatchEvent({ ply, takebacks }: Match, event: MatchEvent) {
    const isOver = event.type === 'ended' || event.type === 'taken_back';
    if (isOver || (event.type === 'moved' && this.#sent && event.ply >= this.#sent.ply))
      this.#sent = null;
    const { move } = this.#meant ?? {};
    if (isOver || (move && (move.ply !== ply || move.takebacks !== takebacks))) this.#forgetMeant();
  }

  /** A move whose answer was lost is sent again: it is played once however often it comes. */
  resend(match: Match) {
    const sent = this.#sent;
    if (!sent) return;
    const isSame = match.ply === sent.ply && match.takebacks === sent.takebacks;
    if (isSame && isMyTurn(match)) this.#send(match, sent);
    else this.#sent = null;
    this.#app.update();
  }

  #play() {
    const meant = this.#meant;
    this.#forgetMeant();
    if (meant) this.#send(meant.match, meant.move);
  }

  #forgetMeant() {
    this.#meant = null;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (hadFocus) this.#does.focusBoard();
  }

  #send(match: Match, move: MoveAtPly) {
    this.#sent = move;
    void this.#ask(match, move);
    this.#does.onSent();
  }

  async #ask({ match }: Match, move: MoveAtPly) {
    try {
      await this.#app.connection.request({ type: 'move', match, ...move });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // Not known whether it was played: it stays in sight, and is sent again with the next welcome.
      if (error.code === 'lost') return;
      this.#sent = null;
      this.#app.toast(translate('move.refused', { why: errorText(error) }));
      if (error.code === 'stale_ply') void this.#app.request({ type: 'watch', match });
      this.#app.update();
    }
  }
}
