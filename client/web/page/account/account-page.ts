// Who one is: the name, and how one comes to be the same on another device, or after all are lost.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { profilePath } from '../social/player-links.ts';
import { showRenameDialog } from './rename.ts';
import { CredentialsCard } from './credentials.ts';
import { BlockedPlayersCard } from './blocked-players.ts';
import { PersonalDataCard } from './personal-data.ts';
import { SessionsCard } from './sessions.ts';
import { ApiKeysCard } from './api-keys.ts';
import { DevicePairingCard } from './device-pairing.ts';
import { recoveryKeyCard } from './recovery-key.ts';

import type { Message } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class AccountPage {
  #app;
  #name = h('bdi');
  #profile = h('a', { class: 'button', hidden: true }, translate('profile.own'));
  #account;
  #pairing;
  #devices;
  #keys;
  #blocks;
  #data;
  #recovery;
  #entrance = h(
    'section',
    { class: 'card', 'aria-labelledby': 'back-title' },
    h('h2', { id: 'back-title' }, translate('arrive.entrance')),
    h('p', { class: 'note' }, translate('arrive.entrance.about')),
    h('a', { class: 'button', href: '/pair' }, translate('arrive.enter')),
  );
  element;

  constructor(app: App) {
    this.#app = app;
    this.#account = new CredentialsCard(app);
    this.#pairing = new DevicePairingCard(app);
    this.#devices = new SessionsCard(app);
    this.#keys = new ApiKeysCard(app, () => this.#devices.refresh());
    this.#blocks = new BlockedPlayersCard(app);
    this.#data = new PersonalDataCard(app);
    this.#recovery = recoveryKeyCard(app);
    const choose = { type: 'button', onclick: () => showRenameDialog(app) };
    this.element = h(
      'div',
      { class: 'you' },
      h(
        'div',
        { class: 'row myself' },
        h('h1', {}, this.#name),
        h('button', choose, translate('name.choose')),
        h('a', { class: 'button', href: '/games' }, translate('games.title')),
        this.#profile,
      ),
      this.#account.element,
      this.#pairing.element,
      this.#devices.element,
      this.#recovery,
      this.#keys.element,
      this.#blocks.element,
      this.#entrance,
      this.#data.element,
    );
  }

  title() {
    return `${translate('you.title')} – Plyhouse`;
  }

  update() {
    this.#account.update();
    this.#keys.update();
    this.#data.update();
    // Who one is where a proxy tells is the proxy's business, on every device.
    const { usesProxyAuth: isByProxy } = this.#app.connection;
    for (const way of [this.#pairing.element, this.#recovery, this.#entrance])
      way.hidden = isByProxy;
    const { name = '', account = false } = this.#app.player ?? {};
    setText(this.#name, name);
    this.#profile.hidden = !account;
    this.#profile.href = profilePath(name);
  }

  onWelcome() {
    this.#devices.refresh();
    void this.#blocks.refresh();
  }

  onMessage(message: Message) {
    if (message.type !== 'session_added') return;
    this.#pairing.onCodeUsed(message.label);
    this.#devices.refresh();
  }

  unmount() {
    this.#pairing.stop();
  }
}
