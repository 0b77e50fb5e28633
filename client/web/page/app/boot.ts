// What is settled before anything is drawn: the language, light or dark, and how boards and pieces are drawn. A
// script of the old kind, so that the page is never seen in another look first.

{
  const kept = (key: string, otherwise: string) => {
    try {
      return localStorage.getItem(`plyhouse.${key}`) ?? otherwise;
    } catch {
      return otherwise;
    }
  };
  const root = document.documentElement;
  root.dataset.theme = kept('theme', 'system');
  root.dataset.board = kept('board', 'sea');
  root.dataset.pieces = kept('pieces', 'carved');
  root.dataset.notation = kept('notation', 'letters');

  /** Every language that the page speaks: how it is tagged, and in which direction it runs. */
  const spoken = new Map([
    ['de', ['de', 'ltr']],
    ['en', ['en', 'ltr']],
    ['es', ['es', 'ltr']],
    ['fr', ['fr', 'ltr']],
    ['ja', ['ja', 'ltr']],
    ['pt', ['pt-BR', 'ltr']],
    ['zh', ['zh-Hans', 'ltr']],
  ]);
  const wished = [kept('language', ''), ...navigator.languages];
  const bases = wished.map((tag) => tag.toLowerCase().split(/[^a-z]/)[0] ?? '');
  const code = bases.find((base) => spoken.has(base)) ?? 'en';
  const [lang = 'en', dir = 'ltr'] = spoken.get(code) ?? [];
  Object.assign(root, { lang, dir });
  root.dataset.language = code;
  // Where the page itself does not come, or fails as it comes, that is told in its place.
  const fails = ({ target }: Event) => {
    const isOurs = target === window || target instanceof HTMLScriptElement;
    if (isOurs && document.querySelector('.unloaded')) root.classList.add('is-unloaded');
  };
  addEventListener('error', fails, true);
  // The modules wait for it: it comes with them, and not after them.
  const { src } = document.currentScript as HTMLScriptElement;
  const soon = (path: string) => {
    const link = document.createElement('link');
    document.head.append(
      Object.assign(link, { rel: 'modulepreload', href: new URL(path, src).href }),
    );
  };
  soon(`locales/initial/${code}.js`);
  // Whoever comes by the link to a match wants the board before all. Its place is laid out from the beginning, so that
  // nothing moves when it comes.
  if (location.pathname.startsWith('/m/')) {
    soon('match.js');
    root.classList.add('at-match');
    const parsed = new MutationObserver(() => {
      const place = document.querySelector('main > .empty');
      place?.classList.add('room');
      if (place) parsed.disconnect();
    });
    parsed.observe(root, { childList: true, subtree: true });
  }
  if (location.pathname === '/') soon('lobby.js');
  // Who speaks over it comes later: on a slow line the way there and back is not waited for once more.
  if (/^\/(m\/|$)/.test(location.pathname)) {
    const server = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    Object.assign(globalThis, { earlySocket: new WebSocket(server, 'plyhouse.v1') });
  }
}
