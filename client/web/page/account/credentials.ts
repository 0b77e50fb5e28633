// A name that is one's own, and the password by which one comes back under it.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from '../actions/save-prompt.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';
import { awaitErrorText } from '../net/errors.ts';

import type { App } from '../app/main.ts';

/** The server's bounds on passwords, in bytes. */
const PASSWORD_BYTES = { least: 10, most: 200 };
/** What the server calls whoever has chosen no name. */
const NAMELESS = /^guest-/;

export class CredentialsCard {
  #app;
  /** Whether what is shown is of an account, and whether anything is. */
  #shown: string | undefined;
  element = h('section', { class: 'card account', 'aria-labelledby': 'account-title' });

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    const { player, connection } = this.#app;
    const { accounts } = connection.welcome ?? {};
    const has = connection.usesProxyAuth ? '' : 'account';
    const shown = player?.account ? has : accounts === undefined ? '' : `guest-${accounts}`;
    if (this.#shown === shown) return;
    this.#shown = shown;
    this.element.hidden = shown === '';
    if (shown === 'account') replaceChildren(this.element, ...this.#password());
    else if (shown !== '') replaceChildren(this.element, ...this.#signUp(accounts === 'invite'));
  }

  /** @param isByInvitation whether nobody signs up without one */
  #signUp(isByInvitation: boolean) {
    const known = this.#app.player?.name ?? '';
    const name = h('input', {
      id: 'account-name',
      autocomplete: 'username',
      value: NAMELESS.test(known) ? '' : known,
    });
    const invitation = isByInvitation ? h('input', { id: 'invite', autocomplete: 'off' }) : null;
    const form = new PasswordForm(
      [name, invitation],
      translate('account.sign'),
      async (password) => {
        const wish = name.value.trim().normalize();
        const invite = invitation?.value.trim();
        const asked = this.#app.connection.request({
          ...{ type: 'register', name: wish, password },
          ...(invite ? { invite } : {}),
        });
        const why = await awaitErrorText(asked);
        if (why !== null) return why;
        markPlayerSaved(this.#app);
        this.#app.toast(translate('account.done', { name: this.#app.player?.name ?? wish }));
        return null;
      },
    );
    return [
      h('h2', { id: 'account-title' }, translate('account.title')),
      h('p', { class: 'note' }, translate('account.about')),
      form.element,
    ];
  }

  #password() {
    const form = new PasswordForm([], translate('account.set'), async (password) => {
      if (!(await requestWithReauth(this.#app, { type: 'set_password', new: password }))) return '';
      this.#app.toast(translate('account.set.done'));
      return null;
    });
    return [
      h('h2', { id: 'account-title' }, translate('account.own')),
      h('p', { class: 'note' }, translate('account.set.about')),
      form.element,
    ];
  }
}

/** Takes a new password, with a name and an invitation or without. */
class PasswordForm {
  #password = h('input', {
    id: 'account-password',
    type: 'password',
    autocomplete: 'new-password',
    'aria-describedby': 'account-trouble',
  });
  #trouble = h('p', { id: 'account-trouble', class: 'trouble', role: 'alert' });
  element;

  /**
   * @param fields for the name, and for an invitation
   * @param send tells why it was refused, if it was
   */
  constructor(
    [name = null, invitation = null]: (HTMLInputElement | null)[],
    says: string,
    send: (password: string) => Promise<string | null>,
  ) {
    const onsubmit = async (event: Event) => {
      event.preventDefault();
      const password = this.#password.value.normalize();
      const { length } = new TextEncoder().encode(password);
      const isGood = length >= PASSWORD_BYTES.least && length <= PASSWORD_BYTES.most;
      if (!isGood) return showError(this.#trouble, translate('account.bounds', PASSWORD_BYTES));
      const why = await send(password);
      showError(this.#trouble, why ?? '');
      if (why === null) this.#password.value = '';
    };
    this.element = h(
      'form',
      { class: 'new-password', novalidate: true, onsubmit },
      name && h('label', { class: 'field' }, h('span', {}, translate('account.name')), name),
      h('label', { class: 'field' }, h('span', {}, translate('account.password')), this.#password),
      invitation &&
        h('label', { class: 'field' }, h('span', {}, translate('account.invite')), invitation),
      h('button', { class: 'primary' }, says),
      this.#trouble,
    );
  }
}
