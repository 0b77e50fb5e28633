// Page of the position editor. Users set up a position by pieces or by text, and then play from it
// or ask a bot for a move.

import { BOT_PACE_MS, defaultLevel, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { RequestError } from '../net/connection.ts';
import { select } from '../ui/form-controls.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { sortByFamiliarity } from '../model/game-order.ts';
import { EMPTY } from '../model/fen.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { editorUrl, parseEditorHash } from './editor-url.ts';
import { shareLink } from '../match/share.ts';
import { castlingPicker, piecePalette, turnPicker } from './controls.ts';
import { EditorPosition } from './editor-position.ts';
import { EditorBoard, describeSquare } from './editor-board.ts';
import { notationOf } from './notation/notations.ts';
import { BotSuggestion } from './ask-bot.ts';
import { readPosition } from './notation/read-position.ts';
import { serverErrorText } from './server-errors.ts';
import { PositionError } from './position-error.ts';

import type { Game, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';

const TEXT_LENGTH_MAX = 20_000;

/** Toasts of this page have it in place of the match id. */
const TOAST_SCOPE = 'setup';

export class EditorPage {
  match = TOAST_SCOPE;
  element = h('div', { class: 'setup' }, h('p', { role: 'status' }, translate('page.loading')));
  #app;
  #game: Game | null = null;
  #position: EditorPosition | null = null;
  #selectedPiece = '';
  #board: EditorBoard | null = null;
  #botSuggestion;
  #level = '';
  /** Seat that the user has chosen; `null` for the side to move. */
  #seat: number | null = null;
  #sideSelect = h('select', { onchange: () => (this.#seat = Number(this.#sideSelect.value)) });
  #textError: PositionError | null = null;
  #isCreatingMatch = false;
  #textField = h('textarea', {
    id: 'position',
    rows: 2,
    spellcheck: 'false',
    autocomplete: 'off',
    maxlength: TEXT_LENGTH_MAX,
    'aria-describedby': ['about-position', 'wrong-position'].join(' '),
    oninput: () => this.#readText(this.#textField.value),
  });
  #help = h('p', { id: 'about-position', class: 'note' });
  /** Error in the text, or number of its moves that are not played. */
  #textMessage = h('p', { id: 'wrong-position', class: 'wrong', role: 'alert' });
  /** Side to move, or the reason why play cannot begin. */
  #status = h('p', { class: 'stands', role: 'status' });
  #tools = h('div', { class: 'tools' });
  #isMounted = true;
  #onHashChange = () => this.#openHash(location.hash);

  constructor(app: App) {
    this.#app = app;
    this.#botSuggestion = new BotSuggestion(app, (move) => this.#board?.showBestMove(move));
    window.addEventListener('hashchange', this.#onHashChange);
  }

  title() {
    return `${translate('setup.title')} – Plyhouse`;
  }

  onWelcome() {
    this.#botSuggestion.reset();
  }

  update() {
    if (this.#game === null && this.#app.games.length > 0) this.#openHash(location.hash);
  }

  unmount() {
    this.#isMounted = false;
    this.#botSuggestion.reset();
    window.removeEventListener('hashchange', this.#onHashChange);
  }

  onChange({ action }: Change) {
    this.#botSuggestion.onChange(action);
  }

  #openHash(hash: string) {
    const { game: name = loadLobbyPrefs().game, position: text } = parseEditorHash(hash);
    const game = this.#app.game(name ?? '') ?? sortByFamiliarity(this.#app.games)[0];
    if (!game) return;
    this.#startGame(game, EditorPosition.initial(game));
    if (text === undefined) return;
    this.#textField.value = text;
    // If the text is valid, the field then shows the standard notation.
    this.#readText(text, false);
  }

  #startGame(game: Game, position: EditorPosition) {
    this.#game = game;
    this.#position = position;
    this.#selectedPiece = notationOf(game.game).pieces(game)[0] ?? EMPTY;
    this.#level ||= loadLobbyPrefs().level ?? defaultLevel(this.#app.levels) ?? '';
    this.#seat = null;
    this.#board = new EditorBoard(game, position.board, {
      choose: (square) => this.#choose(square, this.#selectedPiece),
      clear: (square) => this.#choose(square, EMPTY),
      move: (from, to) => {
        this.#setPosition(this.#currentPosition.move(from, to));
        this.#announceSquare(to);
      },
      handleKey: (key, square) => {
        const isPiece = notationOf(game.game).pieces(game).includes(key);
        if (isPiece) this.#choose(square, key);
        return isPiece;
      },
    });
    setText(this.#help, translate(notationOf(game.game).helpKey));
    this.#renderPage(game, this.#board);
    this.#setPosition(position);
  }

  get #currentPosition() {
    return this.#position as EditorPosition;
  }

  /** Places a piece, or removes it if the square already has it. */
  #choose(square: string, piece: string) {
    const position = this.#currentPosition;
    const changed = position.put(square, piece);
    const isThere = position.at(square) !== EMPTY && position.at(square) === changed.at(square);
    const next = isThere ? position.put(square, EMPTY) : changed;
    if (next === position) return;
    this.#setPosition(next);
    this.#announceSquare(square);
  }

  #announceSquare(square: string) {
    this.#app.announce(describeSquare(this.#currentPosition.board, square));
  }

  /** @param isTyped whether the field already has the text of the position */
  #setPosition(position: EditorPosition, isTyped = false) {
    this.#position = position;
    this.#botSuggestion.reset();
    this.#app.clearToasts(TOAST_SCOPE);
    if (!isTyped) this.#textField.value = position.standardText;
    this.#textError = null;
    setText(this.#textMessage, '');
    this.#textField.removeAttribute('aria-invalid');
    this.#render();
    history.replaceState(history.state, '', editorUrl(this.#game?.game ?? '', position.text));
  }

  #render() {
    const position = this.#currentPosition;
    this.#board?.show(position.board);
    const side = sideName(this.#game?.sides[position.turn] ?? '');
    setText(this.#status, position.error?.text ?? translate('setup.moves', { side }));
    this.#status.classList.toggle('wrong', position.error !== null);
    this.#sideSelect.value = String(this.#seat ?? position.turn);
    this.#renderTools();
  }

  /** @param isTyped whether the field keeps the text */
  #readText(text: string, isTyped = true) {
    const game = this.#game as Game;
    try {
      const { position, unplayedMoves } = readPosition(text, game);
      this.#setPosition(position, isTyped);
      if (unplayedMoves > 0)
        setText(this.#textMessage, translate('setup.unplayed', { count: unplayedMoves }));
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      this.#textError = error;
      this.#app.clearToasts(TOAST_SCOPE);
      setText(this.#textMessage, error.text);
      this.#textField.setAttribute('aria-invalid', 'true');
    }
  }

  #renderPage(game: Game, board: EditorBoard) {
    const games = select(
      translate('lobby.game'),
      sortByFamiliarity(this.#app.games).map(({ game, title }) => ({ value: game, title })),
      game.game,
      (name) => {
        const next = this.#app.game(name);
        if (next) this.#startGame(next, EditorPosition.initial(next));
        this.element.querySelector('select')?.focus();
      },
    );
    replaceChildren(
      this.element,
      h('div', { class: 'top' }, h('h1', {}, translate('setup.title')), games),
      h('div', { class: 'place' }, board.element, this.#status),
      this.#botSuggestion.element,
      h(
        'div',
        { class: 'beside' },
        this.#tools,
        h(
          'div',
          { class: 'text' },
          h('label', { for: 'position' }, translate('setup.text')),
          this.#textField,
          this.#help,
          this.#textMessage,
        ),
        this.#playControls(game),
      ),
    );
  }

  #renderTools() {
    const game = this.#game as Game;
    const position = this.#currentPosition;
    const restoreFocus = focusRestorer(this.#tools);
    const setPosition = (next: EditorPosition) => this.#setPosition(next);
    replaceChildren(
      this.#tools,
      piecePalette(game, position, this.#selectedPiece, (piece) => (this.#selectedPiece = piece)),
      h('p', { class: 'note' }, translate(isTouchDevice() ? 'setup.how.touch' : 'setup.how')),
      h(
        'div',
        { class: 'row whole' },
        toolButton('first', translate('setup.first'), () =>
          setPosition(EditorPosition.initial(game)),
        ),
        toolButton('empty', translate('setup.empty'), () =>
          setPosition(EditorPosition.empty(game)),
        ),
        position.transformations.includes('mirror') &&
          toolButton('mirror', translate('setup.mirror'), () =>
            setPosition(position.transform('mirror')),
          ),
        position.transformations.includes('upside') &&
          toolButton('upside', translate('setup.upside'), () =>
            setPosition(position.transform('upside')),
          ),
        position.transformations.includes('swap') &&
          toolButton('swap', translate('setup.swap'), () =>
            setPosition(position.transform('swap')),
          ),
        conventionsOf(game.game).hasOrientation &&
          toolButton('turn', translate('bar.turn'), () => this.#board?.flip()),
      ),
      turnPicker(game, position, setPosition),
      game.game === 'chess' && castlingPicker(position, setPosition),
    );
    restoreFocus?.();
  }

  #playControls(game: Game) {
    const level = select(
      translate('lobby.level'),
      this.#app.levels.map(({ level, title }) => ({ value: level, title })),
      this.#level,
      (level) => (this.#level = level),
    );
    replaceChildren(
      this.#sideSelect,
      ...game.sides.map((side, seat) => h('option', { value: String(seat) }, sideName(side))),
    );
    const side = h(
      'label',
      { class: 'field' },
      h('span', {}, translate('lobby.side')),
      this.#sideSelect,
    );
    return h(
      'div',
      { class: 'playing' },
      h('div', { class: 'row fields' }, level, side),
      h(
        'div',
        { class: 'row' },
        h(
          'button',
          {
            type: 'button',
            class: 'primary',
            onclick: () => void this.#play(game, { bot: this.#level }),
          },
          translate('setup.play'),
        ),
        h(
          'button',
          { type: 'button', onclick: () => void this.#play(game, 'open') },
          translate('lobby.invite'),
        ),
        h(
          'button',
          { type: 'button', onclick: () => void this.#askBot(game) },
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

  async #play({ game }: Game, opponent: SeatRequest) {
    if (this.#rejectInvalid() || this.#isCreatingMatch) return;
    const position = this.#currentPosition;
    const { text, turn } = position;
    const seats: [SeatRequest, SeatRequest] =
      (this.#seat ?? turn) === 0 ? ['me', opponent] : [opponent, 'me'];
    const isBot = typeof opponent === 'object';
    const { thinking } = loadLobbyPrefs();
    const botOptions = isBot ? { pace_ms: BOT_PACE_MS, ...(thinking ? { thinking } : {}) } : {};
    this.#isCreatingMatch = true;
    try {
      const match = await this.#app.connection.request({
        ...{ type: 'create', game, seats, position: text, listed: false },
        ...botOptions,
      });
      if (this.#isMounted) this.#app.goToMatch(match);
    } catch (error) {
      this.#showError(error, position);
    }
    this.#isCreatingMatch = false;
  }

  async #askBot({ game }: Game) {
    if (this.#rejectInvalid()) return;
    const position = this.#currentPosition;
    try {
      await this.#botSuggestion.ask(game, position);
      for (const element of [this.#botSuggestion.element, this.#board?.element])
        element?.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      this.#showError(error, position);
    }
  }

  /** Shows a toast and returns `true` if play cannot begin from the position. */
  #rejectInvalid() {
    const reason = this.#textError?.text ?? this.#currentPosition.error?.text ?? '';
    if (reason) this.#app.toast(reason);
    return reason !== '';
  }

  /** @param position the position in the request */
  #showError(error: unknown, position: EditorPosition) {
    if (!(error instanceof RequestError)) throw error;
    if (error.field !== 'position') {
      this.#app.toastError(error);
      return;
    }
    // The user has changed the position since the request.
    if (!this.#isMounted || position !== this.#currentPosition) return;
    const reason = serverErrorText(error);
    this.#app.toast(reason);
    setText(this.#status, reason);
    this.#status.classList.add('wrong');
  }

  async #share() {
    this.#app.toast(await shareLink(location.href));
  }
}

const isTouchDevice = () => matchMedia('(hover: none)').matches;

const toolButton = (name: string, text: string, onclick: () => void) =>
  h('button', { type: 'button', 'data-does': name, onclick }, text);

/** Returns a function that restores the focus after the container has been redrawn. */
function focusRestorer(container: HTMLElement) {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || !container.contains(focused)) return null;
  const selector = focused.dataset.does
    ? `[data-does=${focused.dataset.does}]`
    : `input[name="${focused.getAttribute('name')}"][value="${focused.getAttribute('value') ?? 'on'}"]`;
  return () => container.querySelector<HTMLElement>(selector)?.focus();
}
