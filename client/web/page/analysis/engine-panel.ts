// What a bot thinks, in figures and as a bar: how the chances are, how far it has looked, what it expects, and how
// much it need not look at.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { EvalBar } from './eval-bar.ts';

import type { Thinking } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

export class EnginePanel {
  #worth;
  #effort = h('p', { class: 'effort' });
  #line = h('p', { class: 'line' });
  #about = h('p', { class: 'note' }, translate('thinking.about'));
  element;

  constructor(match: Pick<Match, 'game' | 'seats'>) {
    this.#worth = new EvalBar(match, translate('thinking.waits'));
    // Nothing here is read out as it changes: that would be four times a second.
    this.element = h(
      'section',
      { 'aria-label': translate('thinking.title') },
      ...this.#worth.elements,
      this.#effort,
      this.#line,
      this.#about,
    );
  }

  show(told: Thinking) {
    const { depth, nodes, pruned, pv, san = pv } = told;
    this.#worth.show(told);
    const looked = translate(pruned === undefined ? 'thinking.playouts' : 'thinking.nodes', {
      count: nodes,
    });
    const cut = pruned === undefined ? '' : translate('thinking.pruned', { count: pruned });
    const effort = [translate('thinking.depth', { depth }), looked, cut]
      .filter(Boolean)
      .join(' · ');
    setText(this.#effort, effort);
    this.#effort.title = effort;
    // Where games are played out nothing is cut off.
    setText(this.#about, pruned === undefined ? '' : translate('thinking.about'));
    setText(this.#line, translate('thinking.line', { line: san.join(' ') }));
    this.#line.title = san.join(' ');
  }
}
