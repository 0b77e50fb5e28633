// The sign on the tab that somebody is waited for.

/** What stands for the house elsewhere. */
export const APP_ICON_URL = new URL('icon-192.png', import.meta.url).href;
const CALM = new URL('icon.svg', import.meta.url).href;
const CALLING = new URL('icon-calling.svg', import.meta.url).href;

/** @param isCalling whether the person is wanted */
export function setFavicon(isCalling: boolean) {
  const icon = document.querySelector('link[rel=icon]');
  const href = isCalling ? CALLING : CALM;
  if (icon?.getAttribute('href') !== href) icon?.setAttribute('href', href);
}
