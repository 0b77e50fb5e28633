// Whom one does not want to meet: neither is paired with the other, nor hears what the other says.

import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';

import type { Blocked, Person } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Whom one has blocked; `null` if that cannot be told now. */
export const blocked = (app: App): Promise<Blocked | null> =>
  app.connection.ask({ type: 'block' }).catch(() => null);

/**
 * Blocks somebody, or no longer.
 * @returns whom one has blocked then; `null` if it was refused
 */
export async function block(
  app: App,
  { player, name }: Person,
  on: boolean,
): Promise<Blocked | null> {
  const answer = await app.ask({ type: 'block', player, on });
  if (answer) app.toast(say(on ? 'block.done' : 'block.undone', { name }));
  return answer;
}

/** A button that blocks somebody, or no longer. */
export function blockButton(app: App, person: Person) {
  let isOn = false;
  const button = h('button', { type: 'button', class: 'quiet', hidden: true });
  const show = (answer: Blocked | null) => {
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
