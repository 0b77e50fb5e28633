// Sends the player's move and shows it before the server confirms it. In correspondence matches,
// the player must confirm the move first.

import { RequestError } from '../net/connection.ts';
import { isCorrespondence } from '../lobby/correspondence.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { errorText } from '../text/phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** A move and the match state before it. */
export interface MoveAtPly {
  ply: number;
  move: string;
  takebacks: number;
}

export class PendingMove {
  /** Asks the player to confirm the move. */
  element = h('div', {
    class: 'answer',
    role: 'group',
    'aria-label': translate('move.label'),
    hidden: true,
  });
  #app;
  /** Sent to the server, which has not replied yet. */
  #sent: MoveAtPly | null = null;
  /** Shown on the board, but not yet confirmed by the player. */
  #unconfirmed: { match: Match; move: MoveAtPly } | null = null;
  #confirm = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => this.#sendConfirmed() },
    translate('move.play'),
  );
  #callbacks;

  constructor(app: App, callbacks: { focusBoard: () => void; onSent: () => void }) {
    this.#app = app;
    this.#callbacks = callbacks;
    const onclick = () => this.cancel();
    const cancel = h('button', { type: 'button', onclick }, translate('move.another'));
    replaceChildren(this.element, h('p', {}, translate('move.question')), this.#confirm, cancel);
  }

  get isConfirming() {
    return this.#unconfirmed !== null;
  }

  get isSent() {
    return this.#sent !== null;
  }

  /** Returns the move that the board shows as already played. */
  moveFor(match: Match): MoveAtPly | null {
    const move = this.#sent ?? this.#unconfirmed?.move;
    return move?.ply === match.ply && move.takebacks === match.takebacks ? move : null;
  }

  /** The move must be legal, and it must be the player's turn. */
  submit(match: Match, move: string) {
    const chosen = { ply: match.ply, move, takebacks: match.takebacks };
    if (isCorrespondence(match)) {
      this.#unconfirmed = { match, move: chosen };
      this.element.hidden = false;
      this.#app.announce(translate('move.question'));
      this.#app.update();
      this.#confirm.focus({ preventScroll: true });
    } else {
      this.#send(match, chosen);
    }
  }

  cancel() {
    this.#clearUnconfirmed();
    this.#app.update();
  }

  reset() {
    this.#sent = null;
    this.#clearUnconfirmed();
  }

  /** @param match the match after the event */
  onMatchEvent({ ply, takebacks }: Match, event: MatchEvent) {
    const isOver = event.type === 'ended' || event.type === 'taken_back';
    if (isOver || (event.type === 'moved' && this.#sent && event.ply >= this.#sent.ply))
      this.#sent = null;
    const { move } = this.#unconfirmed ?? {};
    if (isOver || (move && (move.ply !== ply || move.takebacks !== takebacks)))
      this.#clearUnconfirmed();
  }

  /** Sends an unanswered move again after a reconnect. The server plays it only once. */
  resend(match: Match) {
    const sent = this.#sent;
    if (!sent) return;
    const isSame = match.ply === sent.ply && match.takebacks === sent.takebacks;
    if (isSame && isMyTurn(match)) this.#send(match, sent);
    else this.#sent = null;
    this.#app.update();
  }

  #sendConfirmed() {
    const unconfirmed = this.#unconfirmed;
    this.#clearUnconfirmed();
    if (unconfirmed) this.#send(unconfirmed.match, unconfirmed.move);
  }

  #clearUnconfirmed() {
    this.#unconfirmed = null;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (hadFocus) this.#callbacks.focusBoard();
  }

  #send(match: Match, move: MoveAtPly) {
    this.#sent = move;
    void this.#request(match, move);
    this.#callbacks.onSent();
  }

  async #request({ match }: Match, move: MoveAtPly) {
    try {
      await this.#app.connection.request({ type: 'move', match, ...move });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The server may have played the move: it stays visible and is sent again after the next
      // `welcome`.
      if (error.code === 'lost') return;
      this.#sent = null;
      this.#app.toast(translate('move.refused', { why: errorText(error) }));
      if (error.code === 'stale_ply') void this.#app.request({ type: 'watch', match });
      this.#app.update();
    }
  }
}
