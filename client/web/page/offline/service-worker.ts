// Keeps the page for when no server is reached. While one is, everything comes from there: what never changes is
// in the browser's own cache anyway.

/** Where the files are; the server puts the version of all of them in. */
const ROOT = '/web/';
/** The files, by the page's build. */
const FILES: string[] = KEPT_FILES;
/** What is kept for any place of the page: which one it is the page reads from its address. */
const PAGE = '/';

/** Addresses of the page. All others are the server's alone: of them nothing is known without it. */
const PLACES = /^\/(?:(?:m|player)\/[^/.]+\/?|games|leaders|pair|you|setup)?$/;

const NAME = `plyhouse ${ROOT}`;

const worker = globalThis as unknown as ServiceWorkerGlobalScope;

worker.addEventListener('install', (event) => {
  const keeping = caches.open(NAME);
  const all = [PAGE, ...FILES.map((file) => ROOT + file)];
  event.waitUntil(keeping.then((cache) => cache.addAll(all)).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  const forgetting = caches
    .keys()
    .then((names) => names.filter((name) => name.startsWith('plyhouse ') && name !== NAME))
    .then((old) => Promise.all(old.map((name) => caches.delete(name))));
  event.waitUntil(forgetting);
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const isPage = request.mode === 'navigate' && PLACES.test(pathname);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (isPage || pathname.startsWith('/web/')) event.respondWith(answer(request, isPage));
});

async function answer(request: Request, isPage: boolean) {
  try {
    const response = await fetch(request);
    // A proxy answers for a server that is gone.
    if (response.status < 500) return response;
    return (await kept(request, isPage)) ?? response;
  } catch (error) {
    const response = await kept(request, isPage);
    if (!response) throw error;
    return response;
  }
}

async function kept(request: Request, isPage: boolean) {
  const cache = await caches.open(NAME);
  return cache.match(isPage ? PAGE : request, { ignoreVary: true });
}
