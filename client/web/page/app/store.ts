// The state of the page and the one way to change it.

import { INITIAL_STATE, reduce } from '../model/state.ts';

import type { Action, State } from '../model/state.ts';

/** An action and the states before and after it. */
export interface Change {
  action: Action;
  before: State;
  after: State;
}

export type Subscriber = (change: Change) => void;

export class Store {
  #state = INITIAL_STATE;
  #subscribers = new Set<Subscriber>();

  get state(): State {
    return this.#state;
  }

  /**
   * Applies an action and calls all subscribers.
   * @param shownMatch id of the match in view, which remains in the state after a reconnection
   */
  dispatch(action: Action, shownMatch?: string) {
    const before = this.#state;
    const after = reduce(before, action, performance.now(), shownMatch);
    this.#state = after;
    for (const subscriber of [...this.#subscribers]) subscriber({ action, before, after });
  }

  /** @returns a function that ends the subscription */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }
}
