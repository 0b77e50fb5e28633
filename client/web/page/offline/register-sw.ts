// Keeps the page in the browser, so that it opens where no server is reached.

import { trustedScriptUrl } from '../ui/trusted-types.ts';

let isDone = false;

/** Once a page, and once there is nothing better to do. */
export function registerServiceWorker() {
  if (isDone || !('serviceWorker' in navigator)) return;
  isDone = true;
  const soon = window.requestIdleCallback ?? setTimeout;
  soon(() => {
    const url = trustedScriptUrl(new URL('/service-worker.js', location.href));
    // Where it may keep nothing, the page is had from the server alone.
    navigator.serviceWorker.register(url).catch(() => {});
  });
}
