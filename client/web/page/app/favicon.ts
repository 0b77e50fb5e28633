// The icon of the tab, which marks that the player has to act.

/** Icon for browser notifications. */
export const APP_ICON_URL = new URL('icon-192.png', import.meta.url).href;
const IDLE_ICON_URL = new URL('icon.svg', import.meta.url).href;
const ALERT_ICON_URL = new URL('icon-calling.svg', import.meta.url).href;

export function setFavicon(isAlert: boolean) {
  const icon = document.querySelector('link[rel=icon]');
  const href = isAlert ? ALERT_ICON_URL : IDLE_ICON_URL;
  if (icon?.getAttribute('href') !== href) icon?.setAttribute('href', href);
}
