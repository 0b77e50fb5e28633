// Shows incoming challenges over any view until the player answers them or they expire.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { playSound } from '../ui/sounds.ts';
import { formatClock } from '../text/time.ts';

import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';
import type { Challenge } from '../net/protocol.ts';

export class IncomingChallenges {
  #app;
  #container;
  #rendered = '';

  constructor(app: App, container: HTMLElement) {
    this.#app = app;
    this.#container = container;
    app.store.subscribe((change) => this.#onChange(change));
  }

  #onChange({ action, before, after }: Change) {
    if ([...after.challenges.keys()].some((match) => !before.challenges.has(match))) {
      playSound('turn');
    }
    if (action.type !== 'challenge_over') return;
    const name = before.challenges.get(action.match)?.from.name;
    if (name !== undefined) this.#app.toast(translate('challenge.gone', { name }));
  }

  /** The title of the tab: it mentions the oldest challenge. */
  title(otherwise: string) {
    const [first] = this.#app.store.state.challenges.values();
    return first
      ? `● ${translate('challenge.by', { name: first.from.name })} – Plyhouse`
      : otherwise;
  }

  update() {
    const { state } = this.#app.connection.status;
    // Without a connection the player cannot answer.
    this.#container.inert = state !== 'open';
    const challenges = [...this.#app.store.state.challenges.values()];
    const rendered = JSON.stringify([challenges, this.#app.games.length]);
    if (this.#rendered === rendered) return;
    this.#rendered = rendered;
    const hadFocus = this.#container.contains(document.activeElement);
    // The card covers other content, so only one is shown.
    const [first, ...more] = challenges;
    replaceChildren(this.#container, first && this.#card(first, more.length));
    if (!hadFocus) return;
    const next = this.#container.querySelector('button') ?? document.getElementById('main');
    next?.focus();
  }

  /** @param more number of the other challenges */
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
    // A refusal means that the challenge is over.
    if (!joined && this.#app.connection.status.state === 'open') this.#remove(match);
  }

  async #decline({ match }: Challenge) {
    try {
      await this.#app.connection.request({ type: 'decline', match, offer: 'challenge' });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The server may have declined the challenge. The next `welcome` lists the open ones.
      if (error.retryable || error.code === 'lost') return;
    }
    this.#remove(match);
  }

  #remove(match: string) {
    this.#app.store.dispatch({ type: 'challenge_answered', match });
    this.#app.update();
  }
}
