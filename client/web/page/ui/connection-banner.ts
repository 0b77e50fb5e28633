// Banner that shows the state of the connection.

import { replaceChildren, h, setText } from './dom.ts';
import { translate, joinSentences, formatSecondsFromNow } from '../text/language.ts';

import type { App } from '../app/main.ts';

let interval: ReturnType<typeof setInterval> | undefined;
/** Banner with the countdown to the next attempt to connect. */
let countdown: ReturnType<typeof countdownBanner> | undefined;

export function showConnectionBanner(container: HTMLElement, app: App) {
  clearInterval(interval);
  const { connection } = app;
  const { status } = connection;
  switch (status.state) {
    case 'open': {
      const hadFocus = container.contains(document.activeElement);
      replaceChildren(
        container,
        connection.isOffline ? offlineBanner(app) : status.isSlow && slowBanner(),
      );
      if (hadFocus) container.querySelector('button')?.focus();
      break;
    }
    case 'connecting':
      // The first connection after loading the page needs no banner.
      if (connection.welcome) {
        replaceChildren(
          container,
          h('div', { class: 'banner' }, h('p', {}, translate('link.connecting'))),
        );
      }
      break;
    case 'waiting':
      // All attempts share one element, so that a button does not change while the user presses it.
      if (!countdown || !container.contains(countdown.element)) {
        countdown = countdownBanner(app);
        replaceChildren(container, countdown.element);
      }
      countdown.update();
      interval = setInterval(countdown.update, 250);
      break;
    case 'replaced':
      replaceChildren(
        container,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, translate('link.replaced')),
          h(
            'button',
            { type: 'button', onclick: () => connection.connect() },
            translate('link.take'),
          ),
        ),
      );
      break;
    case 'ended':
      replaceChildren(
        container,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('h1', {}, translate('link.ended')),
          h(
            'button',
            { type: 'button', onclick: () => connection.startAsGuest() },
            translate('link.guest'),
          ),
          h('a', { class: 'button', href: '/pair' }, translate('link.back')),
        ),
      );
      break;
    case 'broken':
      replaceChildren(
        container,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, joinSentences(status.why, translate('link.anew'))),
          h('button', { type: 'button', onclick: () => location.reload() }, translate('link.load')),
        ),
      );
  }
}

function countdownBanner({ connection }: App) {
  const why = h('span');
  const next = h('span', { 'aria-hidden': true });
  const element = h(
    'div',
    { class: 'banner', role: 'alert' },
    h('p', {}, why, ' ', next),
    h('button', { type: 'button', onclick: () => connection.connect() }, translate('link.now')),
    h(
      'button',
      { type: 'button', onclick: () => connection.setOffline(true) },
      translate('alone.play'),
    ),
  );
  const update = () => {
    const { status } = connection;
    if (status.state !== 'waiting') return;
    setText(why, status.why);
    const seconds = Math.max(0, Math.ceil((status.retryAt - performance.now()) / 1000));
    setText(next, translate('link.next', { when: formatSecondsFromNow(seconds) }));
  };
  return { element, update };
}

const slowBanner = () =>
  h('div', { class: 'banner', role: 'status' }, h('p', {}, translate('link.slow')));

function offlineBanner(app: App) {
  const { connection } = app;
  const isReachable = connection.isServerReachable;
  const goOnline = async () => {
    if (!(await connection.tryGoOnline())) app.toast(translate('alone.none'));
  };
  return h(
    'div',
    { class: 'banner', role: 'status' },
    isReachable
      ? h('p', {}, translate('alone.back'))
      : h(
          'p',
          {},
          translate('alone.told'),
          ' ',
          h('span', { class: 'more' }, translate('alone.about')),
        ),
    h(
      'button',
      { type: 'button', class: isReachable && 'primary', onclick: () => void goOnline() },
      translate(isReachable ? 'alone.go' : 'alone.over'),
    ),
  );
}
