// The account page: cards for credentials, devices, keys, blocked players and personal data.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { profilePath } from '../social/player-links.ts';
import { showRenameDialog } from './rename.ts';
import { CredentialsCard } from './credentials-card.ts';
import { BlockedPlayersCard } from './blocked-players.ts';
import { PersonalDataCard } from './personal-data.ts';
import { SessionsCard } from './sessions.ts';
import { ApiKeysCard } from './api-keys.ts';
import { DevicePairingCard } from './device-pairing.ts';
import { recoveryKeyCard } from './recovery-key.ts';

import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';

export class AccountPage {
  #app;
  #name = h('bdi');
  #profileLink = h('a', { class: 'button', hidden: true }, translate('profile.own'));
  #credentials;
  #pairing;
  #sessions;
  #apiKeys;
  #blockedPlayers;
  #personalData;
  #recoveryKey;
  #signInCard = h(
    'section',
    { class: 'card', 'aria-labelledby': 'back-title' },
    h('h2', { id: 'back-title' }, translate('arrive.entrance')),
    h('p', { class: 'note' }, translate('arrive.entrance.about')),
    h('a', { class: 'button', href: '/pair' }, translate('arrive.enter')),
  );
  element;

  constructor(app: App) {
    this.#app = app;
    this.#credentials = new CredentialsCard(app);
    this.#pairing = new DevicePairingCard(app);
    this.#sessions = new SessionsCard(app);
    this.#apiKeys = new ApiKeysCard(app, () => this.#sessions.refresh());
    this.#blockedPlayers = new BlockedPlayersCard(app);
    this.#personalData = new PersonalDataCard(app);
    this.#recoveryKey = recoveryKeyCard(app);
    this.element = h(
      'div',
      { class: 'you' },
      h(
        'div',
        { class: 'row myself' },
        h('h1', {}, this.#name),
        h(
          'button',
          { type: 'button', onclick: () => showRenameDialog(app) },
          translate('name.choose'),
        ),
        h('a', { class: 'button', href: '/games' }, translate('games.title')),
        this.#profileLink,
      ),
      this.#credentials.element,
      this.#pairing.element,
      this.#sessions.element,
      this.#recoveryKey,
      this.#apiKeys.element,
      this.#blockedPlayers.element,
      this.#signInCard,
      this.#personalData.element,
    );
  }

  title() {
    return `${translate('you.title')} – Plyhouse`;
  }

  update() {
    this.#credentials.update();
    this.#apiKeys.update();
    this.#personalData.update();
    // With proxy authentication, the proxy decides who the player is on every device.
    const { usesProxyAuth } = this.#app.connection;
    for (const card of [this.#pairing.element, this.#recoveryKey, this.#signInCard])
      card.hidden = usesProxyAuth;
    const { name = '', account = false } = this.#app.player ?? {};
    setText(this.#name, name);
    this.#profileLink.hidden = !account;
    this.#profileLink.href = profilePath(name);
  }

  onWelcome() {
    this.#sessions.refresh();
    void this.#blockedPlayers.refresh();
  }

  onChange({ action }: Change) {
    if (action.type !== 'session_added') return;
    this.#pairing.onCodeUsed(action.label);
    this.#sessions.refresh();
  }

  unmount() {
    this.#pairing.stop();
  }
}
