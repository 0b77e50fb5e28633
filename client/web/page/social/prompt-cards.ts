// Cards over any view that wait for an answer of the player: an incoming challenge, a new device.

import { h } from '../ui/dom.ts';
import { sideName } from '../text/labels.ts';
import { translate, translateParts } from '../text/language.ts';
import { formatClock } from '../text/time.ts';

import type { App } from '../app/main.ts';
import type { Challenge, SessionAdded } from '../net/protocol.ts';

interface Answer {
  text: string;
  onclick: () => void;
}

function promptCard(
  title: (Node | string | number)[],
  about: string,
  [first, second]: [Answer, Answer],
) {
  const text = h('div', { class: 'who' }, h('p', { class: 'names' }, ...title));
  text.append(h('p', { class: 'about' }, about));
  return h(
    'div',
    { class: 'challenge' },
    text,
    h('button', { type: 'button', class: 'primary', onclick: first.onclick }, first.text),
    h('button', { type: 'button', onclick: second.onclick }, second.text),
  );
}

/** @param more number of the other challenges */
export function challengeCard(
  app: App,
  { game: name, clock, rated, from_position, seat, from }: Challenge,
  more: number,
  answers: { play: () => void; decline: () => void },
) {
  const game = app.game(name);
  const side = game?.sides[seat];
  const about = [
    game?.title ?? name,
    clock ? formatClock(clock) : translate('challenge.noClock'),
    rated && translate('rated.short'),
    from_position && translate('list.fromPosition'),
    side && translate('challenge.side', { side: sideName(side) }),
    more > 0 && translate('challenge.more', { more }),
  ];
  const title = translateParts('challenge.by', { name: h('bdi', {}, from.name) });
  return promptCard(title, about.filter(Boolean).join(' · '), [
    { text: translate('challenge.play'), onclick: answers.play },
    { text: translate('challenge.decline'), onclick: answers.decline },
  ]);
}

export function newDeviceCard(
  { label }: SessionAdded,
  answers: { confirm: () => void; end: () => void },
) {
  const title = translateParts('added.device', { label: h('bdi', {}, label) });
  return promptCard(title, translate('added.about'), [
    { text: translate('added.mine'), onclick: answers.confirm },
    { text: translate('devices.end'), onclick: answers.end },
  ]);
}
