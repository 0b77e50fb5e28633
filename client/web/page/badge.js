// The sign on the tab that somebody is waited for.

const CALM = '/web/icon.svg';
const CALLING = '/web/icon-calling.svg';

/** @param {boolean} isCalling whether the person is wanted */
export function showBadge(isCalling) {
  const icon = document.querySelector('link[rel=icon]');
  const href = isCalling ? CALLING : CALM;
  if (icon?.getAttribute('href') !== href) icon?.setAttribute('href', href);
}
