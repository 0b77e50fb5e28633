// What stands in a room while the match goes on.

import { Actions } from '../actions/actions.ts';
import { Analysis } from '../analysis/analysis.ts';
import { BoardView } from '../board/board.ts';
import { h } from '../ui/dom.ts';
import { customsOf } from '../model/games.ts';
import { lookOf } from '../board/background.ts';
import { say } from '../text/language.ts';
import { Moves } from './move-list.ts';
import { ratedWord } from '../text/labels.ts';
import { OtherMoves } from '../board/other-moves.ts';
import { Players } from './players.ts';
import { Result } from './result.ts';
import { hasRules, rulesButton } from '../actions/rules-button.ts';
import { wordsOf } from '../social/chat-state.ts';
import { shareLink } from './share.ts';
import { Talk } from '../social/chat.ts';
import { Thinking } from '../analysis/engine-output.ts';
import { clockWords } from '../text/time.ts';

import type { Game, Said } from '../net/protocol.ts';
import type { Does } from '../board/board.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The parts of a room that stay while the match goes on. */
export class Furniture {
  standing = h('p', { class: 'standing' });
  why = h('p', { class: 'why' });
  watching = h('span', { class: 'watching' });
  board;
  players;
  moves;
  talk;
  actions;
  others;
  result;
  analysis;
  thinking;
  parts;
  #app;

  constructor(
    app: App,
    game: Game,
    match: Match,
    {
      play,
      queue,
      queueMove,
      unqueue,
      look,
      turn,
    }: Omit<Does, 'say'> & {
      look: (ply: number) => void;
      turn: () => void;
      queueMove: (move: string) => void;
    },
  ) {
    this.#app = app;
    const announce = (text: string) => app.announce(text);
    this.board = new BoardView(game, { play, queue, unqueue, say: announce });
    this.players = new Players(app, game);
    this.talk = new Talk(app);
    // By its id: whatever its code comes to mean.
    const link = `${location.origin}/m/${match.match}`;
    const share = async (ply: number | null) =>
      app.toast(await shareLink(ply === null ? link : `${link}#${ply}`));
    const toBoard = () => {
      window.scrollTo(0, 0);
      this.board.focus({ preventScroll: true });
    };
    this.analysis = new Analysis(app, { look, toBoard, playOn: () => this.actions.playOn() });
    const { figurines } = customsOf(game.game);
    this.moves = new Moves({ look, share }, figurines, this.talk.button);
    this.moves.element.append(this.talk.place);
    this.thinking = new Thinking(app);
    this.moves.element.firstElementChild?.after(this.thinking.place, this.analysis.place);
    this.others = new OtherMoves(app, { play, queue: queueMove, unqueue });
    const others = this.others.element;
    const advise = (move: string) => this.board.advise(move);
    const { button: analyse } = this.analysis;
    const backToNow = () => look(Infinity);
    this.actions = new Actions(app, { backToNow, turn, advise, others, analyse });
    this.result = new Result(app, {
      again: () => this.actions.again(),
      lookBack: () => look(0),
      analyse: () => void this.analysis.ask(),
      share: () => shareLink(link),
      toBoard,
    });
    const table = h(
      'div',
      { class: `table ${lookOf(game)}` },
      this.players.element,
      h('div', { class: 'stage' }, this.board.element, this.result.element),
    );
    table.style.setProperty('--files', String(game.files));
    table.style.setProperty('--ranks', String(game.ranks));
    const counts = ratedWord(app, match.rated);
    this.parts = [
      h(
        'div',
        { class: 'heading' },
        h(
          'h1',
          {},
          game.title,
          match.clock && h('span', {}, clockWords(match.clock)),
          counts && h('span', {}, counts),
          // Without the server nobody comes by it.
          !app.connection.isAlone && h('span', { class: 'code' }, match.code),
          this.watching,
        ),
        hasRules(game.game) && rulesButton(app, () => game),
      ),
      table,
      h(
        'div',
        { class: 'side' },
        h(
          'div',
          { class: 'message' },
          this.standing,
          h('div', { class: 'lower' }, this.why, this.actions.lower),
        ),
        this.actions.element,
        this.moves.element,
      ),
    ];
  }

  /** Somebody has said something. */
  heard(match: Match, line: Said) {
    const text = this.talk.heard(match, line);
    // One's own is seen, too, and need not be read out.
    const isOwn = line.seat !== null && line.seat === match.you;
    const shown = isOwn ? wordsOf(line, this.#app.connection.welcome?.presets ?? []) : text;
    if (line.seat !== null && shown) this.players.heard(line.seat, shown);
    if (text) this.#app.announce(say('talk.says', { name: line.name, text }));
  }

  /** What counts, counts no more. */
  leave() {
    this.players.leave();
    this.actions.leave();
    this.result.leave();
  }
}
