// How one becomes a player that there is: by a code from another device, or by a recovery key. Nobody gives up
// unasked who they are: a link may come from somebody else.

import { showError, replaceChildren, h } from '../ui/dom.ts';
import { markPlayerSaved } from '../actions/save-prompt.ts';
import { translateParts, translate } from '../text/language.ts';
import { countOngoingMatches } from './ongoing-matches.ts';
import { groupCharacters, parseSignInCode } from './sign-in-codes.ts';

import type { LoginCredentials } from '../net/connection.ts';
import type { App } from '../app/main.ts';

export class SignInPage {
  #app;
  #about = h('p', {}, translate('arrive.about'));
  #now = h('div', { class: 'now' });
  #field;
  #trouble = h('p', { id: 'arrive-trouble', class: 'trouble', role: 'alert' });
  #yes = h('button', { class: 'primary' }, translate('arrive.yes'));
  #login;
  #isByLink;
  /** Whether it was told who one is here, or that nobody tells: that comes above the form, and would move it. */
  #isSettled = false;
  #stay = h('a', { class: 'button', href: '/' }, translate('arrive.no'));
  #form;
  element;

  /** @param secret that the link had */
  constructor(app: App, secret: string) {
    this.#app = app;
    this.#login = login(app);
    const known = parseSignInCode(secret);
    this.#field = h('input', {
      id: 'arrive-secret',
      class: 'code',
      value: known ? groupCharacters('pair' in known ? known.pair : known.recovery, 4) : secret,
      ...{ autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' },
      'aria-describedby': 'arrive-trouble',
    });
    const onsubmit = (event: Event) => {
      event.preventDefault();
      void this.#become();
    };
    this.#form = h(
      'form',
      { novalidate: true, onsubmit },
      h('label', { class: 'field' }, h('span', {}, translate('arrive.field')), this.#field),
      this.#trouble,
      h('div', { class: 'row' }, this.#yes, this.#stay),
    );
    this.element = h(
      'div',
      { class: 'card arrival' },
      h('h1', {}, translate('arrive.title')),
      this.#about,
      this.#now,
      this.#form,
      this.#login,
    );
    // Whoever has followed a link has what they need.
    this.#isByLink = secret !== '';
  }

  title() {
    return `${translate('arrive.title')} – Plyhouse`;
  }

  update() {
    const { player, connection } = this.#app;
    const { usesProxyAuth: isByProxy } = connection;
    this.#login.hidden = isByProxy || this.#isByLink || connection.welcome?.accounts === undefined;
    this.#isSettled ||= connection.status.state !== 'connecting';
    this.#about.hidden = isByProxy;
    this.#form.hidden = isByProxy || !this.#isSettled;
    const isSomebody = player && connection.status.state !== 'ended';
    this.#stay.hidden = !isSomebody;
    if (!isSomebody) return replaceChildren(this.#now);
    const name = h('strong', {}, h('bdi', {}, player.name));
    const count = countOngoingMatches(this.#app);
    const who =
      count > 0
        ? translateParts('arrive.now', { name, count })
        : translateParts('arrive.now.free', { name });
    const told = h('p', {}, ...who);
    if (this.#now.firstElementChild?.textContent === told.textContent) return;
    const note = translate(isByProxy ? 'arrive.proxy' : 'arrive.lose');
    replaceChildren(this.#now, told, h('p', { class: 'note' }, note));
  }

  onWelcome() {}

  unmount() {}

  async #become() {
    const way = parseSignInCode(this.#field.value);
    showError(this.#trouble, way ? '' : translate('arrive.wrong'));
    if (!way) return this.#field.select();
    this.#yes.disabled = true;
    const why = await become(this.#app, way);
    this.#yes.disabled = false;
    showError(this.#trouble, why ?? '');
    if (why !== null) this.#field.select();
  }
}

/** By name and password. */
function login(app: App) {
  const name = h('input', { id: 'login-name', autocomplete: 'username' });
  const password = h('input', {
    id: 'login-password',
    type: 'password',
    autocomplete: 'current-password',
  });
  const trouble = h('p', { class: 'trouble', role: 'alert' });
  const onsubmit = async (event: Event) => {
    event.preventDefault();
    const way = { name: name.value.trim().normalize(), password: password.value.normalize() };
    const why = await become(app, way);
    showError(trouble, why ?? '');
    if (why !== null) password.select();
  };
  return h(
    'form',
    { class: 'login', novalidate: true, hidden: true, onsubmit },
    h('h2', {}, translate('login.title')),
    h('label', { class: 'field' }, h('span', {}, translate('account.name')), name),
    h('label', { class: 'field' }, h('span', {}, translate('login.password')), password),
    trouble,
    h('button', {}, translate('login.go')),
  );
}

/**
 * Becomes a player that there is, and goes to where one plays.
 * @returns why it cannot be, if it cannot
 */
async function become(app: App, way: LoginCredentials): Promise<string | null> {
  const why = await app.connection.logIn(way);
  if (why !== null) return why;
  markPlayerSaved(app);
  app.navigate('/');
  app.toast(translate('arrive.done', { name: app.player?.name ?? '' }));
  return null;
}
