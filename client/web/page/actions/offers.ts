// Shows the pending offers of a match. The player answers the opponent's offers by click or key and
// can withdraw own offers.

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

const ACCEPT_KEY = 'y';
const DECLINE_KEY = 'n';

const ACCEPT_ICON = 'M5 13l4.500 4.500L19 7';
const DECLINE_ICON = 'M7 7l10 10M17 7 7 17';

export class OfferPrompts {
  element = h('div', { class: 'answers', role: 'group', 'aria-label': translate('offers.label') });
  #app;
  #match: Match | null = null;
  /** State that was rendered last. Rendering it again would lose the focus. */
  #renderedKey = '';

  constructor(app: App) {
    this.#app = app;
  }

  show(match: Match) {
    this.#match = match;
    const connected = this.#app.connection.status.state === 'open';
    const offers = pendingOffers(match);
    const seat = standInSeat(match, this.#app.player?.id);
    const renderedKey = JSON.stringify([offers, connected, seat]);
    if (renderedKey === this.#renderedKey) return;
    this.#renderedKey = renderedKey;
    replaceChildren(
      this.element,
      seat !== null && this.#standInRow(match, seat, connected),
      ...offers.map((offer) => this.#offerRow(match, offer, connected)),
    );
  }

  /**
   * Answers the opponent's first offer.
   * @returns whether the key was handled
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

  /** Offers to take our seat back from a stand-in bot. */
  #standInRow({ match }: Match, seat: number, connected: boolean) {
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

  #offerRow(match: Match, offer: OfferState, connected: boolean) {
    const { match: id, you } = match;
    const disabled = !connected;
    const decline = () => this.#decline(id, offer);
    const short = { 'data-short': shortOfferText(match, offer) };
    if (you === null)
      return h('div', { class: 'row answer' }, h('p', short, ...this.#offerParts(match, offer)));
    if (offer.seat === you) {
      const other = match.seats[1 - you];
      const text = ownOfferText(offer, other ? occupantName(other, this.#app.levels) : '');
      return h(
        'div',
        { class: 'row answer own' },
        h('p', short, text),
        h('button', { type: 'button', disabled, onclick: decline }, translate('offers.withdraw')),
      );
    }
    const accept = () => void this.#accept(id, offer);
    return h(
      'div',
      { class: 'row answer' },
      h('p', short, ...this.#offerParts(match, offer)),
      shortcutButton(
        translate('offers.accept'),
        ACCEPT_ICON,
        'primary',
        ACCEPT_KEY,
        disabled,
        accept,
      ),
      shortcutButton(translate('offers.decline'), DECLINE_ICON, '', DECLINE_KEY, disabled, decline),
    );
  }

  #offerParts(match: Match, offer: OfferState) {
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
      // Our own move arrived first and the offer is still pending: accept it at the new ply.
      const current = this.#app.matches.get(id);
      const pending = current && incomingOffers(current).find((other) => other.offer === offer);
      if (error.code === 'stale_ply' && pending && current.ply !== ply)
        await this.#accept(id, pending);
      else this.#app.toast(errorText(error));
    }
  }

  #decline(id: string, { offer }: OfferState) {
    void this.#app.request({ type: 'decline', match: id, offer });
  }
}

const shortcutButton = (
  text: string,
  iconPath: string,
  className: string,
  key: string,
  disabled: boolean,
  onclick: () => void,
) =>
  h(
    'button',
    {
      type: 'button',
      class: className,
      disabled,
      onclick,
      title: translate('offers.key', { key: key.toUpperCase() }),
      'aria-keyshortcuts': key,
    },
    icon(iconPath),
    h('span', {}, text),
    h('kbd', { 'aria-hidden': true }, key.toUpperCase()),
  );
