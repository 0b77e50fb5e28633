// How one becomes a player that there is: by a code from another device, or by a recovery key. Nobody gives up
// unasked who they are: a link may come from somebody else.

import { complain, fill, h } from '../ui/dom.ts';
import { markKept } from '../actions/save-prompt.ts';
import { parts, say } from '../text/language.ts';
import { seats } from './seats.ts';
import { inGroups, secretIn } from './codes.ts';

import type { Way } from '../net/connection.ts';
import type { App } from '../app/main.ts';

export class Arrival {
  #app;
  #about = h('p', {}, say('arrive.about'));
  #now = h('div', { class: 'now' });
  #field;
  #trouble = h('p', { id: 'arrive-trouble', class: 'trouble', role: 'alert' });
  #yes = h('button', { class: 'primary' }, say('arrive.yes'));
  #login;
  #isByLink;
  /** Whether it was told who one is here, or that nobody tells: that comes above the form, and would move it. */
  #isSettled = false;
  #stay = h('a', { class: 'button', href: '/' }, say('arrive.no'));
  #form;
  element;

  /** @param secret that the link had */
  constructor(app: App, secret: string) {
    this.#app = app;
    this.#login = login(app);
    const known = secretIn(secret);
    this.#field = h('input', {
      id: 'arrive-secret',
      class: 'code',
      value: known ? inGroups('pair' in known ? known.pair : known.recovery, 4) : secret,
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
      h('label', { class: 'field' }, h('span', {}, say('arrive.field')), this.#field),
      this.#trouble,
      h('div', { class: 'row' }, this.#yes, this.#stay),
    );
    this.element = h(
      'div',
      { class: 'card arrival' },
      h('h1', {}, say('arrive.title')),
      this.#about,
      this.#now,
      this.#form,
      this.#login,
    );
    // Whoever has followed a link has what they need.
    this.#isByLink = secret !== '';
  }

  title() {
    return `${say('arrive.title')} – Plyhouse`;
  }

  update() {
    const { player, connection } = this.#app;
    const { isByProxy } = connection;
    this.#login.hidden = isByProxy || this.#isByLink || connection.welcome?.accounts === undefined;
    this.#isSettled ||= connection.link.state !== 'connecting';
    this.#about.hidden = isByProxy;
    this.#form.hidden = isByProxy || !this.#isSettled;
    const isSomebody = player && connection.link.state !== 'ended';
    this.#stay.hidden = !isSomebody;
    if (!isSomebody) return fill(this.#now);
    const name = h('strong', {}, h('bdi', {}, player.name));
    const count = seats(this.#app);
    const who =
      count > 0 ? parts('arrive.now', { name, count }) : parts('arrive.now.free', { name });
    const told = h('p', {}, ...who);
    if (this.#now.firstElementChild?.textContent === told.textContent) return;
    const note = say(isByProxy ? 'arrive.proxy' : 'arrive.lose');
    fill(this.#now, told, h('p', { class: 'note' }, note));
  }

  welcomed() {}

  leave() {}

  async #become() {
    const way = secretIn(this.#field.value);
    complain(this.#trouble, way ? '' : say('arrive.wrong'));
    if (!way) return this.#field.select();
    this.#yes.disabled = true;
    const why = await become(this.#app, way);
    this.#yes.disabled = false;
    complain(this.#trouble, why ?? '');
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
    complain(trouble, why ?? '');
    if (why !== null) password.select();
  };
  return h(
    'form',
    { class: 'login', novalidate: true, hidden: true, onsubmit },
    h('h2', {}, say('login.title')),
    h('label', { class: 'field' }, h('span', {}, say('account.name')), name),
    h('label', { class: 'field' }, h('span', {}, say('login.password')), password),
    trouble,
    h('button', {}, say('login.go')),
  );
}

/**
 * Becomes a player that there is, and goes to where one plays.
 * @returns why it cannot be, if it cannot
 */
async function become(app: App, way: Way): Promise<string | null> {
  const why = await app.connection.become(way);
  if (why !== null) return why;
  markKept(app);
  app.go('/');
  app.toast(say('arrive.done', { name: app.player?.name ?? '' }));
  return null;
}
