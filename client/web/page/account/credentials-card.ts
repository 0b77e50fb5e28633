// Card to sign up with a name and a password, or to change the password of an account.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from './guest-save-reminder.ts';
import { translate } from '../text/language.ts';
import { requestWithReauth } from './reauthenticate.ts';
import { awaitErrorText } from '../net/errors.ts';

import type { App } from '../app/main.ts';

/** The server's limits on the length of a password, in bytes. */
const PASSWORD_BYTES = { least: 10, most: 200 };
/** Names that the server generates for guests. */
const GUEST_NAME = /^guest-/;

export class CredentialsCard {
  #app;
  /** `account`, `guest-` with the sign-up policy, or empty for a hidden card. */
  #state: string | undefined;
  element = h('section', { class: 'card account', 'aria-labelledby': 'account-title' });

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    const { player, connection } = this.#app;
    const { accounts } = connection.welcome ?? {};
    const accountState = connection.usesProxyAuth ? '' : 'account';
    const guestState = accounts === undefined ? '' : `guest-${accounts}`;
    const state = player?.account ? accountState : guestState;
    if (this.#state === state) return;
    this.#state = state;
    this.element.hidden = state === '';
    if (state === 'account') replaceChildren(this.element, ...this.#passwordParts());
    else if (state !== '')
      replaceChildren(this.element, ...this.#signUpParts(accounts === 'invite'));
  }

  #signUpParts(needsInvitation: boolean) {
    const currentName = this.#app.player?.name ?? '';
    const name = h('input', {
      id: 'account-name',
      autocomplete: 'username',
      value: GUEST_NAME.test(currentName) ? '' : currentName,
    });
    const invitation = needsInvitation ? h('input', { id: 'invite', autocomplete: 'off' }) : null;
    const form = new PasswordForm(
      [name, invitation],
      translate('account.sign'),
      async (password) => {
        const newName = name.value.trim().normalize();
        const invite = invitation?.value.trim();
        const reply = this.#app.connection.request({
          ...{ type: 'register', name: newName, password },
          ...(invite ? { invite } : {}),
        });
        const error = await awaitErrorText(reply);
        if (error !== null) return error;
        markPlayerSaved(this.#app);
        this.#app.toast(translate('account.done', { name: this.#app.player?.name ?? newName }));
        return null;
      },
    );
    return [
      h('h2', { id: 'account-title' }, translate('account.title')),
      h('p', { class: 'note' }, translate('account.about')),
      form.element,
    ];
  }

  #passwordParts() {
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

/** Form for a new password, and for the name and the invitation when signing up. */
class PasswordForm {
  #password = h('input', {
    id: 'account-password',
    type: 'password',
    autocomplete: 'new-password',
    'aria-describedby': 'account-trouble',
  });
  #error = h('p', { id: 'account-trouble', class: 'trouble', role: 'alert' });
  element;

  /**
   * @param fields the inputs for the name and the invitation
   * @param send returns an error text, `''` if it was shown elsewhere, or `null` on success
   */
  constructor(
    [name = null, invitation = null]: (HTMLInputElement | null)[],
    buttonText: string,
    send: (password: string) => Promise<string | null>,
  ) {
    const onsubmit = async (event: Event) => {
      event.preventDefault();
      const password = this.#password.value.normalize();
      const { length } = new TextEncoder().encode(password);
      const isValid = length >= PASSWORD_BYTES.least && length <= PASSWORD_BYTES.most;
      if (!isValid) return showError(this.#error, translate('account.bounds', PASSWORD_BYTES));
      const error = await send(password);
      showError(this.#error, error ?? '');
      if (error === null) this.#password.value = '';
    };
    this.element = h(
      'form',
      { class: 'new-password', novalidate: true, onsubmit },
      name && h('label', { class: 'field' }, h('span', {}, translate('account.name')), name),
      h('label', { class: 'field' }, h('span', {}, translate('account.password')), this.#password),
      invitation &&
        h('label', { class: 'field' }, h('span', {}, translate('account.invite')), invitation),
      h('button', { class: 'primary' }, buttonText),
      this.#error,
    );
  }
}
