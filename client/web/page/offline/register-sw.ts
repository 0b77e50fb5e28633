// Registers the service worker, so that the page opens offline.

import { trustedScriptUrl } from '../ui/trusted-types.ts';

let isRegistered = false;

/** Registers it once, when the browser is idle. */
export function registerServiceWorker() {
  if (isRegistered || !('serviceWorker' in navigator)) return;
  isRegistered = true;
  const whenIdle = window.requestIdleCallback ?? setTimeout;
  whenIdle(() => {
    const url = trustedScriptUrl(new URL('/service-worker.js', location.href));
    // Without storage permission, the page is available online only.
    navigator.serviceWorker.register(url).catch(() => {});
  });
}
