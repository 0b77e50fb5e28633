// Where any position of any game is set up: piece by piece, or by its text. Then one plays from there, or asks a
// bot what it thinks of it.

import { BOT_PACE_MS, defaultLevel, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { RequestError } from '../net/connection.ts';
import { select } from '../ui/form-controls.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { sortByFamiliarity } from '../model/game-order.ts';
import { EMPTY } from '../model/fen.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { editorUrl, parseEditorHash } from '../actions/editor-link.ts';
import { shareLink } from '../match/share.ts';
import { castlingPicker, piecePalette, turnPicker } from './controls.ts';
import { EditorPosition } from './editor-position.ts';
import { EditorBoard, describeSquare } from './editor-board.ts';
import { notationOf } from './notation/notations.ts';
import { BotSuggestion } from './ask-bot.ts';
import { readPosition } from './notation/read-position.ts';
import { serverErrorText } from './server-errors.ts';
import { PositionError } from './position-error.ts';

import type { Game, Message, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** No text of a position is longer, with whatever is told beside. */
const TEXT_MAX = 20_000;

/** What is said here is of the position that is set up, as elsewhere it is of a match. */
const ABOUT = 'setup';

export class EditorPage {
  match = ABOUT;
  element = h('div', { class: 'setup' }, h('p', { role: 'status' }, translate('page.loading')));
  #app;
  #game: Game | null = null;
  #draft: EditorPosition | null = null;
  /** What is put on the squares that one chooses. */
  #piece = '';
  #board: EditorBoard | null = null;
  #opinion;
  #level = '';
  /** The side that one has chosen; `null` for the one whose turn it is. */
  #seat: number | null = null;
  #side = h('select', { onchange: () => (this.#seat = Number(this.#side.value)) });
  /** What is wrong with the text that stands there. */
  #misread: PositionError | null = null;
  #isEntering = false;
  #text = h('textarea', {
    ...{ id: 'position', rows: 2, spellcheck: 'false', autocomplete: 'off', maxlength: TEXT_MAX },
    ...{ 'aria-describedby': ['about-position', 'wrong-position'].join(' ') },
    oninput: () => this.#read(this.#text.value),
  });
  #about = h('p', { id: 'about-position', class: 'note' });
  /** What is wrong with the text, or left out of it. */
  #bad = h('p', { id: 'wrong-position', class: 'wrong', role: 'alert' });
  /** How the position stands, and what is wrong with it. */
  #standing = h('p', { class: 'stands', role: 'status' });
  #tools = h('div', { class: 'tools' });
  #isHere = true;
  #onHash = () => this.#open(location.hash);

  constructor(app: App) {
    this.#app = app;
    this.#opinion = new BotSuggestion(app, (move) => this.#board?.showBestMove(move));
    window.addEventListener('hashchange', this.#onHash);
  }

  title() {
    return `${translate('setup.title')} – Plyhouse`;
  }

  onWelcome() {
    this.#opinion.reset();
  }

  update() {
    if (this.#game === null && this.#app.games.length > 0) this.#open(location.hash);
  }

  unmount() {
    this.#isHere = false;
    this.#opinion.reset();
    window.removeEventListener('hashchange', this.#onHash);
  }

  onMessage(message: Message) {
    this.#opinion.onMessage(message);
  }

  /** Begins with what the address tells. */
  #open(hash: string) {
    const { game: name = loadLobbyPrefs().game, position } = parseEditorHash(hash);
    const game = this.#app.game(name ?? '') ?? sortByFamiliarity(this.#app.games)[0];
    if (!game) return;
    this.#begin(game, EditorPosition.initial(game));
    if (position === undefined) return;
    this.#text.value = position;
    // A text that is read is replaced by the notation that users know.
    this.#read(position, false);
  }

  #begin(game: Game, draft: EditorPosition) {
    this.#game = game;
    this.#draft = draft;
    this.#piece = notationOf(game.game).pieces(game)[0] ?? EMPTY;
    this.#level ||= loadLobbyPrefs().level ?? defaultLevel(this.#app.levels) ?? '';
    this.#seat = null;
    this.#board = new EditorBoard(game, draft.board, {
      choose: (square) => this.#choose(square, this.#piece),
      clear: (square) => this.#choose(square, EMPTY),
      move: (from, to) => {
        this.#become(this.#now.move(from, to));
        this.#say(to);
      },
      handleKey: (key, square) => {
        const isPiece = notationOf(game.game).pieces(game).includes(key);
        if (isPiece) this.#choose(square, key);
        return isPiece;
      },
    });
    setText(this.#about, translate(notationOf(game.game).helpKey));
    this.#furnish(game, this.#board);
    this.#become(draft);
  }

  get #now() {
    return this.#draft as EditorPosition;
  }

  /** Puts a piece there; the same piece once more takes it away. */
  #choose(square: string, piece: string) {
    const draft = this.#now;
    const put = draft.put(square, piece);
    const isThere = draft.at(square) !== EMPTY && draft.at(square) === put.at(square);
    const next = isThere ? draft.put(square, EMPTY) : put;
    if (next === draft) return;
    this.#become(next);
    this.#say(square);
  }

  /** Tells those who do not see it what has come of a square. */
  #say(square: string) {
    this.#app.announce(describeSquare(this.#now.board, square));
  }

  /**
   * The position is this one now.
   * @param isTyped whether its text is there already
   */
  #become(draft: EditorPosition, isTyped: boolean = false) {
    this.#draft = draft;
    this.#opinion.reset();
    this.#app.clearToasts(ABOUT);
    if (!isTyped) this.#text.value = draft.standardText;
    this.#misread = null;
    setText(this.#bad, '');
    this.#text.removeAttribute('aria-invalid');
    this.#show();
    history.replaceState(history.state, '', editorUrl(this.#game?.game ?? '', draft.text));
  }

  #show() {
    const draft = this.#now;
    this.#board?.show(draft.board);
    const side = sideName(this.#game?.sides[draft.turn] ?? '');
    setText(this.#standing, draft.error?.text ?? translate('setup.moves', { side }));
    this.#standing.classList.toggle('wrong', draft.error !== null);
    this.#side.value = String(this.#seat ?? draft.turn);
    this.#showTools();
  }

  /**
   * Reads the text of a position.
   * @param isTyped whether the text stays as it is
   */
  #read(text: string, isTyped: boolean = true) {
    const game = this.#game as Game;
    try {
      const { position: draft, unplayedMoves: unplayed } = readPosition(text, game);
      this.#become(draft, isTyped);
      if (unplayed > 0) setText(this.#bad, translate('setup.unplayed', { count: unplayed }));
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      this.#misread = error;
      this.#app.clearToasts(ABOUT);
      setText(this.#bad, error.text);
      this.#text.setAttribute('aria-invalid', 'true');
    }
  }

  #furnish(game: Game, board: EditorBoard) {
    const games = select(
      translate('lobby.game'),
      sortByFamiliarity(this.#app.games).map(({ game, title }) => ({ value: game, title })),
      game.game,
      (name) => {
        const other = this.#app.game(name);
        if (other) this.#begin(other, EditorPosition.initial(other));
        this.element.querySelector('select')?.focus();
      },
    );
    replaceChildren(
      this.element,
      h('div', { class: 'top' }, h('h1', {}, translate('setup.title')), games),
      h('div', { class: 'place' }, board.element, this.#standing),
      this.#opinion.element,
      h(
        'div',
        { class: 'beside' },
        this.#tools,
        h(
          'div',
          { class: 'text' },
          h('label', { for: 'position' }, translate('setup.text')),
          this.#text,
          this.#about,
          this.#bad,
        ),
        this.#playing(game),
      ),
    );
  }

  /** What depends on the position, drawn anew with it. */
  #showTools() {
    const game = this.#game as Game;
    const draft = this.#now;
    const at = focusIn(this.#tools);
    const become = (next: EditorPosition) => this.#become(next);
    replaceChildren(
      this.#tools,
      piecePalette(game, draft, this.#piece, (piece) => (this.#piece = piece)),
      h('p', { class: 'note' }, translate(isTouched() ? 'setup.how.touch' : 'setup.how')),
      h(
        'div',
        { class: 'row whole' },
        action('first', translate('setup.first'), () => become(EditorPosition.initial(game))),
        action('empty', translate('setup.empty'), () => become(EditorPosition.empty(game))),
        draft.transformations.includes('mirror') &&
          action('mirror', translate('setup.mirror'), () => become(draft.transform('mirror'))),
        draft.transformations.includes('upside') &&
          action('upside', translate('setup.upside'), () => become(draft.transform('upside'))),
        draft.transformations.includes('swap') &&
          action('swap', translate('setup.swap'), () => become(draft.transform('swap'))),
        conventionsOf(game.game).hasOrientation &&
          action('turn', translate('bar.turn'), () => this.#board?.flip()),
      ),
      turnPicker(game, draft, become),
      game.game === 'chess' && castlingPicker(draft, become),
    );
    at?.();
  }

  #playing(game: Game) {
    const level = select(
      translate('lobby.level'),
      this.#app.levels.map(({ level, title }) => ({ value: level, title })),
      this.#level,
      (level) => (this.#level = level),
    );
    replaceChildren(
      this.#side,
      ...game.sides.map((side, seat) => h('option', { value: String(seat) }, sideName(side))),
    );
    const side = h('label', { class: 'field' }, h('span', {}, translate('lobby.side')), this.#side);
    const play = (other: SeatRequest) => () => void this.#play(game, other);
    return h(
      'div',
      { class: 'playing' },
      h('div', { class: 'row fields' }, level, side),
      h(
        'div',
        { class: 'row' },
        h(
          'button',
          { type: 'button', class: 'primary', onclick: () => play({ bot: this.#level })() },
          translate('setup.play'),
        ),
        h('button', { type: 'button', onclick: play('open') }, translate('lobby.invite')),
        h(
          'button',
          { type: 'button', onclick: () => void this.#ask(game) },
          translate('setup.ask'),
        ),
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => void this.#share() },
          translate('result.share'),
        ),
      ),
    );
  }

  async #play({ game }: Game, other: SeatRequest) {
    if (this.#isWrong() || this.#isEntering) return;
    const draft = this.#now;
    const { text, turn } = draft;
    const seats: [SeatRequest, SeatRequest] =
      (this.#seat ?? turn) === 0 ? ['me', other] : [other, 'me'];
    const isBot = typeof other === 'object';
    const { thinking } = loadLobbyPrefs();
    const wanted = { type: 'create' as const, game, seats, position: text, listed: false };
    const against = isBot ? { pace_ms: BOT_PACE_MS, ...(thinking ? { thinking } : {}) } : {};
    this.#isEntering = true;
    try {
      const match = await this.#app.connection.request({ ...wanted, ...against });
      if (this.#isHere) this.#app.goToMatch(match);
    } catch (error) {
      this.#refused(error, draft);
    }
    this.#isEntering = false;
  }

  async #ask({ game }: Game) {
    if (this.#isWrong()) return;
    const draft = this.#now;
    try {
      await this.#opinion.ask(game, draft);
      // Board and opinion are seen together.
      for (const part of [this.#opinion.element, this.#board?.element])
        part?.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      this.#refused(error, draft);
    }
  }

  /** Whether play cannot begin so, which is then told. */
  #isWrong() {
    const why = this.#misread?.text ?? this.#now.error?.text ?? '';
    if (why) this.#app.toast(why);
    return why !== '';
  }

  /** @param draft what was asked for */
  #refused(error: unknown, draft: EditorPosition) {
    if (!(error instanceof RequestError)) throw error;
    if (error.field !== 'position') {
      this.#app.toastError(error);
      return;
    }
    // Somebody has gone on setting up.
    if (!this.#isHere || draft !== this.#now) return;
    const why = serverErrorText(error);
    this.#app.toast(why);
    setText(this.#standing, why);
    this.#standing.classList.add('wrong');
  }

  async #share() {
    this.#app.toast(await shareLink(location.href));
  }
}

const isTouched = () => matchMedia('(hover: none)').matches;

const action = (name: string, says: string, onclick: () => void) =>
  h('button', { type: 'button', 'data-does': name, onclick }, says);

/** What had the focus gets it back when it has been drawn anew. */
function focusIn(place: HTMLElement) {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement) || !place.contains(at)) return null;
  const name = at.dataset.does
    ? `[data-does=${at.dataset.does}]`
    : `input[name="${at.getAttribute('name')}"][value="${at.getAttribute('value') ?? 'on'}"]`;
  return () => (place.querySelector(name) as HTMLElement | null)?.focus();
}
