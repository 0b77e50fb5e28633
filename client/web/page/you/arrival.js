// How one becomes a player that there is: by a code from another device, or by a recovery key. Nobody gives up
// unasked who they are: a link may come from somebody else.

import { fill, h, write } from '../dom.js';
import { markKept } from '../keeping.js';
import { parts, say } from '../language.js';
import { seats } from './seats.js';
import { inGroups, secretIn } from './secrets.js';

/** @import { App } from '../main.js' */

export class Arrival {
  #app;
  #now = h('div', { class: 'now' });
  #field;
  #trouble = h('p', { id: 'arrive-trouble', class: 'trouble', role: 'alert' });
  #yes = h('button', { class: 'primary' }, say('arrive.yes'));
  #stay = h('a', { class: 'button', href: '/' }, say('arrive.no'));
  element;

  /** @param {App} app @param {string} secret that the link had */
  constructor(app, secret) {
    this.#app = app;
    const known = secretIn(secret);
    this.#field = h('input', {
      id: 'arrive-secret',
      class: 'code',
      value: known ? inGroups('pair' in known ? known.pair : known.recovery, 4) : secret,
      ...{ autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' },
      'aria-describedby': 'arrive-trouble',
    });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.#become();
    };
    this.element = h(
      'form',
      { class: 'card arrival', novalidate: true, onsubmit },
      h('h1', {}, say('arrive.title')),
      h('p', {}, say('arrive.about')),
      this.#now,
      h('label', { class: 'field' }, h('span', {}, say('arrive.field')), this.#field),
      this.#trouble,
      h('div', { class: 'row' }, this.#yes, this.#stay),
    );
  }

  title() {
    return `${say('arrive.title')} – Plyhouse`;
  }

  update() {
    const { player, connection } = this.#app;
    const isSomebody = player && connection.link.state !== 'ended';
    this.#stay.hidden = !isSomebody;
    if (!isSomebody) return fill(this.#now);
    const name = h('strong', {}, h('bdi', {}, player.name));
    const count = seats(this.#app);
    const who =
      count > 0 ? parts('arrive.now', { name, count }) : parts('arrive.now.free', { name });
    const told = h('p', {}, ...who);
    if (this.#now.firstElementChild?.textContent === told.textContent) return;
    fill(this.#now, told, h('p', { class: 'note' }, say('arrive.lose')));
  }

  welcomed() {}

  leave() {}

  async #become() {
    const way = secretIn(this.#field.value);
    write(this.#trouble, way ? '' : say('arrive.wrong'));
    if (!way) return this.#field.select();
    this.#yes.disabled = true;
    const why = await this.#app.connection.become(way);
    this.#yes.disabled = false;
    write(this.#trouble, why ?? '');
    if (why !== null) return this.#field.select();
    this.#field.value = '';
    markKept(this.#app);
    this.#app.go('/');
    this.#app.toast(say('arrive.done', { name: this.#app.player?.name ?? '' }));
  }
}
