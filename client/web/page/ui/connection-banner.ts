// What is said while there is no connection.

import { replaceChildren, h, setText } from './dom.ts';
import { translate, joinSentences, formatSecondsFromNow } from '../text/language.ts';

import type { App } from '../app/main.ts';

let ticking: ReturnType<typeof setInterval> | undefined;
/** What is said while one waits for the next try. */
let wait: ReturnType<typeof waiting> | undefined;

export function showConnectionBanner(place: HTMLElement, app: App) {
  clearInterval(ticking);
  const { connection } = app;
  const { status: link } = connection;
  switch (link.state) {
    case 'open': {
      const hadFocus = place.contains(document.activeElement);
      replaceChildren(place, connection.isOffline ? alone(app) : link.isSlow && slow());
      if (hadFocus) place.querySelector('button')?.focus();
      break;
    }
    case 'connecting':
      // At the very first, nothing is wrong yet.
      if (connection.welcome) {
        replaceChildren(
          place,
          h('div', { class: 'banner' }, h('p', {}, translate('link.connecting'))),
        );
      }
      break;
    case 'waiting':
      // It stays from one try to the next: a button that is about to be pressed is not replaced by another.
      if (!wait || !place.contains(wait.element)) {
        wait = waiting(app);
        replaceChildren(place, wait.element);
      }
      wait.tell();
      ticking = setInterval(wait.tell, 250);
      break;
    case 'replaced':
      replaceChildren(
        place,
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
        place,
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
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, joinSentences(link.why, translate('link.anew'))),
          h('button', { type: 'button', onclick: () => location.reload() }, translate('link.load')),
        ),
      );
  }
}

function waiting({ connection }: App) {
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
  const tell = () => {
    const { status: link } = connection;
    if (link.state !== 'waiting') return;
    setText(why, link.why);
    const left = Math.max(0, Math.ceil((link.retryAt - performance.now()) / 1000));
    setText(next, translate('link.next', { when: formatSecondsFromNow(left) }));
  };
  return { element, tell };
}

const slow = () =>
  h('div', { class: 'banner', role: 'status' }, h('p', {}, translate('link.slow')));

function alone(app: App) {
  const { connection } = app;
  const isThere = connection.isServerReachable;
  const look = async () => {
    if (!(await connection.tryGoOnline())) app.toast(translate('alone.none'));
  };
  return h(
    'div',
    { class: 'banner', role: 'status' },
    isThere
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
      { type: 'button', class: isThere && 'primary', onclick: () => void look() },
      translate(isThere ? 'alone.go' : 'alone.over'),
    ),
  );
}
