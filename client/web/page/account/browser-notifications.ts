// Browser notifications for the player's turn in correspondence matches. Each player turns them on.

import { APP_ICON_URL } from '../app/favicon.ts';
import { getStored, setStored } from '../ui/storage.ts';

/** Whether the browser supports notifications. Most browsers require HTTPS. */
export const canNotify = () => isSecureContext && 'Notification' in globalThis;

export const isNotificationEnabled = () =>
  canNotify() && Notification.permission === 'granted' && getStored('notify') === 'on';

export const isNotificationDenied = () => canNotify() && Notification.permission === 'denied';

/**
 * Asks the user for permission. Browsers require that a click causes the call.
 * @returns whether notifications are on now
 */
export async function enableNotifications(): Promise<boolean> {
  const isGranted = (await Notification.requestPermission()) === 'granted';
  setStored('notify', isGranted ? 'on' : null);
  return isGranted;
}

export const disableNotifications = () => setStored('notify', null);

/** A later notification of a match replaces an earlier one. */
export function showNotification(match: string, title: string, body: string, onClick: () => void) {
  if (!isNotificationEnabled()) return;
  try {
    const notification = new Notification(title, { body, tag: match, icon: APP_ICON_URL });
    notification.onclick = () => {
      window.focus();
      notification.close();
      onClick();
    };
  } catch {
    // Some mobile browsers only allow notifications from a service worker.
  }
}
