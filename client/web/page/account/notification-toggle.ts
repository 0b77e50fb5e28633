// Card that turns browser notifications on and off, for players with correspondence matches.

import { correspondenceRows } from '../lobby/correspondence-rows.ts';
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
  #state = '';

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    const isShown = canNotify() && correspondenceRows(this.#app).length > 0;
    const state = !isShown
      ? ''
      : isNotificationDenied()
        ? 'forbidden'
        : isNotificationEnabled()
          ? 'on'
          : 'off';
    if (state === this.#state) return;
    this.#state = state;
    this.element.hidden = state === '';
    const hadFocus = this.element.contains(document.activeElement);
    replaceChildren(this.element, ...this.#content(state));
    if (hadFocus) this.element.querySelector('button')?.focus();
  }

  #content(state: string) {
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
