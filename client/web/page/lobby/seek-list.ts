// The place in the lobby for those who look for an opponent. It is as large as it ever gets, so that nothing else moves
// when they come and go; they are drawn by what is loaded once there are any.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { loadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { Seeker, Seekers } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** So many are shown at a time. The style leaves as much room. */
export const SEEK_SLOTS = 3;

export class SeekList {
  #app;
  #answer;
  #list = h('ul', { class: 'rows' });
  #slots: { show: (told: Seekers) => void } | null = null;
  #told: Seekers = { type: 'seekers', total: 0, rows: [] };
  element;

  /** @param answer looks for the same */
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

  async onSeekers(told: Seekers) {
    this.#told = told;
    if (this.#slots === null) {
      if (told.rows.length === 0) return;
      let seldom;
      try {
        seldom = await loadLazyBundle();
      } catch {
        // With the next news it is tried again.
        return;
      }
      this.#slots ??= new seldom.SeekSlots(this.#app, this.element, this.#answer);
    }
    this.#slots.show(this.#told);
  }
}
