// Card that lists the player's sessions, of devices and programs, and ends them.

import { replaceChildren, h } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';

import type { Session } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class SessionsCard {
  #app;
  #list = h('ul', { class: 'devices' });
  #endOthersButton = h('button', { type: 'button', hidden: true }, translate('devices.others'));
  #confirmation = h('div', { class: 'sure' });
  element;

  constructor(app: App) {
    this.#app = app;
    this.#endOthersButton.addEventListener('click', () => void this.#end('others'));
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'devices-title' },
      h('h2', { id: 'devices-title', tabindex: '-1' }, translate('devices.title')),
      this.#list,
      this.#confirmation,
      this.#endOthersButton,
    );
  }

  refresh() {
    void this.#show();
  }

  async #show() {
    const reply = await this.#app.request({ type: 'sessions' });
    if (!reply) return;
    const focusedSession = this.#list.querySelector(':focus')?.getAttribute('data-session');
    // This session comes first, then the newest.
    const sessions = reply.sessions.toReversed().sort((a, b) => +b.this - +a.this);
    replaceChildren(this.#list, ...sessions.map((session) => this.#row(session)));
    this.#endOthersButton.hidden = sessions.length < 2;
    if (focusedSession) this.#button(focusedSession)?.focus();
  }

  #button(session: string): HTMLElement | null {
    return this.#list.querySelector(`[data-session="${session}"]`);
  }

  #row(session: Session) {
    const { label, kind, created_ms, seen_day, connected, session: id } = session;
    const details = [
      session.this ? translate('devices.this') : connected && translate('devices.connected'),
      translate(`devices.${kind}`),
      // The name of the bot account that the session plays as.
      session.bot,
      translate('devices.since', { date: formatDate(created_ms) }),
      !connected &&
        translate('devices.seen', { date: formatDate(Date.parse(`${seen_day}T12:00`)) }),
    ];
    const end = session.this ? () => this.#confirmEnd() : () => void this.#end(id);
    return h(
      'li',
      { class: session.this ? 'this' : '' },
      h(
        'div',
        { class: 'device' },
        h('bdi', { class: 'label' }, label),
        h('p', { class: 'note' }, details.filter(Boolean).join(' · ')),
      ),
      h(
        'button',
        {
          type: 'button',
          'data-session': id,
          'aria-label': translate('devices.end.of', { label }),
          onclick: end,
        },
        translate('devices.end'),
      ),
    );
  }

  /** A player without another session or a recovery key cannot sign in again. */
  #confirmEnd() {
    const cancel = () => {
      replaceChildren(this.#confirmation);
      this.#button(this.#ownSession())?.focus();
    };
    const confirmButton = h(
      'button',
      {
        type: 'button',
        class: 'danger',
        onclick: () =>
          void requestWithReauth(this.#app, { type: 'end_session', session: this.#ownSession() }),
      },
      translate('devices.end'),
    );
    const cancelButton = h(
      'button',
      { type: 'button', onclick: cancel },
      translate('dialog.cancel'),
    );
    replaceChildren(
      this.#confirmation,
      h('p', {}, translate('devices.sure', { name: this.#app.player?.name ?? '' })),
      h('div', { class: 'row' }, cancelButton, confirmButton),
    );
    cancelButton.focus();
  }

  #ownSession() {
    return this.#app.connection.welcome?.session ?? '';
  }

  /** @param session its id, or `others` */
  async #end(session: string) {
    const hadFocus = this.element.contains(document.activeElement);
    if (!(await this.#app.newDevice.endSession(session))) return;
    await this.#show();
    if (hadFocus && !this.element.contains(document.activeElement)) {
      this.#list.querySelector('button')?.focus();
    }
  }
}
