// The page of one match. It joins the match, and passes its state to the components of the view.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { MatchJoiner } from './join.ts';
import { firstToMove } from '../model/first-player.ts';
import { MatchView } from './match-view.ts';
import { conventionsOf, moveForKeyEvent } from '../model/game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isLiveFor, isMyTurn, standInSeat } from '../model/match.ts';
import { isMatchEvent } from '../model/state.ts';
import { sideName } from '../text/labels.ts';
import { PendingMove } from './pending-move.ts';
import { PremoveState, premoveOptions, canPremove } from '../model/premove.ts';
import { matchAtPly, boardAfter, boardWithPendingMove } from '../model/board-state.ts';
import { fetchEvents } from '../net/fetch-history.ts';
import { parsePlyHash, setPlyHash } from '../model/ply-link.ts';
import { playSound } from '../ui/sounds.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { updateStatusLine } from '../text/status-line.ts';
import { announceEvent, announceChange } from '../text/announcer.ts';
import { matchTabTitle } from '../app/title.ts';
import * as phrases from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';
import type { Game, MatchEvent, Snapshot, Thinking } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** CSS classes by status. */
const STATUS_CLASSES = [
  ['waiting', 'open'],
  ['running', 'running'],
  ['ended', 'ended'],
] as const;

export class MatchPage {
  element = h('div', { class: 'room' });
  #app;
  /** The match in the path, by code or id. */
  #code;
  #joiner;
  #matchView: MatchView | null = null;
  #pendingMove;
  #premoves;
  /** Ply of the position on the board; `null` for the current one. */
  #shownPly: number | null = null;
  #historyRequest: Promise<void> | null = null;
  /** Whether the player has flipped the board. */
  #isFlipped = false;
  #hasJoined = false;
  /** Ply in the hash of the address, which applies to ended matches. */
  #linkedPly = parsePlyHash(location.hash);
  #hashListener = () => {
    this.#linkedPly = parsePlyHash(location.hash);
    this.#goToLinkedPly();
  };
  #keyListener = (event: KeyboardEvent) => this.#onKeyDown(event);

  constructor(app: App, code: string, { watch = false }: { watch?: boolean }) {
    this.#app = app;
    this.#code = code.toUpperCase();
    this.#premoves = new PremoveState(app);
    this.#pendingMove = new PendingMove(app, {
      focusBoard: () => this.#matchView?.board.focus({ preventScroll: true }),
      onSent: () => this.#onMoveSent(),
    });
    this.#joiner = new MatchJoiner(app, this.#code, watch);
    window.addEventListener('keydown', this.#keyListener);
    window.addEventListener('hashchange', this.#hashListener);
  }

  /** Id of the match, once it is joined. */
  get match() {
    return this.element.dataset.match;
  }

  get #match(): Match | undefined {
    const id = this.#code.toLowerCase();
    const matches = [...this.#app.matches.values()];
    // An ended match may have had the same code.
    return matches.findLast(({ code, match }) => code === this.#code || match === id);
  }

  title() {
    const { why, isTemporary } = this.#joiner.joinError;
    if (why) return `${isTemporary ? translate('room.again') : why} – Plyhouse`;
    const match = this.#match;
    if (!match) return '';
    const game = this.#app.game(match.game)?.title ?? match.game;
    const { state } = this.#app.connection.status;
    return `${matchTabTitle(match, state, this.#phraseContext(match))} – ${game} – Plyhouse`;
  }

  onWelcome() {
    this.#matchView?.analysis.onWelcome();
    void this.#join();
  }

  unmount() {
    this.#joiner.cancel();
    window.removeEventListener('keydown', this.#keyListener);
    window.removeEventListener('hashchange', this.#hashListener);
    this.#matchView?.unmount();
    const match = this.#match;
    // The page stops following a watched match, but not the player's own match.
    if (match && match.you === null && !isLiveFor(match, this.#app.player?.id)) {
      this.#app.store.dispatch({ type: 'match_left', match: match.match });
      if (this.#app.connection.status.state === 'open') {
        void this.#app.request({ type: 'leave', match: match.match });
      }
    }
  }

  async #join() {
    const match = this.#match;
    // The server may have sent the match after the login. Joining replaces a stand-in bot by the
    // player.
    const isOut = match && standInSeat(match, this.#app.player?.id) !== null;
    if (match && !this.#hasJoined && !isOut) this.#onJoined();
    else await this.#joiner.join(this.#hasJoined ? this.match : undefined, () => this.#onJoined());
  }

  #onJoined() {
    const match = this.#match;
    if (!match) return;
    const first = !this.#hasJoined;
    this.#hasJoined = true;
    this.#joiner.onJoined();
    this.element.dataset.match = match.match;
    this.#app.update();
    if (first && match.you !== null && match.status === 'running') this.#focusBoard();
    this.#fetchHistory(match);
    this.#goToLinkedPly();
    this.#pendingMove.resend(match);
    this.#playPremove(match);
  }

  /** Fetches earlier positions, which are not in the snapshot. */
  #fetchHistory(match: Match) {
    const count = match.status === 'open' ? 0 : match.ply + 1;
    const whole = Array.from({ length: count }, (_, ply) => match.positions[ply]);
    if (whole.every((position) => position !== undefined)) return;
    // After an error only fewer positions can be shown.
    this.#historyRequest = fetchEvents(this.#app, match).then(
      () => {},
      () => {},
    );
  }

  isShowing({ match }: Pick<Match, 'match'>) {
    return this.#match?.match === match;
  }

  #onEvent(match: Match, event: MatchEvent) {
    this.#pendingMove.onMatchEvent(match, event);
    if (event.type === 'taken_back' && this.#premoves.premove)
      this.#app.toast(translate('ahead.none'));
    if (event.type === 'ended' || event.type === 'taken_back') this.#premoves.premove = null;
    if (event.type === 'ended') this.#matchView?.result.open();
    if (event.type === 'taken_back') this.#clampShownPly(match);
    // A seated player can play by keyboard at once.
    if (event.type === 'started' && match.you !== null) {
      queueMicrotask(() => this.#focusBoard());
    }
    announceEvent(this.#app, match, event);
    this.#playPremove(match);
  }

  /** Scrolls the board into view and focuses it. */
  #focusBoard() {
    window.scrollTo(0, 0);
    this.#matchView?.board.focus({ preventScroll: true });
  }

  onChange({ action, before, after }: Change) {
    this.#matchView?.analysis.onChange(action);
    const match = this.#match;
    if (action.type === 'match') this.#followRematch(action);
    if (!('match' in action) || action.match === undefined) return;
    if (action.type === 'watch_over' && action.match === this.match) {
      this.#joiner.onWatchEnded(action.match, () => this.#onJoined());
    }
    if (!match || action.match !== match.match) return;
    const old = before.matches.get(match.match);
    if (old && old !== after.matches.get(match.match)) {
      if (isMatchEvent(action)) this.#onEvent(match, action);
      else announceChange(this.#app, old, match);
    }
    if (action.type === 'thinking') this.#onThinking(action);
    if (action.type === 'said') this.#matchView?.onChat(match, action);
  }

  /** Shows the engine output of a bot, and draws its best move. */
  #onThinking(thinking: Thinking) {
    this.#matchView?.engineOutput.onThinking(thinking);
    const isCurrent = this.#shownPly === null && thinking.ply === this.#match?.ply;
    if (isCurrent && thinking.pv[0] !== undefined) {
      this.#matchView?.board.showBestMove(thinking.pv[0]);
    }
  }

  /** Opens a rematch that has a match code of its own. */
  #followRematch(snapshot: Snapshot) {
    const isNext = snapshot.previous !== undefined && snapshot.previous === this.match;
    if (isNext && snapshot.you !== null && !this.#app.isAtMatch(snapshot)) {
      this.#app.goToMatch(snapshot);
    }
  }

  #phraseContext(match: Match) {
    return phraseContextOf(this.#app, match);
  }

  update() {
    const match = this.#match;
    if (!match || (this.#joiner.joinError.why && !this.#joiner.joinError.isTemporary)) {
      this.#matchView?.unmount();
      this.#matchView = null;
      replaceChildren(this.element, this.#empty());
      return;
    }
    const game = this.#app.game(match.game);
    if (!game) return;
    const before = this.match;
    if (this.#hasJoined && before !== undefined && before !== match.match)
      this.#openRematch(before, match);
    this.#matchView ??= this.#createMatchView(game, match);
    this.#clampShownPly(match);
    this.#show(this.#matchView, game, match);
  }

  /** Shows the rematch that has taken over the match code. */
  #openRematch(before: string, match: Match) {
    this.element.dataset.match = match.match;
    this.#app.store.dispatch({ type: 'match_left', match: before });
    this.#app.clearToasts(before);
    this.#matchView?.unmount();
    this.#matchView = null;
    this.#pendingMove.reset();
    this.#premoves.premove = null;
    this.#shownPly = null;
    this.#linkedPly = null;
    setPlyHash(null);
    this.#isFlipped = false;
    const side = sideName(match.seats[match.you ?? 0]?.side ?? '');
    const standing = phrases.statusText(match, this.#phraseContext(match));
    this.#app.announce(joinSentences(translate('room.next', { side }), standing));
    playSound('turn');
    this.#fetchHistory(match);
    queueMicrotask(() => this.#focusBoard());
  }

  #empty() {
    const { why, isTemporary } = this.#joiner.joinError;
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, why || translate('room.opening')),
      isTemporary && h('p', { role: 'status' }, translate('room.soon')),
      h('p', {}, h('a', { class: 'button', href: '/' }, translate('page.lobby'))),
    );
  }

  #createMatchView(game: Game, match: Match) {
    const view = new MatchView(this.#app, game, match, {
      play: (move) => this.#play(move),
      setPremove: (choice) => this.#setPremove({ squares: choice.split(' ') }),
      setPremoveMove: (move) => this.#setPremove({ squares: [], move }),
      cancelPremove: () => this.#premoves.cancel(),
      goToPly: (ply) => this.#goToPly(ply),
      flip: () => {
        this.#isFlipped = !this.#isFlipped;
        this.#app.update();
      },
    });
    replaceChildren(this.element, ...view.elements);
    view.actions.prompts.prepend(this.#pendingMove.element, view.analysis.trainerElement);
    return view;
  }

  #showBoard({ analysis: { trainer }, board }: MatchView, game: Game, match: Match) {
    const now = this.#shownPly === null;
    const shown = this.#shownPly ?? match.ply;
    const pending = now ? this.#pendingMove.moveFor(match) : null;
    const move = pending?.move ?? trainer?.triedMove ?? null;
    const view =
      move === null
        ? boardAfter(game, match, shown)
        : boardWithPendingMove(game, matchAtPly(match, shown), move);
    const isOpen = this.#app.connection.status.state === 'open';
    const mine = now && !pending && isMyTurn(match) && isOpen;
    const awaits = now && canPremove(match) && isOpen;
    const legal = mine ? match.legal : (trainer?.legalMoves ?? []);
    board.show({
      ...view,
      winningLine: now && match.outcome?.line ? match.outcome.line : [],
      legal,
      premoveOptions: awaits ? premoveOptions(match, view.board) : [],
      premoveSquares: (now && this.#premoves.premove?.squares) || [],
      seat: match.you,
      isAnimated: this.#hasJoined,
      isFlipped: this.#isFromSecondSeat(match) !== this.#isFlipped,
    });
    this.element.classList.toggle('my-turn', mine);
    return { view, pending, awaits, legal };
  }

  /** Renders the board at once after a move of the player, and the rest after the next paint. */
  #onMoveSent() {
    const match = this.#match;
    const game = match && this.#app.game(match.game);
    if (this.#matchView && match && game) this.#showBoard(this.#matchView, game, match);
    this.#app.updateSoon();
  }

  #show(matchView: MatchView, game: Game, match: Match) {
    const {
      analysis,
      board,
      moveList,
      playerBars,
      actions,
      moveButtons,
      result,
      spectatorCount,
      chat,
    } = matchView;
    const now = this.#shownPly === null;
    const shown = this.#shownPly ?? match.ply;
    analysis.show(match, shown);
    const { trainer } = analysis;
    const { view, pending, awaits, legal } = this.#showBoard(matchView, game, match);
    const otherMoves = legal.length > 0 ? board.movesWithoutSquare() : [];
    moveButtons.show(match, {
      moves: otherMoves,
      areOnlyMoves: otherMoves.length === legal.length,
      canPremove: awaits,
      isPassPremoved: this.#premoves.premove?.move === 'pass',
    });
    const turn = pending ? null : match.turn;
    const ours = match.you ?? standInSeat(match, this.#app.player?.id) ?? 0;
    playerBars.show(match, turn, view.board, this.#isFlipped ? 1 - ours : ours);
    const count = this.#plyCount(match);
    const sides = game.sides.map(sideName);
    moveList.show(
      match.san ?? match.moves,
      { shown: this.#shownPly, count },
      sides,
      firstToMove(match),
    );
    moveList.setDownloadLink(match.match, game.record);
    const { why, isTemporary } = this.#joiner.joinError;
    matchView.engineOutput.show(match);
    const won = match.outcome?.line;
    result.avoidCovering(() => (won ? board.squareRects(won) : []));
    updateStatusLine(this.#app, matchView, match, {
      ...{ shownPly: this.#shownPly, plyCount: count },
      isPending: this.#pendingMove.isSent && pending !== null,
      premoveText: this.#premoves.statusText(),
      judgement: analysis.briefJudgement,
      trainerStatus: analysis.trainer?.statusText,
      loadError: isTemporary ? why : '',
    });
    this.element.classList.toggle('past', !now && !trainer);
    for (const [name, status] of STATUS_CLASSES) {
      this.element.classList.toggle(name, match.status === status);
    }
    setText(spectatorCount, phrases.spectatorCountText(match));
    actions.show(match, shown, now, this.#isFlipped);
    chat.show(match);
    // Nobody else can open an offline match.
    moveList.setShareable(match.status === 'ended' && !this.#app.connection.isOffline);
    moveList.markJudgements(analysis.judgements);
    if (analysis.betterMove !== null) board.showBestMove(analysis.betterMove);
  }

  /** Whether the player sees the board from the second seat. */
  #isFromSecondSeat(match: Match) {
    const seat = match.you ?? standInSeat(match, this.#app.player?.id);
    return seat === 1 && conventionsOf(match.game).hasOrientation === true;
  }

  #setPremove(choice: { squares: string[]; move?: string }) {
    const match = this.#match;
    const game = match && this.#app.game(match.game);
    if (!game || !canPremove(match) || this.#shownPly !== null) return;
    this.#premoves.set(match, choice, boardAfter(game, match, match.ply).board);
  }

  /** Plays the premove once it is the player's turn. */
  #playPremove(match: Match) {
    const game = this.#app.game(match.game);
    const move = game && this.#premoves.takeMove(match, boardAfter(game, match, match.ply).board);
    if (typeof move !== 'string') return;
    this.#shownPly = null;
    this.#play(move);
  }

  #play(move: string) {
    const match = this.#match;
    const trainer = this.#matchView?.analysis.trainer;
    if (trainer?.legalMoves.includes(move)) trainer.tryMove(move);
    if (
      !match ||
      !isMyTurn(match) ||
      this.#app.connection.status.state !== 'open' ||
      this.#pendingMove.moveFor(match) ||
      this.#shownPly !== null ||
      !match.legal.includes(move)
    )
      return;
    this.#pendingMove.submit(match, move);
  }

  /** Number of plies, including the player's pending move. */
  #plyCount(match: Match) {
    return match.ply + (this.#pendingMove.moveFor(match) ? 1 : 0);
  }

  /** Shows the current position if the shown ply no longer exists. */
  #clampShownPly(match: Match) {
    if (this.#shownPly !== null && this.#shownPly >= this.#plyCount(match)) this.#shownPly = null;
  }

  #goToPly(ply: number) {
    const match = this.#match;
    if (!match) return;
    if (ply < match.ply && match.positions[ply] === undefined && this.#historyRequest) {
      void this.#historyRequest.then(() => this.#goToPly(ply));
      this.#historyRequest = null;
      return;
    }
    this.#shownPly =
      ply >= this.#plyCount(match) || match.positions[ply] === undefined ? null : ply;
    if (match.status === 'ended') setPlyHash(this.#shownPly);
    this.#app.update();
  }

  /** Shows the ply in the address, if the match has ended. */
  #goToLinkedPly() {
    const ply = this.#linkedPly;
    if (ply === null || this.#match?.status !== 'ended') return;
    this.#linkedPly = null;
    this.#goToPly(ply);
  }

  #onKeyDown(event: KeyboardEvent) {
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
    const count = this.#plyCount(match);
    const shown = this.#shownPly ?? count;
    const steps: Record<string, number> = {
      ArrowLeft: shown - 1,
      ArrowRight: shown + 1,
      Home: 0,
      End: count,
    };
    const step = steps[event.key];
    // Keys on a focused button belong to the button.
    const move = at?.closest('button, a') ? null : moveForKeyEvent(match.game, event);
    if (move !== null && !event.repeat) {
      if (canPremove(match)) this.#setPremove({ squares: [], move });
      else this.#play(move);
    } else if (event.key === 'Escape' && this.#pendingMove.isConfirming) this.#pendingMove.cancel();
    else if (event.key === 'Escape' && this.#premoves.premove) this.#premoves.cancel();
    else if (event.key === 'Escape' && this.#matchView?.result.isOpen)
      this.#matchView.result.close();
    else if (!event.repeat && this.#matchView?.actions.offerPrompts.handleKey(event.key))
      this.#app.update();
    else if (step !== undefined && count > 0) this.#goToPly(Math.max(0, step));
    else return;
    event.preventDefault();
  }
}
