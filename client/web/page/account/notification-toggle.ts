// Whether one is told outside of the page that it is one's turn: asked for where one plays by days, and nowhere
// else.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import {
  canNotify,
  isNotificationDenied,
  isNotificationEnabled,
  enableNotifications,
  disableNotifications,
} from './browser-notifications.ts';

import type { App } from '../app/main.ts';

export class NotificationToggle {
  element = h('section', {
    class: 'card notify',
    'aria-label': translate('notify.label'),
    hidden: true,
  });
  #app;
  #drawn = '';

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    const isWanted = canNotify() && this.#app.correspondence.rows.length > 0;
    const state = !isWanted
      ? ''
      : isNotificationDenied()
        ? 'forbidden'
        : isNotificationEnabled()
          ? 'on'
          : 'off';
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.element.hidden = state === '';
    const hadFocus = this.element.contains(document.activeElement);
    replaceChildren(this.element, ...this.#parts(state));
    if (hadFocus) this.element.querySelector('button')?.focus();
  }

  #parts(state: string) {
    if (state === '') return [];
    if (state === 'forbidden') return [h('p', { class: 'note' }, translate('notify.forbidden'))];
    const isOn = state === 'on';
    const change = async () => {
      if (isOn) disableNotifications();
      else await enableNotifications();
      this.update();
    };
    return [
      h('p', { class: 'note', role: 'status' }, translate(isOn ? 'notify.on' : 'notify.about')),
      h(
        'button',
        { type: 'button', onclick: () => void change() },
        translate(isOn ? 'notify.stop' : 'notify.start'),
      ),
    ];
  }
}
