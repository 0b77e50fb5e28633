// Whom one does not want to meet: neither is paired with the other, nor hears what the other says.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { BlockList, NamedPlayer } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Whom one has blocked; `null` if that cannot be told now. */
export const fetchBlockedPlayers = (app: App): Promise<BlockList | null> =>
  app.connection.request({ type: 'block' }).catch(() => null);

/**
 * Blocks somebody, or no longer.
 * @returns whom one has blocked then; `null` if it was refused
 */
export async function setBlocked(
  app: App,
  { player, name }: NamedPlayer,
  on: boolean,
): Promise<BlockList | null> {
  const answer = await app.request({ type: 'block', player, on });
  if (answer) app.toast(translate(on ? 'block.done' : 'block.undone', { name }));
  return answer;
}

/** A button that blocks somebody, or no longer. */
export function blockButton(app: App, person: NamedPlayer) {
  let isOn = false;
  const button = h('button', { type: 'button', class: 'quiet', hidden: true });
  const show = (answer: BlockList | null) => {
    if (!answer) return;
    isOn = answer.players.some(({ id }) => id === person.player);
    setText(button, translate(isOn ? 'block.off' : 'block.on', { name: person.name }));
    button.title = isOn ? '' : translate('block.about');
    button.hidden = false;
  };
  button.addEventListener('click', async () => show(await setBlocked(app, person, !isOn)));
  void fetchBlockedPlayers(app).then(show);
  return button;
}
