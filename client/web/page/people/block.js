// Whom one does not want to meet: neither is paired with the other, nor hears what the other says.

import { h, write } from '../dom.js';
import { say } from '../language.js';

/** @import { Blocked, Person } from '../../protocol.js' */
/** @import { App } from '../main.js' */

/** Whom one has blocked; `null` if that cannot be told now. @param {App} app @returns {Promise<Blocked | null>} */
export const blocked = (app) => app.connection.ask({ type: 'block' }).catch(() => null);

/**
 * Blocks somebody, or no longer.
 * @param {App} app
 * @param {Person} person
 * @param {boolean} on
 * @returns {Promise<Blocked | null>} whom one has blocked then; `null` if it was refused
 */
export async function block(app, { player, name }, on) {
  /** @type {Blocked | null} */
  const answer = await app.ask({ type: 'block', player, on });
  if (answer) app.toast(say(on ? 'block.done' : 'block.undone', { name }));
  return answer;
}

/**
 * A button that blocks somebody, or no longer.
 * @param {App} app
 * @param {Person} person
 */
export function blockButton(app, person) {
  let isOn = false;
  const button = h('button', { type: 'button', class: 'quiet', hidden: true });
  const show = (/** @type {Blocked | null} */ answer) => {
    if (!answer) return;
    isOn = answer.players.some(({ id }) => id === person.player);
    write(button, say(isOn ? 'block.off' : 'block.on', { name: person.name }));
    button.title = isOn ? '' : say('block.about');
    button.hidden = false;
  };
  button.addEventListener('click', async () => show(await block(app, person, !isOn)));
  void blocked(app).then(show);
  return button;
}
