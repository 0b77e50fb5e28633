// What stands in a room while the match goes on.

import { Actions } from './actions.js';
import { BoardView } from './board.js';
import { fill, h } from './dom.js';
import { Moves } from './moves.js';
import { Players } from './players.js';
import { clockWords } from './time.js';
import { capital } from './words.js';

/** @import { Game } from '../protocol.js' */
/** @import { Does } from './board.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/** The parts of a room that stay while the match goes on. */
export class Furniture {
  standing = h('p', { class: 'standing' });
  why = h('p', { class: 'why' });
  others = h('div', { class: 'row others', role: 'group', 'aria-label': 'Other moves' });
  watching = h('span', { class: 'watching' });
  board;
  players;
  moves;
  actions;
  parts;
  #play;

  /**
   * @param {App} app
   * @param {Game} game
   * @param {Match} match
   * @param {Omit<Does, 'say'> & { look: (ply: number) => void, turn: () => void }} does
   */
  constructor(app, game, match, { play, queue, unqueue, look, turn }) {
    this.#play = play;
    const say = (/** @type {string} */ text) => app.announce(text);
    this.board = new BoardView(game, { play, queue, unqueue, say });
    this.players = new Players(app, game);
    this.moves = new Moves(look);
    this.actions = new Actions(app, { backToNow: () => look(Infinity), turn });
    this.parts = [
      h(
        'div',
        { class: 'heading' },
        h(
          'h1',
          {},
          game.title,
          match.clock && h('span', {}, clockWords(match.clock)),
          h('span', { class: 'code' }, match.code),
          this.watching,
        ),
        this.standing,
        this.why,
      ),
      h('div', { class: 'stage' }, this.board.element, this.others),
      this.players.element,
      h('div', { class: 'side' }, this.actions.element, this.moves.element),
    ];
  }

  /** What counts, counts no more. */
  leave() {
    this.players.leave();
  }

  /**
   * The moves that have no square become buttons.
   * @param {string[]} moves
   * @param {boolean} isAll whether there are no others
   */
  offer(moves, isAll) {
    if (this.others.dataset.moves === moves.join(' ')) return;
    this.others.dataset.moves = moves.join(' ');
    fill(
      this.others,
      ...moves.map((move) =>
        h(
          'button',
          { type: 'button', class: isAll ? 'primary' : '', onclick: () => this.#play(move) },
          capital(move),
        ),
      ),
    );
  }
}
