// What is said while there is no connection.

import { fill, h, write } from './dom.ts';
import { say, sentences, soon } from '../text/language.ts';

import type { App } from '../app/main.ts';

let ticking: ReturnType<typeof setInterval> | undefined;
/** What is said while one waits for the next try. */
let wait: ReturnType<typeof waiting> | undefined;

export function showBanner(place: HTMLElement, app: App) {
  clearInterval(ticking);
  const { connection } = app;
  const { link } = connection;
  switch (link.state) {
    case 'open': {
      const hadFocus = place.contains(document.activeElement);
      fill(place, connection.isAlone ? alone(app) : link.isSlow && slow());
      if (hadFocus) place.querySelector('button')?.focus();
      break;
    }
    case 'connecting':
      // At the very first, nothing is wrong yet.
      if (connection.welcome) {
        fill(place, h('div', { class: 'banner' }, h('p', {}, say('link.connecting'))));
      }
      break;
    case 'waiting':
      // It stays from one try to the next: a button that is about to be pressed is not replaced by another.
      if (!wait || !place.contains(wait.element)) {
        wait = waiting(app);
        fill(place, wait.element);
      }
      wait.tell();
      ticking = setInterval(wait.tell, 250);
      break;
    case 'replaced':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, say('link.replaced')),
          h('button', { type: 'button', onclick: () => connection.open() }, say('link.take')),
        ),
      );
      break;
    case 'ended':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('h1', {}, say('link.ended')),
          h('button', { type: 'button', onclick: () => connection.beginAnew() }, say('link.guest')),
          h('a', { class: 'button', href: '/pair' }, say('link.back')),
        ),
      );
      break;
    case 'broken':
      fill(
        place,
        h(
          'div',
          { class: 'banner strong', role: 'alert' },
          h('p', {}, sentences(link.why, say('link.anew'))),
          h('button', { type: 'button', onclick: () => location.reload() }, say('link.load')),
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
    h('button', { type: 'button', onclick: () => connection.open() }, say('link.now')),
    h('button', { type: 'button', onclick: () => connection.playAlone(true) }, say('alone.play')),
  );
  const tell = () => {
    const { link } = connection;
    if (link.state !== 'waiting') return;
    write(why, link.why);
    const left = Math.max(0, Math.ceil((link.at - performance.now()) / 1000));
    write(next, say('link.next', { when: soon(left) }));
  };
  return { element, tell };
}

const slow = () => h('div', { class: 'banner', role: 'status' }, h('p', {}, say('link.slow')));

function alone(app: App) {
  const { connection } = app;
  const isThere = connection.isServerThere;
  const look = async () => {
    if (!(await connection.lookForServer())) app.toast(say('alone.none'));
  };
  return h(
    'div',
    { class: 'banner', role: 'status' },
    isThere
      ? h('p', {}, say('alone.back'))
      : h('p', {}, say('alone.told'), ' ', h('span', { class: 'more' }, say('alone.about'))),
    h(
      'button',
      { type: 'button', class: isThere && 'primary', onclick: () => void look() },
      say(isThere ? 'alone.go' : 'alone.over'),
    ),
  );
}
