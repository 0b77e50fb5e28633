// One match: its board, its players, its moves, and what can be done.

import { fill, h, write } from '../ui/dom.ts';
import { Entrance } from './join.ts';
import { firstToMove } from '../model/first-player.ts';
import { Furniture } from './match-view.ts';
import { customsOf, moveOfKey } from '../model/games.ts';
import { say, sentences } from '../text/language.ts';
import { isLiveOf, isMyTurn, stoodIn } from '../model/match.ts';
import { sideName } from '../text/labels.ts';
import { OwnMove } from './pending-move.ts';
import { Ahead, choicesAhead, isAwaiting } from '../model/premove.ts';
import { asWas, boardAfter, boardWith } from '../model/board-state.ts';
import { askForPast } from '../net/fetch-history.ts';
import { plyIn, showPly } from '../model/ply-link.ts';
import { play as sound } from '../ui/sounds.ts';
import { speechOf } from '../text/phrase-context.ts';
import { tellHow } from '../text/status-line.ts';
import { tell, tellChange } from '../text/announcer.ts';
import { titleOfMatch } from '../app/title.ts';
import * as words from '../text/phrases.ts';

import type { Game, MatchEvent, Message, SaidTold, Thinking } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** What a room is called for the status of its match. */
const STATUS_CLASSES = [
  ['waiting', 'open'],
  ['running', 'running'],
  ['ended', 'ended'],
] as const;

export class Room {
  element = h('div', { class: 'room' });
  #app;
  /** What the address calls the match: its code, or its id. */
  #code;
  #entrance;
  /** What is drawn when the match is known. */
  #furniture: Furniture | null = null;
  #own;
  #ahead;
  /** After how many moves the board is shown; `null` for now. */
  #looking: number | null = null;
  /** Until it is answered, or somebody waits for it. */
  #askedForPast: Promise<void> | null = null;
  /** Whether the board is seen from the other side than the one that it is seen from at first. */
  #isTurned = false;
  #entered = false;
  /** Which move the address leads to, of a match that is over. */
  #linked = plyIn(location.hash);
  #onHash = () => {
    this.#linked = plyIn(location.hash);
    this.#followLink();
  };
  #onKey = (event: KeyboardEvent) => this.#key(event);

  constructor(app: App, code: string, { watch = false }: { watch?: boolean }) {
    this.#app = app;
    this.#code = code.toUpperCase();
    this.#ahead = new Ahead(app);
    this.#own = new OwnMove(app, {
      back: () => this.#furniture?.board.focus({ preventScroll: true }),
      played: () => this.#played(),
    });
    this.#entrance = new Entrance(app, this.#code, watch);
    window.addEventListener('keydown', this.#onKey);
    window.addEventListener('hashchange', this.#onHash);
  }

  /** The match that is shown, by its id. */
  get match() {
    return this.element.dataset.match;
  }

  get #match(): Match | undefined {
    const id = this.#code.toLowerCase();
    const matches = [...this.#app.matches.values()];
    // An ended match may have had the code before.
    return matches.findLast(({ code, match }) => code === this.#code || match === id);
  }

  title() {
    const { why, passes } = this.#entrance.trouble;
    if (why) return `${passes ? say('room.again') : why} – Plyhouse`;
    const match = this.#match;
    if (!match) return '';
    const game = this.#app.game(match.game)?.title ?? match.game;
    const { state } = this.#app.connection.link;
    return `${titleOfMatch(match, state, this.#speech(match))} – ${game} – Plyhouse`;
  }

  welcomed() {
    this.#furniture?.analysis.welcomed();
    void this.#enter();
  }

  leave() {
    this.#entrance.leave();
    window.removeEventListener('keydown', this.#onKey);
    window.removeEventListener('hashchange', this.#onHash);
    this.#furniture?.leave();
    const match = this.#match;
    // What we only watched is followed no more; our own matches go on without being looked at.
    if (match && match.you === null && !isLiveOf(match, this.#app.player?.id)) {
      this.#app.matches.delete(match.match);
      if (this.#app.connection.link.state === 'open') {
        void this.#app.ask({ type: 'leave', match: match.match });
      }
    }
  }

  async #enter() {
    const match = this.#match;
    // Told with the welcome, maybe. Whoever comes to a seat in which a bot stands in takes it back.
    const isOut = match && stoodIn(match, this.#app.player?.id) !== null;
    if (match && !this.#entered && !isOut) this.#arrived();
    else await this.#entrance.enter(this.#entered ? this.match : undefined, () => this.#arrived());
  }

  #arrived() {
    const match = this.#match;
    if (!match) return;
    const first = !this.#entered;
    this.#entered = true;
    this.#entrance.arrived();
    this.element.dataset.match = match.match;
    this.#app.update();
    if (first && match.you !== null && match.status === 'running') this.#toBoard();
    this.#askForPast(match);
    this.#followLink();
    this.#own.resend(match);
    this.#playQueued(match);
  }

  /** The positions that one steps back through are in the events before the snapshot. */
  #askForPast(match: Match) {
    const count = match.status === 'open' ? 0 : match.ply + 1;
    const whole = Array.from({ length: count }, (_, ply) => match.past[ply]);
    if (whole.every((position) => position !== undefined)) return;
    // Without them one only sees less of the past.
    this.#askedForPast = askForPast(this.#app, match).then(
      () => {},
      () => {},
    );
  }

  /** Whether this match is what is to be seen here. */
  shows({ match }: Pick<Match, 'match'>) {
    return this.#match?.match === match;
  }

  happened(match: Match, event: MatchEvent) {
    if (match.match !== this.#match?.match) return;
    this.#own.happened(match, event);
    if (event.type === 'taken_back' && this.#ahead.premove) this.#app.toast(say('ahead.none'));
    if (event.type === 'ended' || event.type === 'taken_back') this.#ahead.premove = null;
    if (event.type === 'ended') this.#furniture?.result.open();
    if (event.type === 'taken_back') this.#lookOn(match);
    // Whoever sits here can play at once by keyboard.
    if (event.type === 'started' && match.you !== null) {
      queueMicrotask(() => this.#toBoard());
    }
    tell(this.#app, match, event);
    this.#playQueued(match);
  }

  /** Has the board in sight, and the keyboard play on it. */
  #toBoard() {
    window.scrollTo(0, 0);
    this.#furniture?.board.focus({ preventScroll: true });
  }

  changed(before: Match, after: Match) {
    if (after.match === this.#match?.match) tellChange(this.#app, before, after);
  }

  /** We may not see it any more, or not as it is now. */
  shownOut(match: string) {
    if (this.match !== match) return;
    this.#entrance.shownOut(match, () => this.#arrived());
  }

  hear(message: Message) {
    this.#furniture?.analysis.hear(message);
    if (message.type === 'thinking' && message.match === this.match) this.#hearThought(message);
  }

  /** A bot thinks, and tells what: what it would play now is drawn. */
  #hearThought(told: Thinking) {
    this.#furniture?.thinking.hear(told);
    const isNow = this.#looking === null && told.ply === this.#match?.ply;
    if (isNow && told.pv[0] !== undefined) this.#furniture?.board.advise(told.pv[0]);
  }

  /** Somebody has said something. */
  heard(line: SaidTold) {
    const match = this.#match;
    if (match?.match === line.match) this.#furniture?.heard(match, line);
  }

  /** A match is told of whole: the rematch of the one that is seen, under a code of its own, is gone to. */
  arrived(match: Pick<Match, 'match' | 'code' | 'previous' | 'you'>) {
    const isNext = match.previous !== undefined && match.previous === this.match;
    if (isNext && match.you !== null && !this.#app.isAt(match)) this.#app.goTo(match);
  }

  #speech(match: Match) {
    return speechOf(this.#app, match);
  }

  update() {
    const match = this.#match;
    if (!match || (this.#entrance.trouble.why && !this.#entrance.trouble.passes)) {
      this.#furniture?.leave();
      this.#furniture = null;
      fill(this.element, this.#empty());
      return;
    }
    const game = this.#app.game(match.game);
    if (!game) return;
    const before = this.match;
    if (this.#entered && before !== undefined && before !== match.match)
      this.#moveOn(before, match);
    this.#furniture ??= this.#furnish(game, match);
    this.#lookOn(match);
    this.#show(this.#furniture, game, match);
  }

  /** A rematch has taken over the code. */
  #moveOn(before: string, match: Match) {
    this.element.dataset.match = match.match;
    this.#app.matches.delete(before);
    this.#app.outlived(before);
    this.#furniture?.leave();
    this.#furniture = null;
    this.#own.forget();
    this.#ahead.premove = null;
    this.#looking = null;
    this.#linked = null;
    showPly(null);
    this.#isTurned = false;
    const side = sideName(match.seats[match.you ?? 0]?.side ?? '');
    const standing = words.standing(match, this.#speech(match));
    this.#app.announce(sentences(say('room.next', { side }), standing));
    sound('turn');
    this.#askForPast(match);
    queueMicrotask(() => this.#toBoard());
  }

  #empty() {
    const { why, passes } = this.#entrance.trouble;
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, why || say('room.opening')),
      passes && h('p', { role: 'status' }, say('room.soon')),
      h('p', {}, h('a', { class: 'button', href: '/' }, say('page.lobby'))),
    );
  }

  #furnish(game: Game, match: Match) {
    const furniture = new Furniture(this.#app, game, match, {
      play: (move) => this.#play(move),
      queue: (choice) => this.#queue({ squares: choice.split(' ') }),
      queueMove: (move) => this.#queue({ squares: [], move }),
      unqueue: () => this.#ahead.takeOut(),
      look: (ply) => this.#look(ply),
      turn: () => {
        this.#isTurned = !this.#isTurned;
        this.#app.update();
      },
    });
    fill(this.element, ...furniture.parts);
    furniture.actions.lower.prepend(this.#own.element, furniture.analysis.asked);
    return furniture;
  }

  /** Draws the board, and marks whether it is our turn. */
  #showBoard({ analysis: { learning }, board }: Furniture, game: Game, match: Match) {
    const now = this.#looking === null;
    const shown = this.#looking ?? match.ply;
    const pending = now ? this.#own.shown(match) : null;
    const move = pending?.move ?? learning?.tried ?? null;
    const view =
      move === null ? boardAfter(game, match, shown) : boardWith(game, asWas(match, shown), move);
    const isOpen = this.#app.connection.link.state === 'open';
    const mine = now && !pending && isMyTurn(match) && isOpen;
    const awaits = now && isAwaiting(match) && isOpen;
    const legal = mine ? match.legal : (learning?.legal ?? []);
    board.show({
      ...view,
      line: now && match.outcome?.line ? match.outcome.line : [],
      legal,
      ahead: awaits ? choicesAhead(match, view.board) : [],
      queued: (now && this.#ahead.premove?.squares) || [],
      seat: match.you,
      moving: this.#entered,
      turned: this.#isSeenFromAbove(match) !== this.#isTurned,
    });
    this.element.classList.toggle('my-turn', mine);
    return { view, pending, awaits, legal };
  }

  /** With a move of ours the board and whose turn it is change at once, and all else after the next picture. */
  #played() {
    const match = this.#match;
    const game = match && this.#app.game(match.game);
    if (this.#furniture && match && game) this.#showBoard(this.#furniture, game, match);
    this.#app.updateSoon();
  }

  #show(furniture: Furniture, game: Game, match: Match) {
    const { analysis, board, moves, players, actions, others, result, watching, talk } = furniture;
    const now = this.#looking === null;
    const shown = this.#looking ?? match.ply;
    analysis.show(match, shown);
    const { learning } = analysis;
    const { view, pending, awaits, legal } = this.#showBoard(furniture, game, match);
    const otherMoves = legal.length > 0 ? board.otherMoves() : [];
    others.show(match, {
      moves: otherMoves,
      isAll: otherMoves.length === legal.length,
      awaits,
      isQueued: this.#ahead.premove?.move === 'pass',
    });
    const turn = pending ? null : match.turn;
    const ours = match.you ?? stoodIn(match, this.#app.player?.id) ?? 0;
    players.show(match, turn, view.board, this.#isTurned ? 1 - ours : ours);
    const count = this.#count(match);
    const sides = game.sides.map(sideName);
    moves.show(
      match.san ?? match.moves,
      { shown: this.#looking, count },
      sides,
      firstToMove(match),
    );
    moves.offerRecord(match.match, game.record);
    const { why, passes } = this.#entrance.trouble;
    furniture.thinking.show(match);
    const won = match.outcome?.line;
    result.leaves(() => (won ? board.boxesOf(won) : []));
    tellHow(this.#app, furniture, match, {
      ...{ shown: this.#looking, count },
      isPending: this.#own.isSent && pending !== null,
      ahead: this.#ahead.says(),
      judged: analysis.brief,
      learned: analysis.learning?.standing,
      trouble: passes ? why : '',
    });
    this.element.classList.toggle('past', !now && !learning);
    for (const [name, status] of STATUS_CLASSES) {
      this.element.classList.toggle(name, match.status === status);
    }
    write(watching, words.watching(match));
    actions.show(match, shown, now, this.#isTurned);
    talk.show(match);
    // Without the server nobody else can see it.
    moves.offerLink(match.status === 'ended' && !this.#app.connection.isAlone);
    moves.mark(analysis.judged);
    if (analysis.better !== null) board.advise(analysis.better);
  }

  /** Who sits in the second seat of a game that is played face to face. */
  #isSeenFromAbove(match: Match) {
    const seat = match.you ?? stoodIn(match, this.#app.player?.id);
    return seat === 1 && customsOf(match.game).faces === true;
  }

  /** Chooses a move ahead. */
  #queue(choice: { squares: string[]; move?: string }) {
    const match = this.#match;
    const game = match && this.#app.game(match.game);
    if (!game || !isAwaiting(match) || this.#looking !== null) return;
    this.#ahead.choose(match, choice, boardAfter(game, match, match.ply).board);
  }

  /** Plays what was chosen ahead, once it is our turn. */
  #playQueued(match: Match) {
    const game = this.#app.game(match.game);
    const move = game && this.#ahead.due(match, boardAfter(game, match, match.ply).board);
    if (typeof move !== 'string') return;
    this.#looking = null;
    this.#play(move);
  }

  #play(move: string) {
    const match = this.#match;
    const learning = this.#furniture?.analysis.learning;
    if (learning?.legal.includes(move)) learning.choose(move);
    if (
      !match ||
      !isMyTurn(match) ||
      this.#app.connection.link.state !== 'open' ||
      this.#own.shown(match) ||
      this.#looking !== null ||
      !match.legal.includes(move)
    )
      return;
    this.#own.choose(match, move);
  }

  /** How many moves there are, with one of ours that is under way. */
  #count(match: Match) {
    return match.ply + (this.#own.shown(match) ? 1 : 0);
  }

  /** Of what has not been played, or no longer, there is nothing to look back to. */
  #lookOn(match: Match) {
    if (this.#looking !== null && this.#looking >= this.#count(match)) this.#looking = null;
  }

  #look(ply: number) {
    const match = this.#match;
    if (!match) return;
    if (ply < match.ply && match.past[ply] === undefined && this.#askedForPast) {
      void this.#askedForPast.then(() => this.#look(ply));
      this.#askedForPast = null;
      return;
    }
    this.#looking = ply >= this.#count(match) || match.past[ply] === undefined ? null : ply;
    if (match.status === 'ended') showPly(this.#looking);
    this.#app.update();
  }

  /** Shows the move that the address leads to: while it is played, a match is shown as it is now. */
  #followLink() {
    const ply = this.#linked;
    if (ply === null || this.#match?.status !== 'ended') return;
    this.#linked = null;
    this.#look(ply);
  }

  #key(event: KeyboardEvent) {
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
    const count = this.#count(match);
    const shown = this.#looking ?? count;
    const steps: Record<string, number> = {
      ArrowLeft: shown - 1,
      ArrowRight: shown + 1,
      Home: 0,
      End: count,
    };
    const step = steps[event.key];
    // Whoever is on a button means the button.
    const move = at?.closest('button, a') ? null : moveOfKey(match.game, event);
    if (move !== null && !event.repeat) {
      if (isAwaiting(match)) this.#queue({ squares: [], move });
      else this.#play(move);
    } else if (event.key === 'Escape' && this.#own.isAsked) this.#own.callOff();
    else if (event.key === 'Escape' && this.#ahead.premove) this.#ahead.takeOut();
    else if (event.key === 'Escape' && this.#furniture?.result.isShown)
      this.#furniture.result.putAway();
    else if (!event.repeat && this.#furniture?.actions.answers.key(event.key)) this.#app.update();
    else if (step !== undefined && count > 0) this.#look(Math.max(0, step));
    else return;
    event.preventDefault();
  }
}
