// Where any position of any game is set up: piece by piece, or by its text. Then one plays from there, or asks a
// bot what it thinks of it.

import { BOT_PACE_MS, firstLevel, recallChoice } from '../lobby/lobby-prefs.ts';
import { Refusal } from '../net/connection.ts';
import { select } from '../ui/controls.ts';
import { fill, h, write } from '../ui/dom.ts';
import { familiar } from '../model/game-order.ts';
import { EMPTY } from '../model/fen.ts';
import { customsOf } from '../model/games.ts';
import { say } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { addressOf, wishedIn } from '../actions/editor-link.ts';
import { shareLink } from '../match/share.ts';
import { castling, palette, turnPicker } from './controls.ts';
import { Draft } from './draft.ts';
import { EditBoard, squareWords } from './editor-board.ts';
import { notationOf } from './notation/notations.ts';
import { Opinion } from './ask-bot.ts';
import { readPosition } from './notation/read-position.ts';
import { refusedWords } from './server-errors.ts';
import { Wrong } from './position-error.ts';

import type { Game, Message, SeatWish } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** No text of a position is longer, with whatever is told beside. */
const TEXT_MAX = 20_000;

/** What is said here is of the position that is set up, as elsewhere it is of a match. */
const ABOUT = 'setup';

export class SetUp {
  match = ABOUT;
  element = h('div', { class: 'setup' }, h('p', { role: 'status' }, say('page.loading')));
  #app;
  #game: Game | null = null;
  #draft: Draft | null = null;
  /** What is put on the squares that one chooses. */
  #piece = '';
  #board: EditBoard | null = null;
  #opinion;
  #level = '';
  /** The side that one has chosen; `null` for the one whose turn it is. */
  #seat: number | null = null;
  #side = h('select', { onchange: () => (this.#seat = Number(this.#side.value)) });
  /** What is wrong with the text that stands there. */
  #misread: Wrong | null = null;
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
    this.#opinion = new Opinion(app, (move) => this.#board?.advise(move));
    window.addEventListener('hashchange', this.#onHash);
  }

  title() {
    return `${say('setup.title')} – Plyhouse`;
  }

  welcomed() {
    this.#opinion.forget();
  }

  update() {
    if (this.#game === null && this.#app.games.length > 0) this.#open(location.hash);
  }

  leave() {
    this.#isHere = false;
    this.#opinion.forget();
    window.removeEventListener('hashchange', this.#onHash);
  }

  hear(message: Message) {
    this.#opinion.hear(message);
  }

  /** Begins with what the address tells. */
  #open(hash: string) {
    const { game: name = recallChoice().game, position } = wishedIn(hash);
    const game = this.#app.game(name ?? '') ?? familiar(this.#app.games)[0];
    if (!game) return;
    this.#begin(game, Draft.first(game));
    if (position === undefined) return;
    this.#text.value = position;
    // A text that is read is replaced by the notation that users know.
    this.#read(position, false);
  }

  #begin(game: Game, draft: Draft) {
    this.#game = game;
    this.#draft = draft;
    this.#piece = notationOf(game.game).pieces(game)[0] ?? EMPTY;
    this.#level ||= recallChoice().level ?? firstLevel(this.#app.levels) ?? '';
    this.#seat = null;
    this.#board = new EditBoard(game, draft.board, {
      choose: (square) => this.#choose(square, this.#piece),
      clear: (square) => this.#choose(square, EMPTY),
      move: (from, to) => {
        this.#become(this.#now.move(from, to));
        this.#say(to);
      },
      key: (key, square) => {
        const isPiece = notationOf(game.game).pieces(game).includes(key);
        if (isPiece) this.#choose(square, key);
        return isPiece;
      },
    });
    write(this.#about, say(notationOf(game.game).about));
    this.#furnish(game, this.#board);
    this.#become(draft);
  }

  get #now() {
    return this.#draft as Draft;
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
    this.#app.announce(squareWords(this.#now.board, square));
  }

  /**
   * The position is this one now.
   * @param isTyped whether its text is there already
   */
  #become(draft: Draft, isTyped: boolean = false) {
    this.#draft = draft;
    this.#opinion.forget();
    this.#app.outlived(ABOUT);
    if (!isTyped) this.#text.value = draft.shown;
    this.#misread = null;
    write(this.#bad, '');
    this.#text.removeAttribute('aria-invalid');
    this.#show();
    history.replaceState(history.state, '', addressOf(this.#game?.game ?? '', draft.text));
  }

  #show() {
    const draft = this.#now;
    this.#board?.show(draft.board);
    const side = sideName(this.#game?.sides[draft.turn] ?? '');
    write(this.#standing, draft.wrong?.says ?? say('setup.moves', { side }));
    this.#standing.classList.toggle('wrong', draft.wrong !== null);
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
      const { draft, unplayed } = readPosition(text, game);
      this.#become(draft, isTyped);
      if (unplayed > 0) write(this.#bad, say('setup.unplayed', { count: unplayed }));
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.#misread = error;
      this.#app.outlived(ABOUT);
      write(this.#bad, error.says);
      this.#text.setAttribute('aria-invalid', 'true');
    }
  }

  #furnish(game: Game, board: EditBoard) {
    const games = select(
      say('lobby.game'),
      familiar(this.#app.games).map(({ game, title }) => ({ value: game, title })),
      game.game,
      (name) => {
        const other = this.#app.game(name);
        if (other) this.#begin(other, Draft.first(other));
        this.element.querySelector('select')?.focus();
      },
    );
    fill(
      this.element,
      h('div', { class: 'top' }, h('h1', {}, say('setup.title')), games),
      h('div', { class: 'place' }, board.element, this.#standing),
      this.#opinion.element,
      h(
        'div',
        { class: 'beside' },
        this.#tools,
        h(
          'div',
          { class: 'text' },
          h('label', { for: 'position' }, say('setup.text')),
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
    const become = (next: Draft) => this.#become(next);
    fill(
      this.#tools,
      palette(game, draft, this.#piece, (piece) => (this.#piece = piece)),
      h('p', { class: 'note' }, say(isTouched() ? 'setup.how.touch' : 'setup.how')),
      h(
        'div',
        { class: 'row whole' },
        action('first', say('setup.first'), () => become(Draft.first(game))),
        action('empty', say('setup.empty'), () => become(Draft.empty(game))),
        draft.ways.includes('mirror') &&
          action('mirror', say('setup.mirror'), () => become(draft.turned('mirror'))),
        draft.ways.includes('upside') &&
          action('upside', say('setup.upside'), () => become(draft.turned('upside'))),
        draft.ways.includes('swap') &&
          action('swap', say('setup.swap'), () => become(draft.turned('swap'))),
        customsOf(game.game).faces && action('turn', say('bar.turn'), () => this.#board?.turn()),
      ),
      turnPicker(game, draft, become),
      game.game === 'chess' && castling(draft, become),
    );
    at?.();
  }

  #playing(game: Game) {
    const level = select(
      say('lobby.level'),
      this.#app.levels.map(({ level, title }) => ({ value: level, title })),
      this.#level,
      (level) => (this.#level = level),
    );
    fill(
      this.#side,
      ...game.sides.map((side, seat) => h('option', { value: String(seat) }, sideName(side))),
    );
    const side = h('label', { class: 'field' }, h('span', {}, say('lobby.side')), this.#side);
    const play = (other: SeatWish) => () => void this.#play(game, other);
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
          say('setup.play'),
        ),
        h('button', { type: 'button', onclick: play('open') }, say('lobby.invite')),
        h('button', { type: 'button', onclick: () => void this.#ask(game) }, say('setup.ask')),
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => void this.#share() },
          say('result.share'),
        ),
      ),
    );
  }

  async #play({ game }: Game, other: SeatWish) {
    if (this.#isWrong() || this.#isEntering) return;
    const draft = this.#now;
    const { text, turn } = draft;
    const seats: [SeatWish, SeatWish] = (this.#seat ?? turn) === 0 ? ['me', other] : [other, 'me'];
    const isBot = typeof other === 'object';
    const { thinking } = recallChoice();
    const wanted = { type: 'create' as const, game, seats, position: text, listed: false };
    const against = isBot ? { pace_ms: BOT_PACE_MS, ...(thinking ? { thinking } : {}) } : {};
    this.#isEntering = true;
    try {
      const match = await this.#app.connection.ask({ ...wanted, ...against });
      if (this.#isHere) this.#app.goTo(match);
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
    const why = this.#misread?.says ?? this.#now.wrong?.says ?? '';
    if (why) this.#app.toast(why);
    return why !== '';
  }

  /** @param draft what was asked for */
  #refused(error: unknown, draft: Draft) {
    if (!(error instanceof Refusal)) throw error;
    if (error.field !== 'position') {
      this.#app.tell(error);
      return;
    }
    // Somebody has gone on setting up.
    if (!this.#isHere || draft !== this.#now) return;
    const why = refusedWords(error);
    this.#app.toast(why);
    write(this.#standing, why);
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
