// Chooses the view for a path.

import { decodeUriOrKeep } from '../model/match-code.ts';
import { LazyView } from './lazy-view.ts';
import { NotFound } from './not-found.ts';
import { loadLobby, loadMatchPage, loadedLobby, loadedMatchPage } from './chunks.ts';
import { loadLazyBundle } from './load-lazy-bundle.ts';

import type { App, View } from './main.ts';
import type { LobbyChunk, MatchChunk } from './chunks.ts';
import type { LazyBundle } from './load-lazy-bundle.ts';

export function viewForPath(app: App, path: string, options: { watch?: boolean }): View {
  const code = /^\/m\/([^/]+)\/?$/.exec(path)?.[1];
  if (code) {
    const make = ({ MatchPage }: MatchChunk) => new MatchPage(app, decodeUriOrKeep(code), options);
    const loaded = loadedMatchPage();
    return loaded ? make(loaded) : new LazyView(app, loadMatchPage(), make, 'room');
  }
  const lazyView = (make: (bundle: LazyBundle) => View) =>
    new LazyView(app, loadLazyBundle(), make);
  const name = /^\/player\/([^/]+)\/?$/.exec(path)?.[1];
  if (name) return lazyView(({ Profile }) => new Profile(app, decodeUriOrKeep(name)));
  switch (path) {
    case '/': {
      const make = ({ Lobby }: LobbyChunk) => new Lobby(app);
      const loaded = loadedLobby();
      return loaded ? make(loaded) : new LazyView(app, loadLobby(), make);
    }
    case '/leaders':
      return lazyView(({ Leaderboard }) => new Leaderboard(app));
    case '/setup':
      return lazyView(({ EditorPage }) => new EditorPage(app));
    case '/you':
      return lazyView(({ AccountPage }) => new AccountPage(app));
    case '/games':
      return lazyView(({ GameHistoryPage }) => new GameHistoryPage(app));
    case '/pair': {
      const secret = takeSecretFromHash();
      return lazyView(({ SignInPage }) => new SignInPage(app, secret));
    }
    default:
      return new NotFound();
  }
}

/** Reads the secret in the hash and removes it from the address and the history. */
function takeSecretFromHash() {
  const secret = decodeUriOrKeep(location.hash.slice(1));
  history.replaceState(history.state, '', location.pathname);
  return secret;
}
