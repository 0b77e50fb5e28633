// A move of ours that is shown before the server has taken it. In a game by days it is asked for first whether it
// is meant: a slip would be seen by the other long before one could ask to take it back.

import { Refusal } from '../net/connection.ts';
import { isByDays } from '../lobby/correspondence.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { isMyTurn } from '../model/match.ts';
import { refusalText } from '../text/phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** A move, at which ply it is played, and after how many takebacks. */
export interface Move {
  ply: number;
  move: string;
  takebacks: number;
}

export class OwnMove {
  /** Whether the move is meant. */
  element = h('div', {
    class: 'answer',
    role: 'group',
    'aria-label': say('move.label'),
    hidden: true,
  });
  #app;
  /** On its way, and not yet answered. */
  #sent: Move | null = null;
  /** Shown, and not yet confirmed. */
  #meant: { match: Match; move: Move } | null = null;
  #confirm = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => this.#play() },
    say('move.play'),
  );

  #does;

  /** @param does `back` puts the focus back on the board, `played` draws a move that is on its way */
  constructor(app: App, does: { back: () => void; played: () => void }) {
    this.#app = app;
    this.#does = does;
    const callOff = () => this.callOff();
    const another = h('button', { type: 'button', onclick: callOff }, say('move.another'));
    fill(this.element, h('p', {}, say('move.question')), this.#confirm, another);
  }

  /** Whether one is asked about a move. */
  get isAsked() {
    return this.#meant !== null;
  }

  /** Whether a move is on its way. */
  get isSent() {
    return this.#sent !== null;
  }

  /** What is shown as played already. */
  shown(match: Match): Move | null {
    const move = this.#sent ?? this.#meant?.move;
    return move?.ply === match.ply && move.takebacks === match.takebacks ? move : null;
  }

  /**
   * @param match in which it is our turn
   * @param move a legal one
   */
  choose(match: Match, move: string) {
    const chosen = { ply: match.ply, move, takebacks: match.takebacks };
    if (isByDays(match)) {
      this.#meant = { match, move: chosen };
      this.element.hidden = false;
      this.#app.announce(say('move.question'));
      this.#app.update();
      this.#confirm.focus({ preventScroll: true });
    } else {
      this.#send(match, chosen);
    }
  }

  /** It was not meant. */
  callOff() {
    this.#forgetMeant();
    this.#app.update();
  }

  /** There is another match. */
  forget() {
    this.#sent = null;
    this.#forgetMeant();
  }

  /** @param match as the event has left it */
  happened({ ply, takebacks }: Match, event: MatchEvent) {
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
    if (hadFocus) this.#does.back();
  }

  #send(match: Match, move: Move) {
    this.#sent = move;
    void this.#ask(match, move);
    this.#does.played();
  }

  async #ask({ match }: Match, move: Move) {
    try {
      await this.#app.connection.ask({ type: 'move', match, ...move });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Not known whether it was played: it stays in sight, and is sent again with the next welcome.
      if (error.code === 'lost') return;
      this.#sent = null;
      this.#app.toast(say('move.refused', { why: refusalText(error) }));
      if (error.code === 'stale_ply') void this.#app.ask({ type: 'watch', match });
      this.#app.update();
    }
  }
}
