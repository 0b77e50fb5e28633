// A device has become ours: told wherever one is, until one knows of it. If it was somebody else, it is logged
// out at once.

import { replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from '../actions/save-prompt.ts';
import { translateParts, translate } from '../text/language.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { Message, SessionAdded } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class NewDevice {
  #app;
  #place;
  /** Those that one has not answered for, the oldest first. */
  #told: SessionAdded[] = [];

  constructor(app: App, place: HTMLElement) {
    this.#app = app;
    this.#place = place;
  }

  onMessage(message: Message) {
    if (message.type !== 'session_added') return;
    markPlayerSaved(this.#app);
    this.#told.push(message);
    if (this.#told.length === 1) this.#draw();
  }

  /** We may be somebody else now, whose devices they are not. */
  clear() {
    this.#told = [];
    this.#draw();
  }

  #draw() {
    const hadFocus = this.#place.contains(document.activeElement);
    const [first] = this.#told;
    replaceChildren(this.#place, first && this.#card(first));
    if (hadFocus) (this.#place.querySelector('button') ?? document.getElementById('main'))?.focus();
  }

  #card({ session, label }: SessionAdded) {
    return h(
      'div',
      { class: 'challenge' },
      h(
        'div',
        { class: 'who' },
        h(
          'p',
          { class: 'names' },
          ...translateParts('added.device', { label: h('bdi', {}, label) }),
        ),
        h('p', { class: 'about' }, translate('added.about')),
      ),
      h(
        'button',
        { type: 'button', class: 'primary', onclick: () => this.#next() },
        translate('added.mine'),
      ),
      h(
        'button',
        { type: 'button', onclick: () => void this.endSession(session) },
        translate('devices.end'),
      ),
    );
  }

  #next() {
    this.#told.shift();
    this.#draw();
  }

  /**
   * Logs a device out; it need not be one that is told of.
   * @param session its id, or `others`
   * @returns whether that was done
   */
  async endSession(session: string): Promise<boolean> {
    const seldom = await tryLoadLazyChunk(this.#app);
    if (!(await seldom?.requestWithReauth(this.#app, { type: 'end_session', session })))
      return false;
    this.#app.toast(translate('devices.ended'));
    this.#told = this.#told.filter((added) => session !== 'others' && added.session !== session);
    this.#draw();
    return true;
  }
}
