// Page to sign in by a pairing code, a recovery key or a password. A link only fills in the form,
// because a stranger may have sent it.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from './guest-save-reminder.ts';
import { translateParts, translate } from '../text/language.ts';
import { countOngoingMatches } from './count-ongoing-matches.ts';
import { groupCharacters, parseSignInCode } from './parse-sign-in-code.ts';

import type { LoginCredentials } from '../net/connection.ts';
import type { App } from '../app/main.ts';

export class SignInPage {
  #app;
  #about = h('p', {}, translate('arrive.about'));
  #currentPlayer = h('div', { class: 'now' });
  #codeField;
  #error = h('p', { id: 'arrive-trouble', class: 'trouble', role: 'alert' });
  #submitButton = h('button', { class: 'primary' }, translate('arrive.yes'));
  #loginForm;
  #hasLink;
  /** Whether the connection attempt is over. Until then the text above the form may change. */
  #isSettled = false;
  #cancelLink = h('a', { class: 'button', href: '/' }, translate('arrive.no'));
  #form;
  element;

  /** @param secret the code or key in the link, or empty */
  constructor(app: App, secret: string) {
    this.#app = app;
    this.#loginForm = loginForm(app);
    const parsed = parseSignInCode(secret);
    this.#codeField = h('input', {
      id: 'arrive-secret',
      class: 'code',
      value: parsed ? groupCharacters('pair' in parsed ? parsed.pair : parsed.recovery, 4) : secret,
      ...{ autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' },
      'aria-describedby': 'arrive-trouble',
    });
    const onsubmit = (event: Event) => {
      event.preventDefault();
      void this.#submitCode();
    };
    this.#form = h(
      'form',
      { novalidate: true, onsubmit },
      h('label', { class: 'field' }, h('span', {}, translate('arrive.field')), this.#codeField),
      this.#error,
      h('div', { class: 'row' }, this.#submitButton, this.#cancelLink),
    );
    this.element = h(
      'div',
      { class: 'card arrival' },
      h('h1', {}, translate('arrive.title')),
      this.#about,
      this.#currentPlayer,
      this.#form,
      this.#loginForm,
    );
    // Users who followed a link need no login form.
    this.#hasLink = secret !== '';
  }

  title() {
    return `${translate('arrive.title')} – Plyhouse`;
  }

  update() {
    const { player, connection } = this.#app;
    const { usesProxyAuth } = connection;
    this.#loginForm.hidden =
      usesProxyAuth || this.#hasLink || connection.welcome?.accounts === undefined;
    this.#isSettled ||= connection.status.state !== 'connecting';
    this.#about.hidden = usesProxyAuth;
    this.#form.hidden = usesProxyAuth || !this.#isSettled;
    const isSignedIn = player && connection.status.state !== 'ended';
    this.#cancelLink.hidden = !isSignedIn;
    if (!isSignedIn) return replaceChildren(this.#currentPlayer);
    const name = h('strong', {}, h('bdi', {}, player.name));
    const count = countOngoingMatches(this.#app);
    const sentence =
      count > 0
        ? translateParts('arrive.now', { name, count })
        : translateParts('arrive.now.free', { name });
    const line = h('p', {}, ...sentence);
    if (this.#currentPlayer.firstElementChild?.textContent === line.textContent) return;
    const note = translate(usesProxyAuth ? 'arrive.proxy' : 'arrive.lose');
    replaceChildren(this.#currentPlayer, line, h('p', { class: 'note' }, note));
  }

  async #submitCode() {
    const credentials = parseSignInCode(this.#codeField.value);
    showError(this.#error, credentials ? '' : translate('arrive.wrong'));
    if (!credentials) return this.#codeField.select();
    this.#submitButton.disabled = true;
    const error = await signIn(this.#app, credentials);
    this.#submitButton.disabled = false;
    showError(this.#error, error ?? '');
    if (error !== null) this.#codeField.select();
  }
}

function loginForm(app: App) {
  const name = h('input', { id: 'login-name', autocomplete: 'username' });
  const password = h('input', {
    id: 'login-password',
    type: 'password',
    autocomplete: 'current-password',
  });
  const errorLine = h('p', { class: 'trouble', role: 'alert' });
  const onsubmit = async (event: Event) => {
    event.preventDefault();
    const credentials = {
      name: name.value.trim().normalize(),
      password: password.value.normalize(),
    };
    const error = await signIn(app, credentials);
    showError(errorLine, error ?? '');
    if (error !== null) password.select();
  };
  return h(
    'form',
    { class: 'login', novalidate: true, hidden: true, onsubmit },
    h('h2', {}, translate('login.title')),
    h('label', { class: 'field' }, h('span', {}, translate('account.name')), name),
    h('label', { class: 'field' }, h('span', {}, translate('login.password')), password),
    errorLine,
    h('button', {}, translate('login.go')),
  );
}

/**
 * Signs in, and opens the lobby.
 * @returns an error text; `null` on success
 */
async function signIn(app: App, credentials: LoginCredentials): Promise<string | null> {
  const error = await app.connection.logIn(credentials);
  if (error !== null) return error;
  markPlayerSaved(app);
  app.navigate('/');
  app.toast(translate('arrive.done', { name: app.player?.name ?? '' }));
  return null;
}
