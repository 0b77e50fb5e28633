// Shows over any view that a new device has logged in, until the player confirms it or ends its
// session.

import { replaceChildren } from '../ui/dom.ts';
import { markPlayerSaved } from '../account/guest-save-reminder.ts';
import { translate } from '../text/language.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';
import { newDeviceCard } from './prompt-cards.ts';

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

  #render(added: SessionAdded | undefined) {
    const container = this.#container;
    const hadFocus = container.contains(document.activeElement);
    const card =
      added &&
      newDeviceCard(added, {
        confirm: () => this.#confirm(added.session),
        end: () => void this.endSession(added.session),
      });
    replaceChildren(container, card);
    if (hadFocus) (container.querySelector('button') ?? document.getElementById('main'))?.focus();
  }

  #confirm(session: string) {
    this.#app.store.dispatch({ type: 'session_confirmed', session });
  }

  /**
   * Ends a session of the player. Returns whether the server has ended it.
   * @param session its id, or `others`
   */
  async endSession(session: string): Promise<boolean> {
    const lazy = await tryLoadLazyBundle(this.#app);
    if (!(await lazy?.requestWithReauth(this.#app, { type: 'end_session', session }))) return false;
    this.#app.toast(translate('devices.ended'));
    this.#confirm(session);
    return true;
  }
}
