// A move of ours that is shown before the server has taken it. In a game by days it is asked for first whether it
// is meant: a slip would be seen by the other long before one could ask to take it back.

import { Refusal } from './connection.js';
import { isByDays } from './days.js';
import { fill, h } from './dom.js';
import { say } from './language.js';
import { isMyTurn } from './match.js';
import { refusalText } from './words.js';

/** @import { MatchEvent } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/**
 * A move, at which ply it is played, and after how many takebacks.
 * @typedef {{ ply: number, move: string, takebacks: number }} Move
 */

export class OwnMove {
  /** Whether the move is meant. */
  element = h('div', {
    class: 'answer',
    role: 'group',
    'aria-label': say('move.label'),
    hidden: true,
  });
  #app;
  /** On its way, and not yet answered. @type {Move | null} */
  #sent = null;
  /** Shown, and not yet confirmed. @type {{ match: Match, move: Move } | null} */
  #meant = null;
  #confirm = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => this.#play() },
    say('move.play'),
  );

  #does;

  /**
   * @param {App} app
   * @param {{ back: () => void, played: () => void }} does `back` puts the focus back on the board, `played` draws
   *   a move that is on its way
   */
  constructor(app, does) {
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

  /** What is shown as played already. @param {Match} match @returns {Move | null} */
  shown(match) {
    const move = this.#sent ?? this.#meant?.move;
    return move?.ply === match.ply && move.takebacks === match.takebacks ? move : null;
  }

  /** @param {Match} match in which it is our turn @param {string} move a legal one */
  choose(match, move) {
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

  /** @param {Match} match as the event has left it @param {MatchEvent} event */
  happened({ ply, takebacks }, event) {
    const isOver = event.type === 'ended' || event.type === 'taken_back';
    if (isOver || (event.type === 'moved' && this.#sent && event.ply >= this.#sent.ply))
      this.#sent = null;
    const { move } = this.#meant ?? {};
    if (isOver || (move && (move.ply !== ply || move.takebacks !== takebacks))) this.#forgetMeant();
  }

  /** A move whose answer was lost is sent again: it is played once however often it comes. @param {Match} match */
  resend(match) {
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

  /** @param {Match} match @param {Move} move */
  #send(match, move) {
    this.#sent = move;
    void this.#ask(match, move);
    this.#does.played();
  }

  /** @param {Match} match @param {Move} move */
  async #ask({ match }, move) {
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
