// The offers that stand in a match: the other's, to be answered by a click or a key, and our own, to be
// withdrawn.

import { Refusal } from '../net/connection.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { offersOf, offersTo, stoodIn } from '../model/match.ts';
import { icon } from '../app/header-toggles.ts';
import {
  occupant,
  offeredInParts,
  offeredInShort,
  ourOffer,
  refusalText,
} from '../text/phrases.ts';

import type { StandingOffer } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The keys that answer what the other offers. */
const ACCEPT_KEY = 'y';
const DECLINE_KEY = 'n';

const YES = 'M5 13l4.500 4.500L19 7';
const NO = 'M7 7l10 10M17 7 7 17';

export class Answers {
  element = h('div', { class: 'answers', role: 'group', 'aria-label': say('offers.label') });
  #app;
  #match: Match | null = null;
  /** What is drawn; drawn anew, it would lose the focus. */
  #drawn = '';

  constructor(app: App) {
    this.#app = app;
  }

  show(match: Match) {
    this.#match = match;
    const connected = this.#app.connection.link.state === 'open';
    const offers = offersOf(match);
    const seat = stoodIn(match, this.#app.player?.id);
    const drawn = JSON.stringify([offers, connected, seat]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    fill(
      this.element,
      seat !== null && this.#takeSeat(match, seat, connected),
      ...offers.map((offer) => this.#line(match, offer, connected)),
    );
  }

  /**
   * Answers by key what the other offers.
   * @returns whether that was one
   */
  key(key: string): boolean {
    const match = this.#match;
    const offer = match && offersTo(match)[0];
    if (!offer || this.#app.connection.link.state !== 'open') return false;
    if (key === ACCEPT_KEY) void this.#accept(match.match, offer);
    else if (key === DECLINE_KEY) this.#decline(match.match, offer);
    else return false;
    return true;
  }

  /** Comes back to where a bot stands in for us. */
  #takeSeat({ match }: Match, seat: number, connected: boolean) {
    const onclick = () => void this.#app.ask({ type: 'join', match, seat });
    return h(
      'div',
      { class: 'row answer' },
      h('p', {}, say('offers.standIn')),
      h(
        'button',
        { type: 'button', class: 'primary', disabled: !connected, onclick },
        say('offers.seat'),
      ),
    );
  }

  #line(match: Match, offer: StandingOffer, connected: boolean) {
    const { match: id, you } = match;
    const disabled = !connected;
    const decline = () => this.#decline(id, offer);
    const short = { 'data-short': offeredInShort(match, offer) };
    if (you === null)
      return h('div', { class: 'row answer' }, h('p', short, ...this.#said(match, offer)));
    if (offer.seat === you) {
      const other = match.seats[1 - (you ?? 0)];
      const asked = ourOffer(offer, other ? occupant(other, this.#app.levels) : '');
      return h(
        'div',
        { class: 'row answer own' },
        h('p', short, asked),
        h('button', { type: 'button', disabled, onclick: decline }, say('offers.withdraw')),
      );
    }
    const accept = () => void this.#accept(id, offer);
    return h(
      'div',
      { class: 'row answer' },
      h('p', short, ...this.#said(match, offer)),
      keyed(say('offers.accept'), YES, 'primary', ACCEPT_KEY, disabled, accept),
      keyed(say('offers.decline'), NO, '', DECLINE_KEY, disabled, decline),
    );
  }

  /** What somebody else offers. */
  #said(match: Match, offer: StandingOffer) {
    const seat = match.seats[offer.seat];
    const name = seat ? occupant(seat, this.#app.levels) : '';
    return offeredInParts(match, offer, h('bdi', { class: 'by' }, name));
  }

  async #accept(id: string, { offer, to_ply }: StandingOffer) {
    const ply = this.#app.matches.get(id)?.ply ?? 0;
    const request = { type: 'offer' as const, match: id };
    try {
      await this.#app.connection.ask(
        offer === 'takeback'
          ? { ...request, ply, offer, ...(to_ply === undefined ? {} : { to_ply }) }
          : offer === 'draw'
            ? { ...request, ply, offer }
            : { ...request, offer: 'rematch' },
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // A move of our own was quicker, and the offer outlived it.
      const now = this.#app.matches.get(id);
      const stands = now && offersTo(now).find((other) => other.offer === offer);
      if (error.code === 'stale_ply' && stands && now.ply !== ply) await this.#accept(id, stands);
      else this.#app.toast(refusalText(error));
    }
  }

  #decline(id: string, { offer }: StandingOffer) {
    void this.#app.ask({ type: 'decline', match: id, offer });
  }
}

/** A button with a key of its own. */
const keyed = (
  text: string,
  drawn: string,
  look: string,
  key: string,
  disabled: boolean,
  onclick: () => void,
) =>
  h(
    'button',
    {
      ...{ type: 'button', class: look, disabled, onclick },
      ...{ title: say('offers.key', { key: key.toUpperCase() }), 'aria-keyshortcuts': key },
    },
    icon(drawn),
    h('span', {}, text),
    h('kbd', { 'aria-hidden': true }, key.toUpperCase()),
  );
