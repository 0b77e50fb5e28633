// The devices and programs that are oneself, and how they are logged out.

import { fill, h } from '../ui/dom.ts';
import { day, say } from '../text/language.ts';
import { proven } from './reauthenticate.ts';

import type { Session } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Devices {
  #app;
  #list = h('ul', { class: 'devices' });
  #others = h('button', { type: 'button', hidden: true }, say('devices.others'));
  #sure = h('div', { class: 'sure' });
  element;

  constructor(app: App) {
    this.#app = app;
    this.#others.addEventListener('click', () => void this.#end('others', this.#list));
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'devices-title' },
      h('h2', { id: 'devices-title', tabindex: '-1' }, say('devices.title')),
      this.#list,
      this.#sure,
      this.#others,
    );
  }

  /** Shows what there is now. */
  ask() {
    void this.#show();
  }

  async #show() {
    const told = await this.#app.ask({ type: 'sessions' });
    if (!told) return;
    const focused = this.#list.querySelector(':focus')?.getAttribute('data-session');
    // One's own first, then the last that has come.
    const sessions = told.sessions.toReversed().sort((one, other) => +other.this - +one.this);
    fill(this.#list, ...sessions.map((session) => this.#row(session)));
    this.#others.hidden = sessions.length < 2;
    if (focused) this.#button(focused)?.focus();
  }

  #button(session: string): HTMLElement | null {
    return this.#list.querySelector(`[data-session="${session}"]`);
  }

  #row(session: Session) {
    const { label, kind, created_ms, seen_day, connected, session: id } = session;
    const about = [
      session.this ? say('devices.this') : connected && say('devices.connected'),
      say(`devices.${kind}`),
      // Of a program that has a name of its own.
      session.bot,
      say('devices.since', { date: day(created_ms) }),
      !connected && say('devices.seen', { date: day(Date.parse(`${seen_day}T12:00`)) }),
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
          'aria-label': say('devices.end.of', { label }),
          onclick: end,
        },
        say('devices.end'),
      ),
    );
  }

  /** Whoever logs out here may not come back. */
  #askFirst() {
    const done = () => {
      fill(this.#sure);
      this.#button(this.#app.connection.welcome?.session ?? '')?.focus();
    };
    const out = h(
      'button',
      {
        type: 'button',
        class: 'danger',
        onclick: () => void proven(this.#app, { type: 'end_session', session: this.#own() }),
      },
      say('devices.end'),
    );
    const stay = h('button', { type: 'button', onclick: done }, say('dialog.cancel'));
    fill(
      this.#sure,
      h('p', {}, say('devices.sure', { name: this.#app.player?.name ?? '' })),
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
    if (!(await this.#app.added.end(session))) return;
    await this.#show();
    // What was pressed is gone.
    if (hadFocus && !this.element.contains(document.activeElement)) {
      const [first] = list.getElementsByTagName('button');
      first?.focus();
    }
  }
}
