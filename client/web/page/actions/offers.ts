// The offers that stand in a match: the other's, to be answered by a click or a key, and our own, to be
// withdrawn.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { pendingOffers, incomingOffers, standInSeat } from '../model/match.ts';
import { icon } from '../app/header-toggles.ts';
import {
  occupantName,
  offerParts,
  shortOfferText,
  ownOfferText,
  errorText,
} from '../text/phrases.ts';

import type { OfferState } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The keys that answer what the other offers. */
const ACCEPT_KEY = 'y';
const DECLINE_KEY = 'n';

const YES = 'M5 13l4.500 4.500L19 7';
const NO = 'M7 7l10 10M17 7 7 17';

export class OfferPrompts {
  element = h('div', { class: 'answers', role: 'group', 'aria-label': translate('offers.label') });
  #app;
  #match: Match | null = null;
  /** What is drawn; drawn anew, it would lose the focus. */
  #drawn = '';

  constructor(app: App) {
    this.#app = app;
  }

  show(match: Match) {
    this.#match = match;
    const connected = this.#app.connection.status.state === 'open';
    const offers = pendingOffers(match);
    const seat = standInSeat(match, this.#app.player?.id);
    const drawn = JSON.stringify([offers, connected, seat]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    replaceChildren(
      this.element,
      seat !== null && this.#takeSeat(match, seat, connected),
      ...offers.map((offer) => this.#line(match, offer, connected)),
    );
  }

  /**
   * Answers by key what the other offers.
   * @returns whether that was one
   */
  handleKey(key: string): boolean {
    const match = this.#match;
    const offer = match && incomingOffers(match)[0];
    if (!offer || this.#app.connection.status.state !== 'open') return false;
    if (key === ACCEPT_KEY) void this.#accept(match.match, offer);
    else if (key === DECLINE_KEY) this.#decline(match.match, offer);
    else return false;
    return true;
  }

  /** Comes back to where a bot stands in for us. */
  #takeSeat({ match }: Match, seat: number, connected: boolean) {
    const onclick = () => void this.#app.request({ type: 'join', match, seat });
    return h(
      'div',
      { class: 'row answer' },
      h('p', {}, translate('offers.standIn')),
      h(
        'button',
        { type: 'button', class: 'primary', disabled: !connected, onclick },
        translate('offers.seat'),
      ),
    );
  }

  #line(match: Match, offer: OfferState, connected: boolean) {
    const { match: id, you } = match;
    const disabled = !connected;
    const decline = () => this.#decline(id, offer);
    const short = { 'data-short': shortOfferText(match, offer) };
    if (you === null)
      return h('div', { class: 'row answer' }, h('p', short, ...this.#said(match, offer)));
    if (offer.seat === you) {
      const other = match.seats[1 - (you ?? 0)];
      const asked = ownOfferText(offer, other ? occupantName(other, this.#app.levels) : '');
      return h(
        'div',
        { class: 'row answer own' },
        h('p', short, asked),
        h('button', { type: 'button', disabled, onclick: decline }, translate('offers.withdraw')),
      );
    }
    const accept = () => void this.#accept(id, offer);
    return h(
      'div',
      { class: 'row answer' },
      h('p', short, ...this.#said(match, offer)),
      keyed(translate('offers.accept'), YES, 'primary', ACCEPT_KEY, disabled, accept),
      keyed(translate('offers.decline'), NO, '', DECLINE_KEY, disabled, decline),
    );
  }

  /** What somebody else offers. */
  #said(match: Match, offer: OfferState) {
    const seat = match.seats[offer.seat];
    const name = seat ? occupantName(seat, this.#app.levels) : '';
    return offerParts(match, offer, h('bdi', { class: 'by' }, name));
  }

  async #accept(id: string, { offer, to_ply }: OfferState) {
    const ply = this.#app.matches.get(id)?.ply ?? 0;
    const request = { type: 'offer' as const, match: id };
    try {
      await this.#app.connection.request(
        offer === 'takeback'
          ? { ...request, ply, offer, ...(to_ply === undefined ? {} : { to_ply }) }
          : offer === 'draw'
            ? { ...request, ply, offer }
            : { ...request, offer: 'rematch' },
      );
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // A move of our own was quicker, and the offer outlived it.
      const now = this.#app.matches.get(id);
      const stands = now && incomingOffers(now).find((other) => other.offer === offer);
      if (error.code === 'stale_ply' && stands && now.ply !== ply) await this.#accept(id, stands);
      else this.#app.toast(errorText(error));
    }
  }

  #decline(id: string, { offer }: OfferState) {
    void this.#app.request({ type: 'decline', match: id, offer });
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
      ...{ title: translate('offers.key', { key: key.toUpperCase() }), 'aria-keyshortcuts': key },
    },
    icon(drawn),
    h('span', {}, text),
    h('kbd', { 'aria-hidden': true }, key.toUpperCase()),
  );
