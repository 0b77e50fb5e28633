// Sets the language, the theme and the appearance of boards before the first paint. It is a classic
// script, because modules run too late for that.

{
  const stored = (key: string, fallback: string) => {
    try {
      return localStorage.getItem(`plyhouse.${key}`) ?? fallback;
    } catch {
      return fallback;
    }
  };
  const root = document.documentElement;
  root.dataset.theme = stored('theme', 'system');
  root.dataset.board = stored('board', 'sea');
  root.dataset.pieces = stored('pieces', 'carved');
  root.dataset.notation = stored('notation', 'letters');

  /** The language tag and the text direction of each language of the page. */
  const languages = new Map([
    ['de', ['de', 'ltr']],
    ['en', ['en', 'ltr']],
    ['es', ['es', 'ltr']],
    ['fr', ['fr', 'ltr']],
    ['ja', ['ja', 'ltr']],
    ['pt', ['pt-BR', 'ltr']],
    ['zh', ['zh-Hans', 'ltr']],
  ]);
  const preferred = [stored('language', ''), ...navigator.languages];
  const codes = preferred.map((tag) => tag.toLowerCase().split(/[^a-z]/)[0] ?? '');
  const code = codes.find((candidate) => languages.has(candidate)) ?? 'en';
  const [lang = 'en', dir = 'ltr'] = languages.get(code) ?? [];
  Object.assign(root, { lang, dir });
  root.dataset.language = code;
  // If a script cannot be loaded or throws, the page shows a message instead of its content.
  const onError = ({ target }: Event) => {
    const isOurs = target === window || target instanceof HTMLScriptElement;
    if (isOurs && document.querySelector('.unloaded')) root.classList.add('is-unloaded');
  };
  addEventListener('error', onError, true);
  // Modules that the page needs at once are requested together with `main.js`.
  const { src } = document.currentScript as HTMLScriptElement;
  const preload = (path: string) => {
    const link = document.createElement('link');
    document.head.append(
      Object.assign(link, { rel: 'modulepreload', href: new URL(path, src).href }),
    );
  };
  preload(`locales/initial/${code}.js`);
  // The layout of a match applies before the board is loaded, so that nothing moves.
  if (location.pathname.startsWith('/m/')) {
    preload('match.js');
    root.classList.add('at-match');
    const observer = new MutationObserver(() => {
      const place = document.querySelector('main > .empty');
      place?.classList.add('room');
      if (place) observer.disconnect();
    });
    observer.observe(root, { childList: true, subtree: true });
  }
  if (location.pathname === '/') preload('lobby.js');
  // Opening the connection before the modules are loaded saves a round trip.
  if (/^\/(m\/|$)/.test(location.pathname)) {
    const server = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    Object.assign(globalThis, { earlySocket: new WebSocket(server, 'plyhouse.v1') });
  }
}
