// Service worker: caches the page's files and serves them when the server cannot be reached.

/** Path of the files. The server inserts their version. */
const ROOT = '/web/';
/** All files. The build inserts their names. */
const FILES: string[] = KEPT_FILES;
/** The document that serves all addresses of the page. */
const PAGE = '/';

/** Addresses of the page. All other addresses need the server. */
const PAGE_PATHS = /^\/(?:(?:m|player)\/[^/.]+\/?|games|leaders|pair|you|setup)?$/;

const CACHE_NAME = `plyhouse ${ROOT}`;

const worker = globalThis as unknown as ServiceWorkerGlobalScope;

worker.addEventListener('install', (event) => {
  const cached = caches.open(CACHE_NAME);
  const urls = [PAGE, ...FILES.map((file) => ROOT + file)];
  event.waitUntil(cached.then((cache) => cache.addAll(urls)).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  const deletion = caches
    .keys()
    .then((names) => names.filter((name) => name.startsWith('plyhouse ') && name !== CACHE_NAME))
    .then((old) => Promise.all(old.map((name) => caches.delete(name))));
  event.waitUntil(deletion);
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const isPage = request.mode === 'navigate' && PAGE_PATHS.test(pathname);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (isPage || pathname.startsWith('/web/')) event.respondWith(respond(request, isPage));
});

async function respond(request: Request, isPage: boolean) {
  try {
    const response = await fetch(request);
    // A proxy may answer in place of a server that is down.
    if (response.status < 500) return response;
    return (await cachedResponse(request, isPage)) ?? response;
  } catch (error) {
    const response = await cachedResponse(request, isPage);
    if (!response) throw error;
    return response;
  }
}

async function cachedResponse(request: Request, isPage: boolean) {
  const cache = await caches.open(CACHE_NAME);
  return cache.match(isPage ? PAGE : request, { ignoreVary: true });
}
