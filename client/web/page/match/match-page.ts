// One match: its board, its players, its moves, and what can be done.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { MatchJoiner } from './join.ts';
import { firstToMove } from '../model/first-player.ts';
import { MatchView } from './match-view.ts';
import { conventionsOf, moveForKeyEvent } from '../model/game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isLiveFor, isMyTurn, standInSeat } from '../model/match.ts';
import { sideName } from '../text/labels.ts';
import { PendingMove } from './pending-move.ts';
import { PremoveState, premoveOptions, canPremove } from '../model/premove.ts';
import { matchAtPly, boardAfter, boardWithPendingMove } from '../model/board-state.ts';
import { fetchEvents } from '../net/fetch-history.ts';
import { parsePlyHash, setPlyHash } from '../model/ply-link.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { updateStatusLine } from '../text/status-line.ts';
import { announceEvent, announceChange } from '../text/announcer.ts';
import { matchTabTitle } from '../app/title.ts';
import * as words from '../text/phrases.ts';

import type { Game, MatchEvent, Message, ChatMessage, Thinking } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** What a room is called for the status of its match. */
const STATUS_CLASSES = [
  ['waiting', 'open'],
  ['running', 'running'],
  ['ended', 'ended'],
] as const;

export class MatchPage {
  element = h('div', { class: 'room' });
  #app;
  /** What the address calls the match: its code, or its id. */
  #code;
  #entrance;
  /** What is drawn when the match is known. */
  #furniture: MatchView | null = null;
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
  #linked = parsePlyHash(location.hash);
  #onHash = () => {
    this.#linked = parsePlyHash(location.hash);
    this.#followLink();
  };
  #onKey = (event: KeyboardEvent) => this.#key(event);

  constructor(app: App, code: string, { watch = false }: { watch?: boolean }) {
    this.#app = app;
    this.#code = code.toUpperCase();
    this.#ahead = new PremoveState(app);
    this.#own = new PendingMove(app, {
      focusBoard: () => this.#furniture?.board.focus({ preventScroll: true }),
      onSent: () => this.#played(),
    });
    this.#entrance = new MatchJoiner(app, this.#code, watch);
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
    const { why, isTemporary: passes } = this.#entrance.joinError;
    if (why) return `${passes ? translate('room.again') : why} – Plyhouse`;
    const match = this.#match;
    if (!match) return '';
    const game = this.#app.game(match.game)?.title ?? match.game;
    const { state } = this.#app.connection.status;
    return `${matchTabTitle(match, state, this.#speech(match))} – ${game} – Plyhouse`;
  }

  onWelcome() {
    this.#furniture?.analysis.onWelcome();
    void this.#enter();
  }

  unmount() {
    this.#entrance.cancel();
    window.removeEventListener('keydown', this.#onKey);
    window.removeEventListener('hashchange', this.#onHash);
    this.#furniture?.unmount();
    const match = this.#match;
    // What we only watched is followed no more; our own matches go on without being looked at.
    if (match && match.you === null && !isLiveFor(match, this.#app.player?.id)) {
      this.#app.matches.delete(match.match);
      if (this.#app.connection.status.state === 'open') {
        void this.#app.request({ type: 'leave', match: match.match });
      }
    }
  }

  async #enter() {
    const match = this.#match;
    // Told with the welcome, maybe. Whoever comes to a seat in which a bot stands in takes it back.
    const isOut = match && standInSeat(match, this.#app.player?.id) !== null;
    if (match && !this.#entered && !isOut) this.#arrived();
    else await this.#entrance.join(this.#entered ? this.match : undefined, () => this.#arrived());
  }

  #arrived() {
    const match = this.#match;
    if (!match) return;
    const first = !this.#entered;
    this.#entered = true;
    this.#entrance.onJoined();
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
    const whole = Array.from({ length: count }, (_, ply) => match.positions[ply]);
    if (whole.every((position) => position !== undefined)) return;
    // Without them one only sees less of the past.
    this.#askedForPast = fetchEvents(this.#app, match).then(
      () => {},
      () => {},
    );
  }

  /** Whether this match is what is to be seen here. */
  isShowing({ match }: Pick<Match, 'match'>) {
    return this.#match?.match === match;
  }

  onEvent(match: Match, event: MatchEvent) {
    if (match.match !== this.#match?.match) return;
    this.#own.onMatchEvent(match, event);
    if (event.type === 'taken_back' && this.#ahead.premove)
      this.#app.toast(translate('ahead.none'));
    if (event.type === 'ended' || event.type === 'taken_back') this.#ahead.premove = null;
    if (event.type === 'ended') this.#furniture?.result.open();
    if (event.type === 'taken_back') this.#lookOn(match);
    // Whoever sits here can play at once by keyboard.
    if (event.type === 'started' && match.you !== null) {
      queueMicrotask(() => this.#toBoard());
    }
    announceEvent(this.#app, match, event);
    this.#playQueued(match);
  }

  /** Has the board in sight, and the keyboard play on it. */
  #toBoard() {
    window.scrollTo(0, 0);
    this.#furniture?.board.focus({ preventScroll: true });
  }

  onMatchChanged(before: Match, after: Match) {
    if (after.match === this.#match?.match) announceChange(this.#app, before, after);
  }

  /** We may not see it any more, or not as it is now. */
  onWatchEnded(match: string) {
    if (this.match !== match) return;
    this.#entrance.onWatchEnded(match, () => this.#arrived());
  }

  onMessage(message: Message) {
    this.#furniture?.analysis.onMessage(message);
    if (message.type === 'thinking' && message.match === this.match) this.#hearThought(message);
  }

  /** A bot thinks, and tells what: what it would play now is drawn. */
  #hearThought(told: Thinking) {
    this.#furniture?.engineOutput.onThinking(told);
    const isNow = this.#looking === null && told.ply === this.#match?.ply;
    if (isNow && told.pv[0] !== undefined) this.#furniture?.board.showBestMove(told.pv[0]);
  }

  /** Somebody has said something. */
  onChat(line: ChatMessage) {
    const match = this.#match;
    if (match?.match === line.match) this.#furniture?.onChat(match, line);
  }

  /** A match is told of whole: the rematch of the one that is seen, under a code of its own, is gone to. */
  onSnapshot(match: Pick<Match, 'match' | 'code' | 'previous' | 'you'>) {
    const isNext = match.previous !== undefined && match.previous === this.match;
    if (isNext && match.you !== null && !this.#app.isAtMatch(match)) this.#app.goToMatch(match);
  }

  #speech(match: Match) {
    return phraseContextOf(this.#app, match);
  }

  update() {
    const match = this.#match;
    if (!match || (this.#entrance.joinError.why && !this.#entrance.joinError.isTemporary)) {
      this.#furniture?.unmount();
      this.#furniture = null;
      replaceChildren(this.element, this.#empty());
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
    this.#app.clearToasts(before);
    this.#furniture?.unmount();
    this.#furniture = null;
    this.#own.reset();
    this.#ahead.premove = null;
    this.#looking = null;
    this.#linked = null;
    setPlyHash(null);
    this.#isTurned = false;
    const side = sideName(match.seats[match.you ?? 0]?.side ?? '');
    const standing = words.statusText(match, this.#speech(match));
    this.#app.announce(joinSentences(translate('room.next', { side }), standing));
    sound('turn');
    this.#askForPast(match);
    queueMicrotask(() => this.#toBoard());
  }

  #empty() {
    const { why, isTemporary: passes } = this.#entrance.joinError;
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, why || translate('room.opening')),
      passes && h('p', { role: 'status' }, translate('room.soon')),
      h('p', {}, h('a', { class: 'button', href: '/' }, translate('page.lobby'))),
    );
  }

  #furnish(game: Game, match: Match) {
    const furniture = new MatchView(this.#app, game, match, {
      play: (move) => this.#play(move),
      setPremove: (choice) => this.#queue({ squares: choice.split(' ') }),
      setPremoveMove: (move) => this.#queue({ squares: [], move }),
      cancelPremove: () => this.#ahead.cancel(),
      goToPly: (ply) => this.#look(ply),
      flip: () => {
        this.#isTurned = !this.#isTurned;
        this.#app.update();
      },
    });
    replaceChildren(this.element, ...furniture.elements);
    furniture.actions.prompts.prepend(this.#own.element, furniture.analysis.trainerElement);
    return furniture;
  }

  /** Draws the board, and marks whether it is our turn. */
  #showBoard({ analysis: { trainer: learning }, board }: MatchView, game: Game, match: Match) {
    const now = this.#looking === null;
    const shown = this.#looking ?? match.ply;
    const pending = now ? this.#own.moveFor(match) : null;
    const move = pending?.move ?? learning?.triedMove ?? null;
    const view =
      move === null
        ? boardAfter(game, match, shown)
        : boardWithPendingMove(game, matchAtPly(match, shown), move);
    const isOpen = this.#app.connection.status.state === 'open';
    const mine = now && !pending && isMyTurn(match) && isOpen;
    const awaits = now && canPremove(match) && isOpen;
    const legal = mine ? match.legal : (learning?.legalMoves ?? []);
    board.show({
      ...view,
      winningLine: now && match.outcome?.line ? match.outcome.line : [],
      legal,
      premoveOptions: awaits ? premoveOptions(match, view.board) : [],
      premoveSquares: (now && this.#ahead.premove?.squares) || [],
      seat: match.you,
      isAnimated: this.#entered,
      isFlipped: this.#isSeenFromAbove(match) !== this.#isTurned,
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

  #show(furniture: MatchView, game: Game, match: Match) {
    const {
      analysis,
      board,
      moveList: moves,
      playerBars: players,
      actions,
      moveButtons: others,
      result,
      spectatorCount: watching,
      chat: talk,
    } = furniture;
    const now = this.#looking === null;
    const shown = this.#looking ?? match.ply;
    analysis.show(match, shown);
    const { trainer: learning } = analysis;
    const { view, pending, awaits, legal } = this.#showBoard(furniture, game, match);
    const otherMoves = legal.length > 0 ? board.movesWithoutSquare() : [];
    others.show(match, {
      moves: otherMoves,
      areOnlyMoves: otherMoves.length === legal.length,
      canPremove: awaits,
      isPassPremoved: this.#ahead.premove?.move === 'pass',
    });
    const turn = pending ? null : match.turn;
    const ours = match.you ?? standInSeat(match, this.#app.player?.id) ?? 0;
    players.show(match, turn, view.board, this.#isTurned ? 1 - ours : ours);
    const count = this.#count(match);
    const sides = game.sides.map(sideName);
    moves.show(
      match.san ?? match.moves,
      { shown: this.#looking, count },
      sides,
      firstToMove(match),
    );
    moves.setDownloadLink(match.match, game.record);
    const { why, isTemporary: passes } = this.#entrance.joinError;
    furniture.engineOutput.show(match);
    const won = match.outcome?.line;
    result.avoidCovering(() => (won ? board.squareRects(won) : []));
    updateStatusLine(this.#app, furniture, match, {
      ...{ shownPly: this.#looking, plyCount: count },
      isPending: this.#own.isSent && pending !== null,
      premoveText: this.#ahead.statusText(),
      judgement: analysis.briefJudgement,
      trainerStatus: analysis.trainer?.statusText,
      loadError: passes ? why : '',
    });
    this.element.classList.toggle('past', !now && !learning);
    for (const [name, status] of STATUS_CLASSES) {
      this.element.classList.toggle(name, match.status === status);
    }
    setText(watching, words.spectatorCountText(match));
    actions.show(match, shown, now, this.#isTurned);
    talk.show(match);
    // Without the server nobody else can see it.
    moves.setShareable(match.status === 'ended' && !this.#app.connection.isOffline);
    moves.markJudgements(analysis.judgements);
    if (analysis.betterMove !== null) board.showBestMove(analysis.betterMove);
  }

  /** Who sits in the second seat of a game that is played face to face. */
  #isSeenFromAbove(match: Match) {
    const seat = match.you ?? standInSeat(match, this.#app.player?.id);
    return seat === 1 && conventionsOf(match.game).hasOrientation === true;
  }

  /** Chooses a move ahead. */
  #queue(choice: { squares: string[]; move?: string }) {
    const match = this.#match;
    const game = match && this.#app.game(match.game);
    if (!game || !canPremove(match) || this.#looking !== null) return;
    this.#ahead.set(match, choice, boardAfter(game, match, match.ply).board);
  }

  /** Plays what was chosen ahead, once it is our turn. */
  #playQueued(match: Match) {
    const game = this.#app.game(match.game);
    const move = game && this.#ahead.takeMove(match, boardAfter(game, match, match.ply).board);
    if (typeof move !== 'string') return;
    this.#looking = null;
    this.#play(move);
  }

  #play(move: string) {
    const match = this.#match;
    const learning = this.#furniture?.analysis.trainer;
    if (learning?.legalMoves.includes(move)) learning.tryMove(move);
    if (
      !match ||
      !isMyTurn(match) ||
      this.#app.connection.status.state !== 'open' ||
      this.#own.moveFor(match) ||
      this.#looking !== null ||
      !match.legal.includes(move)
    )
      return;
    this.#own.submit(match, move);
  }

  /** How many moves there are, with one of ours that is under way. */
  #count(match: Match) {
    return match.ply + (this.#own.moveFor(match) ? 1 : 0);
  }

  /** Of what has not been played, or no longer, there is nothing to look back to. */
  #lookOn(match: Match) {
    if (this.#looking !== null && this.#looking >= this.#count(match)) this.#looking = null;
  }

  #look(ply: number) {
    const match = this.#match;
    if (!match) return;
    if (ply < match.ply && match.positions[ply] === undefined && this.#askedForPast) {
      void this.#askedForPast.then(() => this.#look(ply));
      this.#askedForPast = null;
      return;
    }
    this.#looking = ply >= this.#count(match) || match.positions[ply] === undefined ? null : ply;
    if (match.status === 'ended') setPlyHash(this.#looking);
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
    const move = at?.closest('button, a') ? null : moveForKeyEvent(match.game, event);
    if (move !== null && !event.repeat) {
      if (canPremove(match)) this.#queue({ squares: [], move });
      else this.#play(move);
    } else if (event.key === 'Escape' && this.#own.isConfirming) this.#own.cancel();
    else if (event.key === 'Escape' && this.#ahead.premove) this.#ahead.cancel();
    else if (event.key === 'Escape' && this.#furniture?.result.isOpen)
      this.#furniture.result.close();
    else if (!event.repeat && this.#furniture?.actions.offerPrompts.handleKey(event.key))
      this.#app.update();
    else if (step !== undefined && count > 0) this.#look(Math.max(0, step));
    else return;
    event.preventDefault();
  }
}
