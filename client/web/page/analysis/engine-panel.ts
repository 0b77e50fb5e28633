// What a bot thinks, in figures and as a bar: how the chances are, how far it has looked, what it expects, and how
// much it need not look at.

import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { ValueBar } from './eval-bar.ts';

import type { Thinking } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

export class ThinkingPanel {
  #worth;
  #effort = h('p', { class: 'effort' });
  #line = h('p', { class: 'line' });
  #about = h('p', { class: 'note' }, say('thinking.about'));
  element;

  constructor(match: Pick<Match, 'game' | 'seats'>) {
    this.#worth = new ValueBar(match, say('thinking.waits'));
    // Nothing here is read out as it changes: that would be four times a second.
    this.element = h(
      'section',
      { 'aria-label': say('thinking.title') },
      ...this.#worth.parts,
      this.#effort,
      this.#line,
      this.#about,
    );
  }

  show(told: Thinking) {
    const { depth, nodes, pruned, pv, san = pv } = told;
    this.#worth.show(told);
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
