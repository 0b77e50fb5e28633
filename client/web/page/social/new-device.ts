// Shows over any view that a new device has logged in, until the player confirms it or ends its session.

import { replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from '../actions/save-prompt.ts';
import { translateParts, translate } from '../text/language.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { SessionAdded } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class NewDevice {
  #app;
  #container;

  constructor(app: App, container: HTMLElement) {
    this.#app = app;
    this.#container = container;
    app.store.subscribe(({ action, before, after }) => {
      if (action.type === 'session_added') markPlayerSaved(app);
      if (after.newSessions[0] !== before.newSessions[0]) this.#render(after.newSessions[0]);
    });
  }

  #render(session: SessionAdded | undefined) {
    const container = this.#container;
    const hadFocus = container.contains(document.activeElement);
    replaceChildren(container, session && this.#card(session));
    if (hadFocus) (container.querySelector('button') ?? document.getElementById('main'))?.focus();
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
        { type: 'button', class: 'primary', onclick: () => this.#confirm(session) },
        translate('added.mine'),
      ),
      h(
        'button',
        { type: 'button', onclick: () => void this.endSession(session) },
        translate('devices.end'),
      ),
    );
  }

  #confirm(session: string) {
    this.#app.store.dispatch({ type: 'session_confirmed', session });
  }

  /**
   * Ends a session of the player. Returns whether the server has ended it.
   * @param session its id, or `others`
   */
  async endSession(session: string): Promise<boolean> {
    const lazy = await tryLoadLazyChunk(this.#app);
    if (!(await lazy?.requestWithReauth(this.#app, { type: 'end_session', session }))) return false;
    this.#app.toast(translate('devices.ended'));
    this.#confirm(session);
    return true;
  }
}
