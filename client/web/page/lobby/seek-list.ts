// The list of players who seek an opponent. It always has the size of all slots, so that nothing
// moves when seeks appear. The slots are loaded with the first seek.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { loadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { Seeker, Seekers } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Number of seeks shown at once. `seek-slots.css` reserves the space. */
export const SEEK_SLOTS = 3;

export class SeekList {
  #app;
  #answer;
  #list = h('ul', { class: 'rows' });
  #slots: { show: (seekers: Seekers) => void } | null = null;
  #seekers: Seekers = { type: 'seekers', total: 0, rows: [] };
  element;

  /** @param answer starts a seek with the same options */
  constructor(app: App, answer: (seeker: Seeker) => void) {
    this.#app = app;
    this.#answer = answer;
    const heading = h('h2', { id: 'seekers-title', tabindex: -1 }, translate('seekers.title'));
    const none = h('p', { class: 'none' }, translate('seekers.none'));
    const free = Array.from({ length: SEEK_SLOTS }, (_, at) =>
      h('li', { class: 'free', 'aria-hidden': at > 0 && 'true' }, at === 0 && none),
    );
    replaceChildren(this.#list, ...free);
    this.element = h(
      'section',
      { class: 'kind seekers', 'aria-labelledby': 'seekers-title' },
      heading,
      this.#list,
    );
  }

  async onSeekers(seekers: Seekers) {
    this.#seekers = seekers;
    if (this.#slots === null) {
      if (seekers.rows.length === 0) return;
      let lazy;
      try {
        lazy = await loadLazyBundle();
      } catch {
        // The next message tries again.
        return;
      }
      this.#slots ??= new lazy.SeekSlots(this.#app, this.element, this.#answer);
    }
    this.#slots.show(this.#seekers);
  }
}
