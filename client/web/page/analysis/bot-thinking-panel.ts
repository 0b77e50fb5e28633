// Panel with the search output of a bot: evaluation, depth, node counts and expected line.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { EvalBar } from './eval-bar.ts';

import type { Thinking } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

export class BotThinkingPanel {
  #evalBar;
  #effort = h('p', { class: 'effort' });
  #line = h('p', { class: 'line' });
  #note = h('p', { class: 'note' }, translate('thinking.about'));
  element;

  constructor(match: Pick<Match, 'game' | 'seats'>) {
    this.#evalBar = new EvalBar(match, translate('thinking.waits'));
    // Not a live region: the output changes four times a second.
    this.element = h(
      'section',
      { 'aria-label': translate('thinking.title') },
      ...this.#evalBar.elements,
      this.#effort,
      this.#line,
      this.#note,
    );
  }

  show(thinking: Thinking) {
    const { depth, nodes, pruned, pv, san = pv } = thinking;
    this.#evalBar.show(thinking);
    const searched = translate(pruned === undefined ? 'thinking.playouts' : 'thinking.nodes', {
      count: nodes,
    });
    const cut = pruned === undefined ? '' : translate('thinking.pruned', { count: pruned });
    const effort = [translate('thinking.depth', { depth }), searched, cut]
      .filter(Boolean)
      .join(' · ');
    setText(this.#effort, effort);
    this.#effort.title = effort;
    // A search by playouts prunes nothing, so the note on pruning is omitted.
    setText(this.#note, pruned === undefined ? '' : translate('thinking.about'));
    setText(this.#line, translate('thinking.line', { line: san.join(' ') }));
    this.#line.title = san.join(' ');
  }
}
