// Shows incoming challenges over any view until the player answers them or they expire.

import { RequestError } from '../net/connection.ts';
import { replaceChildren } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { playSound } from '../ui/sounds.ts';
import { challengeCard } from './prompt-cards.ts';

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
    const container = this.#container;
    const hadFocus = container.contains(document.activeElement);
    // Cards cover other content, so only the first is shown.
    const [first, ...more] = challenges;
    const card =
      first &&
      challengeCard(this.#app, first, more.length, {
        play: () => void this.#play(first),
        decline: () => void this.#decline(first),
      });
    replaceChildren(container, card);
    if (hadFocus) (container.querySelector('button') ?? document.getElementById('main'))?.focus();
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
