// Tells outside of the page that it is our turn in a match by days, while the page is open and out of sight. Only
// where somebody has asked for it.

import { PICTURE } from '../app/badge.ts';
import { recall, remember } from '../ui/storage.ts';

/** Whether this browser could tell: most do for pages over https alone. */
export const canNotify = () => isSecureContext && 'Notification' in globalThis;

/** Whether it does. */
export const notifies = () =>
  canNotify() && Notification.permission === 'granted' && recall('notify') === 'on';

/** Whether the browser was told once to let nothing be told. */
export const isForbidden = () => canNotify() && Notification.permission === 'denied';

/**
 * Asks the browser's owner: to be called upon a click.
 * @returns whether it tells from now on
 */
export async function startNotifying(): Promise<boolean> {
  const isGranted = (await Notification.requestPermission()) === 'granted';
  remember('notify', isGranted ? 'on' : null);
  return isGranted;
}

export const stopNotifying = () => remember('notify', null);

/**
 * Tells it.
 * @param match one notice each: a later one takes the place of an earlier
 */
export function notify(match: string, title: string, body: string, go: () => void) {
  if (!notifies()) return;
  try {
    const notice = new Notification(title, { body, tag: match, icon: PICTURE });
    notice.onclick = () => {
      window.focus();
      notice.close();
      go();
    };
  } catch {
    // Some browsers of phones have it only for pages with a worker in the background.
  }
}
