// Who challenges us: told wherever one is, until it is answered or over.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { formatClock } from '../text/time.ts';

import type { Challenge, Message, Welcome } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class IncomingChallenges {
  #app;
  #place;
  /** Those that stand, by their matches. */
  #standing: Map<string, Challenge> = new Map();
  #drawn = '';

  constructor(app: App, place: HTMLElement) {
    this.#app = app;
    this.#place = place;
  }

  /** Those that wait are told with every connection. */
  onWelcome({ challenges }: Welcome) {
    const isNew = challenges.some(({ match }) => !this.#standing.has(match));
    this.#standing = new Map(challenges.map((challenge) => [challenge.match, challenge]));
    if (isNew) sound('turn');
  }

  onMessage(message: Message) {
    switch (message.type) {
      case 'challenge':
        this.#standing.set(message.match, message);
        sound('turn');
        this.#app.update();
        break;
      case 'challenge_over':
        this.#over(message.match);
        return;
      case 'match':
        // By its link, too, one comes to a match that waits for oneself.
        if (message.you === null && message.status === 'open') return;
        this.#standing.delete(message.match);
        break;
      default:
    }
  }

  /** What the page is called, which tells of a challenge first. */
  title(otherwise: string) {
    const [first] = this.#standing.values();
    return first
      ? `● ${translate('challenge.by', { name: first.from.name })} – Plyhouse`
      : otherwise;
  }

  update() {
    const { state } = this.#app.connection.status;
    // Nothing can be answered while there is no connection.
    this.#place.inert = state !== 'open';
    const all = [...this.#standing.values()];
    const drawn = JSON.stringify([all, this.#app.games.length]);
    if (this.#drawn === drawn) return;
    this.#drawn = drawn;
    const hadFocus = this.#place.contains(document.activeElement);
    // One at a time, the oldest first: they lie over what one is doing.
    const [first, ...more] = all;
    replaceChildren(this.#place, first && this.#card(first, more.length));
    if (!hadFocus) return;
    const next = this.#place.querySelector('button') ?? document.getElementById('main');
    next?.focus();
  }

  /** @param more how many there are beside it */
  #card(challenge: Challenge, more: number) {
    const { game: name, clock, rated, from_position, seat, from } = challenge;
    const game = this.#app.game(name);
    const side = game?.sides[seat];
    const about = [
      game?.title ?? name,
      clock ? formatClock(clock) : translate('challenge.noClock'),
      rated && translate('rated.short'),
      from_position && translate('list.fromPosition'),
      side && translate('challenge.side', { side: sideName(side) }),
      more > 0 && translate('challenge.more', { more }),
    ];
    const play = () => void this.#play(challenge);
    const decline = () => void this.#decline(challenge);
    return h(
      'div',
      { class: 'challenge' },
      h(
        'div',
        { class: 'who' },
        h(
          'p',
          { class: 'names' },
          ...translateParts('challenge.by', { name: h('bdi', {}, from.name) }),
        ),
        h('p', { class: 'about' }, about.filter(Boolean).join(' · ')),
      ),
      h('button', { type: 'button', class: 'primary', onclick: play }, translate('challenge.play')),
      h('button', { type: 'button', onclick: decline }, translate('challenge.decline')),
    );
  }

  async #play({ match }: Challenge) {
    const joined = await this.#app.enterMatch({ type: 'join', match });
    if (joined || this.#app.connection.status.state !== 'open') return;
    // It was called off, or cannot be played: whoever has asked is told.
    this.#standing.delete(match);
    this.#app.update();
  }

  async #decline({ match }: Challenge) {
    try {
      await this.#app.connection.request({ type: 'decline', match, offer: 'challenge' });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // Not known whether it was heard: the next welcome tells.
      if (error.retryable || error.code === 'lost') return;
    }
    this.#standing.delete(match);
    this.#app.update();
  }

  #over(match: string) {
    const challenge = this.#standing.get(match);
    if (!challenge) return;
    this.#standing.delete(match);
    this.#app.toast(translate('challenge.gone', { name: challenge.from.name }));
    this.#app.update();
  }
}
