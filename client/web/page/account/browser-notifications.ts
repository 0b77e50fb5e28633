// Tells outside of the page that it is our turn in a match by days, while the page is open and out of sight. Only
// where somebody has asked for it.

import { APP_ICON_URL } from '../app/favicon.ts';
import { getStored, setStored } from '../ui/storage.ts';

/** Whether this browser could tell: most do for pages over https alone. */
export const canNotify = () => isSecureContext && 'Notification' in globalThis;

/** Whether it does. */
export const isNotificationEnabled = () =>
  canNotify() && Notification.permission === 'granted' && getStored('notify') === 'on';

/** Whether the browser was told once to let nothing be told. */
export const isNotificationDenied = () => canNotify() && Notification.permission === 'denied';

/**
 * Asks the browser's owner: to be called upon a click.
 * @returns whether it tells from now on
 */
export async function enableNotifications(): Promise<boolean> {
  const isGranted = (await Notification.requestPermission()) === 'granted';
  setStored('notify', isGranted ? 'on' : null);
  return isGranted;
}

export const disableNotifications = () => setStored('notify', null);

/**
 * Tells it.
 * @param match one notice each: a later one takes the place of an earlier
 */
export function showNotification(match: string, title: string, body: string, go: () => void) {
  if (!isNotificationEnabled()) return;
  try {
    const notice = new Notification(title, { body, tag: match, icon: APP_ICON_URL });
    notice.onclick = () => {
      window.focus();
      notice.close();
      go();
    };
  } catch {
    // Some browsers of phones have it only for pages with a worker in the background.
  }
}
