// One match: its board, its players, its moves, and what can be done.

import { Refusal } from './connection.js';
import { fill, h, write } from './dom.js';
import { Furniture } from './furniture.js';
import { customsOf, moveOfKey } from './games.js';
import { isMyTurn } from './match.js';
import { boardAfter, boardWith } from './scene.js';
import { play as sound } from './sounds.js';
import { speechOf } from './speech.js';
import * as words from './words.js';

/** @import { Game, MatchEvent } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/** When to ask again for a match that the server cannot give now and does not say when it can. */
const ASK_AGAIN_MS = [1000, 2000, 4000, 8000, 15_000];

export class Room {
  element = h('div', { class: 'room' });
  #app;
  /** What the address calls the match: its code, or its id. */
  #code;
  /** Not even an open seat is to be taken. */
  #onlyWatch;
  /** What is drawn when the match is known. @type {Furniture | null} */
  #furniture = null;
  /** A move that is shown and not yet answered. @type {{ ply: number, move: string } | null} */
  #pending = null;
  /** After how many moves the board is shown; `null` for now. @type {number | null} */
  #looking = null;
  /** Until it is answered, or somebody waits for it. @type {Promise<void> | null} */
  #askedForPast = null;
  /** Why there is no match to be seen: for good, or until it is asked for again. */
  #trouble = { why: '', passes: false };
  #refusals = 0;
  /** Whether the board is seen from the other side than the one that it is seen from at first. */
  #isTurned = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #askingAgain;
  #entered = false;
  #isLeft = false;
  #onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);

  /** @param {App} app @param {string} code @param {{ watch?: boolean }} wish */
  constructor(app, code, { watch = false }) {
    this.#app = app;
    this.#code = code.toUpperCase();
    this.#onlyWatch = watch;
    window.addEventListener('keydown', this.#onKey);
  }

  /** @returns {Match | undefined} */
  get #match() {
    const id = this.#code.toLowerCase();
    const matches = [...this.#app.matches.values()];
    // An ended match may have had the code before.
    return matches.findLast(({ code, match }) => code === this.#code || match === id);
  }

  title() {
    const { why, passes } = this.#trouble;
    if (why) return `${passes ? 'Trying again …' : why} – Plyhouse`;
    const match = this.#match;
    if (!match) return '';
    const game = this.#app.game(match.game)?.title ?? match.game;
    const { state } = this.#app.connection.link;
    const mark = isMyTurn(match) && state === 'open' ? '● ' : '';
    const standing = words.standingOver(match, state, this.#speech(match));
    return `${mark}${standing} – ${game} – Plyhouse`;
  }

  welcomed() {
    clearTimeout(this.#askingAgain);
    void this.#enter();
  }

  leave() {
    this.#isLeft = true;
    clearTimeout(this.#askingAgain);
    window.removeEventListener('keydown', this.#onKey);
    this.#furniture?.leave();
    const match = this.#match;
    // What we only watched is followed no more; our own matches go on without being looked at.
    if (match && match.you === null && match.host !== this.#app.player?.id) {
      this.#app.matches.delete(match.match);
      if (this.#app.connection.link.state === 'open') {
        void this.#app.ask({ type: 'leave', match: match.match });
      }
    }
  }

  /** Takes the open seat, or watches; a seat that is ours already is kept. */
  async #enter() {
    const known = this.#match;
    if (known && !this.#entered) {
      this.#arrived();
      return;
    }
    const request = { match: this.#code };
    try {
      if (this.#entered || this.#onlyWatch) {
        await this.#app.connection.ask({ type: 'watch', ...request });
      } else {
        await this.#joinOrWatch(request);
      }
      this.#arrived();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The next welcome tries again.
      if (error.code === 'lost') return;
      this.#refused(error);
    }
  }

  /** @param {Refusal} refusal */
  #refused({ code, message, retryable, retryAfterMs }) {
    if (this.#isLeft) return;
    const none = code === 'unknown_match';
    const why = none ? 'There is no match with this code now.' : words.sentence(message);
    this.#trouble = { why, passes: retryable };
    if (retryable) {
      const last = ASK_AGAIN_MS.length - 1;
      const after = retryAfterMs ?? ASK_AGAIN_MS[Math.min(this.#refusals, last)];
      this.#refusals += 1;
      clearTimeout(this.#askingAgain);
      this.#askingAgain = setTimeout(() => void this.#enter(), after);
    }
    this.#app.update();
  }

  /** @param {{ match: string }} request */
  async #joinOrWatch(request) {
    try {
      await this.#app.connection.ask({ type: 'join', ...request });
    } catch (error) {
      const other = ['already_seated', 'seat_taken', 'match_ended', 'overloaded'];
      if (!(error instanceof Refusal) || !other.includes(error.code)) throw error;
      await this.#app.connection.ask({ type: 'watch', ...request });
    }
  }

  #arrived() {
    const match = this.#match;
    if (!match) return;
    const first = !this.#entered;
    this.#entered = true;
    this.#trouble = { why: '', passes: false };
    this.#refusals = 0;
    this.element.dataset.match = match.match;
    this.#app.update();
    if (first && match.you !== null && match.status === 'running') this.#furniture?.board.focus();
    this.#askForPast(match);
    this.#resend(match);
  }

  /** The positions that one steps back through are in the events before the snapshot. @param {Match} match */
  #askForPast(match) {
    const count = match.status === 'open' ? 0 : match.ply + 1;
    const whole = Array.from({ length: count }, (_, ply) => match.past[ply]);
    if (whole.every((position) => position !== undefined)) return;
    // Without them one only sees less of the past.
    const asked = this.#app.connection.ask({ type: 'resync', match: match.match, since: 0 });
    this.#askedForPast = asked.catch(() => {});
  }

  /** A move whose answer was lost is sent again: it is played once however often it comes. @param {Match} match */
  #resend(match) {
    const pending = this.#pending;
    if (!pending) return;
    if (match.ply === pending.ply && isMyTurn(match)) void this.#send(match, pending);
    else this.#pending = null;
    this.#app.update();
  }

  /** Whether this match is what is to be seen here. @param {Pick<Match, 'match'>} match */
  shows({ match }) {
    return this.#match?.match === match;
  }

  /** @param {Match} match @param {MatchEvent} event */
  happened(match, event) {
    if (match.match !== this.#match?.match) return;
    const speech = this.#speech(match);
    if (event.type === 'moved') {
      if (this.#pending && event.ply >= this.#pending.ply) this.#pending = null;
      const standing =
        match.status === 'running' && match.turn !== null ? words.standing(match, speech) : '';
      this.#app.announce(`${words.moved(match, event.seat, event.move, speech)} ${standing}`);
      sound(isMyTurn(match) ? 'turn' : 'move');
    } else if (event.type === 'ended') {
      this.#pending = null;
      const { headline, why } = words.ended(match, speech);
      this.#app.announce(`${headline} ${why}`);
      sound('end');
    } else if (event.type === 'started') {
      this.#app.announce(`The match begins. ${words.standing(match, speech)}`);
      sound('turn');
      // Whoever sits here can play at once by keyboard.
      queueMicrotask(() => match.you !== null && this.#furniture?.board.focus());
    } else if (event.type === 'seated' && event.seat !== match.you) {
      const seat = match.seats[event.seat];
      const name = seat ? words.occupant(seat, speech.levels) : '';
      this.#app.announce(
        event.occupant === 'open' ? 'A seat is open again.' : `${name} sits down.`,
      );
    }
  }

  /** @param {Match} before @param {Match} after */
  presenceChanged(before, after) {
    if (after.match !== this.#match?.match) return;
    after.seats.forEach((seat, number) => {
      const was = before.seats[number];
      if (number === after.you || !was || seat.occupant !== 'player') return;
      const name = words.who(after, number, this.#speech(after));
      if (words.isGone(seat) && !words.isGone(was)) this.#app.announce(`${name} is gone.`);
      if (!words.isGone(seat) && words.isGone(was)) this.#app.announce(`${name} is back.`);
    });
  }

  /** @param {Match} match */
  #speech(match) {
    return speechOf(this.#app, match);
  }

  update() {
    const match = this.#match;
    if (!match || (this.#trouble.why && !this.#trouble.passes)) {
      this.#furniture?.leave();
      this.#furniture = null;
      fill(this.element, this.#empty());
      return;
    }
    const game = this.#app.game(match.game);
    if (!game) return;
    this.#furniture ??= this.#furnish(game, match);
    this.#show(this.#furniture, game, match);
  }

  #empty() {
    const { why, passes } = this.#trouble;
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, why || 'Opening the match …'),
      passes && h('p', { role: 'status' }, 'Trying again in a moment …'),
      h('p', {}, h('a', { class: 'button', href: '/' }, 'To the lobby')),
    );
  }

  /** @param {Game} game @param {Match} match */
  #furnish(game, match) {
    const furniture = new Furniture(this.#app, game, match, {
      play: (move) => this.#play(move),
      look: (ply) => this.#look(ply),
      turn: () => {
        this.#isTurned = !this.#isTurned;
        this.#app.update();
      },
    });
    fill(this.element, ...furniture.parts);
    return furniture;
  }

  /** @param {Furniture} furniture @param {Game} game @param {Match} match */
  #show(furniture, game, match) {
    const { board, moves, players, standing, why, actions, others, watching } = furniture;
    const now = this.#looking === null;
    const shown = this.#looking ?? match.ply;
    const pending = now && this.#pending?.ply === match.ply ? this.#pending : null;
    const view = pending ? boardWith(game, match, pending.move) : boardAfter(game, match, shown);
    const mine = now && !pending && isMyTurn(match) && this.#app.connection.link.state === 'open';
    board.show({
      ...view,
      line: now && match.outcome?.line ? match.outcome.line : [],
      legal: mine ? match.legal : [],
      seat: match.you,
      moving: this.#entered,
      turned: this.#isSeenFromAbove(match) !== this.#isTurned,
    });
    const otherMoves = mine ? board.otherMoves() : [];
    furniture.offer(otherMoves, otherMoves.length === match.legal.length);
    furniture.showTurned(this.#isTurned);
    const turn = pending ? null : match.turn;
    players.show(match, turn, view.board);
    moves.show(match.moves, shown, game.sides);
    moves.offerRecord(match.match, game.record);
    const speech = this.#speech(match);
    const end = match.status === 'ended' ? words.ended(match, speech) : null;
    write(
      standing,
      now
        ? pending
          ? 'Playing …'
          : words.standingOver(match, this.#app.connection.link.state, speech)
        : `After ${shown} of ${words.counted(match.ply, 'move', 'moves')}.`,
    );
    write(why, now ? (end?.why ?? this.#hint(match, game)) : 'The match goes on meanwhile.');
    if (!now && end) write(why, 'You are looking back.');
    if (this.#trouble.passes) write(why, `${this.#trouble.why} Trying again …`);
    this.element.classList.toggle('my-turn', mine);
    this.element.classList.toggle('past', !now);
    this.element.classList.toggle('waiting', match.status === 'open');
    this.element.classList.toggle('ended', match.status === 'ended');
    others.hidden = others.childElementCount === 0;
    write(watching, words.watching(match));
    actions.show(match, now);
  }

  /** Who sits in the second seat of a game that is played face to face. @param {Match} match */
  #isSeenFromAbove({ game, you }) {
    return you === 1 && customsOf(game).faces === true;
  }

  /** @param {Match} match @param {Game} game */
  #hint(match, game) {
    if (match.status === 'open') {
      if (match.you === null) return '';
      return this.#app.invited.has(match.match)
        ? 'They are asked if they are still at the match just played.'
        : 'It begins when somebody sits down.';
    }
    if (this.#app.connection.link.state !== 'open')
      return words.clockGoesOn(match, this.#speech(match));
    if (match.you === null) return 'You are watching.';
    if (!isMyTurn(match)) return '';
    const { forced, afterPass } = customsOf(match.game);
    const other = words.who(match, 1 - match.you, this.#speech(match));
    const passed = match.moves.at(-1) === 'pass' && `${other} passed.`;
    const says = [passed, passed && afterPass, forced(match.legal)];
    return says.filter(Boolean).join(' ') || (match.ply < 2 ? howTo(game.game) : '');
  }

  /** @param {string} move */
  #play(move) {
    const match = this.#match;
    if (
      !match ||
      !isMyTurn(match) ||
      this.#app.connection.link.state !== 'open' ||
      this.#pending ||
      this.#looking !== null ||
      !match.legal.includes(move)
    )
      return;
    const pending = { ply: match.ply, move };
    this.#pending = pending;
    void this.#send(match, pending);
    this.#app.update();
  }

  /** @param {Match} match @param {{ ply: number, move: string }} pending */
  async #send(match, pending) {
    try {
      await this.#app.connection.ask({ type: 'move', match: match.match, ...pending });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Not known whether it was played: it stays in sight, and is sent again with the next welcome.
      if (error.code === 'lost') return;
      this.#pending = null;
      this.#app.toast(`Your move was not played: ${error.message}.`);
      if (error.code === 'stale_ply') {
        void this.#app.ask({ type: 'resync', match: match.match, since: match.seq });
      }
      this.#app.update();
    }
  }

  /** @param {number} ply */
  #look(ply) {
    const match = this.#match;
    if (!match) return;
    if (ply < match.ply && match.past[ply] === undefined && this.#askedForPast) {
      void this.#askedForPast.then(() => this.#look(ply));
      this.#askedForPast = null;
      return;
    }
    this.#looking = ply >= match.ply || match.past[ply] === undefined ? null : ply;
    this.#app.update();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const match = this.#match;
    const at = event.target instanceof Element ? event.target : null;
    if (
      !match ||
      at?.closest('input, select, dialog') ||
      event.ctrlKey ||
      event.altKey ||
      event.metaKey
    )
      return;
    const shown = this.#looking ?? match.ply;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: match.ply };
    const step = steps[event.key];
    // Whoever is on a button means the button.
    const move = at?.closest('button, a') ? null : moveOfKey(match.game, event);
    if (move !== null && !event.repeat) this.#play(move);
    else if (step !== undefined && match.ply > 0) this.#look(Math.max(0, step));
    else return;
    event.preventDefault();
  }
}

/** How one plays with what there is at hand. @param {string} game */
const howTo = (game) => {
  const { hint, touchHint } = customsOf(game);
  return matchMedia('(hover: none)').matches ? touchHint : hint;
};
