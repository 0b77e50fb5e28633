// What a bot thinks, in figures and as a bar: how the chances are, how far it has looked, what it expects, and how
// much it need not look at.

import { h, write } from '../dom.js';
import { capital, known, say } from '../language.js';
import { sideName } from '../naming.js';
import { worth } from './worth.js';

/** @import { Thinking } from '../../protocol.js' */
/** @import { Match } from '../match.js' */

export class ThinkingPanel {
  #sides;
  #game;
  #unit;
  #value = h('strong', {}, say('thinking.waits'));
  #chance = h('span');
  #share = h('div', { class: 'share-0' });
  #bar = h('div', { class: 'value', hidden: true, 'aria-hidden': true }, this.#share);
  #effort = h('p', { class: 'effort' });
  #line = h('p', { class: 'line' });
  #about = h('p', { class: 'note' }, say('thinking.about'));
  element;

  /** @param {Pick<Match, 'game' | 'seats'>} match */
  constructor({ game, seats }) {
    this.#sides = seats.map(({ side }) => capital(sideName(side)));
    this.#game = game;
    this.#unit = known(`thinking.unit.${game}`) ?? say('thinking.unit');
    // Nothing here is read out as it changes: that would be four times a second.
    this.element = h(
      'section',
      { 'aria-label': say('thinking.title') },
      h('p', { class: 'worth' }, this.#value, this.#chance),
      this.#bar,
      this.#effort,
      this.#line,
      this.#about,
    );
  }

  /** @param {Thinking} told */
  show(told) {
    const { win, depth, nodes, pruned, pv, san = pv } = told;
    write(this.#value, worth(told, this.#sides, this.#game));
    // A result that is known needs no unit.
    this.#value.title = told.exact || told.wins !== undefined ? '' : this.#unit;
    const percent = Math.round(win * 100);
    write(this.#chance, say('thinking.chance', { side: this.#sides[0] ?? '', percent }));
    this.#bar.hidden = false;
    this.#share.style.width = `${win * 100}%`;
    const looked = say(pruned === undefined ? 'thinking.playouts' : 'thinking.nodes', {
      count: nodes,
    });
    const cut = pruned === undefined ? '' : say('thinking.pruned', { count: pruned });
    const effort = [say('thinking.depth', { depth }), looked, cut].filter(Boolean).join(' · ');
    write(this.#effort, effort);
    this.#effort.title = effort;
    // Where games are played out nothing is cut off.
    write(this.#about, pruned === undefined ? '' : say('thinking.about'));
    write(this.#line, say('thinking.line', { line: san.join(' ') }));
    this.#line.title = san.join(' ');
  }
}
