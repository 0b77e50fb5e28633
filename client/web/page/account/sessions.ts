// The devices and programs that are oneself, and how they are logged out.

import { replaceChildren, h } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';

import type { Session } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class SessionsCard {
  #app;
  #list = h('ul', { class: 'devices' });
  #others = h('button', { type: 'button', hidden: true }, translate('devices.others'));
  #sure = h('div', { class: 'sure' });
  element;

  constructor(app: App) {
    this.#app = app;
    this.#others.addEventListener('click', () => void this.#end('others', this.#list));
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'devices-title' },
      h('h2', { id: 'devices-title', tabindex: '-1' }, translate('devices.title')),
      this.#list,
      this.#sure,
      this.#others,
    );
  }

  /** Shows what there is now. */
  refresh() {
    void this.#show();
  }

  async #show() {
    const told = await this.#app.request({ type: 'sessions' });
    if (!told) return;
    const focused = this.#list.querySelector(':focus')?.getAttribute('data-session');
    // One's own first, then the last that has come.
    const sessions = told.sessions.toReversed().sort((one, other) => +other.this - +one.this);
    replaceChildren(this.#list, ...sessions.map((session) => this.#row(session)));
    this.#others.hidden = sessions.length < 2;
    if (focused) this.#button(focused)?.focus();
  }

  #button(session: string): HTMLElement | null {
    return this.#list.querySelector(`[data-session="${session}"]`);
  }

  #row(session: Session) {
    const { label, kind, created_ms, seen_day, connected, session: id } = session;
    const about = [
      session.this ? translate('devices.this') : connected && translate('devices.connected'),
      translate(`devices.${kind}`),
      // Of a program that has a name of its own.
      session.bot,
      translate('devices.since', { date: formatDate(created_ms) }),
      !connected &&
        translate('devices.seen', { date: formatDate(Date.parse(`${seen_day}T12:00`)) }),
    ];
    const end = session.this ? () => this.#askFirst() : () => void this.#end(id, this.#list);
    return h(
      'li',
      { class: session.this ? 'this' : '' },
      h(
        'div',
        { class: 'device' },
        h('bdi', { class: 'label' }, label),
        h('p', { class: 'note' }, about.filter(Boolean).join(' · ')),
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

  /** Whoever logs out here may not come back. */
  #askFirst() {
    const done = () => {
      replaceChildren(this.#sure);
      this.#button(this.#app.connection.welcome?.session ?? '')?.focus();
    };
    const out = h(
      'button',
      {
        type: 'button',
        class: 'danger',
        onclick: () =>
          void requestWithReauth(this.#app, { type: 'end_session', session: this.#own() }),
      },
      translate('devices.end'),
    );
    const stay = h('button', { type: 'button', onclick: done }, translate('dialog.cancel'));
    replaceChildren(
      this.#sure,
      h('p', {}, translate('devices.sure', { name: this.#app.player?.name ?? '' })),
      h('div', { class: 'row' }, stay, out),
    );
    stay.focus();
  }

  #own() {
    return this.#app.connection.welcome?.session ?? '';
  }

  /** @param session its id, or `others` */
  async #end(session: string, list: HTMLElement) {
    const hadFocus = this.element.contains(document.activeElement);
    if (!(await this.#app.newDevice.endSession(session))) return;
    await this.#show();
    // What was pressed is gone.
    if (hadFocus && !this.element.contains(document.activeElement)) {
      const [first] = list.getElementsByTagName('button');
      first?.focus();
    }
  }
}
