// Which view an address opens.

import { decoded } from '../model/match-code.ts';
import { Later } from './lazy-view.ts';
import { Nowhere } from './not-found.ts';
import { loadLobby, loadRoom, lobbyIfThere, roomIfThere } from './chunks.ts';
import { wanted } from './lazy.ts';

import type { App, View } from './main.ts';
import type { LobbyPart, RoomPart } from './chunks.ts';

export function viewAt(app: App, path: string, wish: { watch?: boolean }): View {
  const code = /^\/m\/([^/]+)\/?$/.exec(path)?.[1];
  if (code) {
    const make = ({ Room }: RoomPart) => new Room(app, decoded(code), wish);
    const there = roomIfThere();
    return there ? make(there) : new Later(app, loadRoom(), make, 'room');
  }
  const name = /^\/player\/([^/]+)\/?$/.exec(path)?.[1];
  if (name) {
    return new Later(app, wanted(), ({ Profile }) => new Profile(app, decoded(name)));
  }
  switch (path) {
    case '/': {
      const make = ({ Lobby }: LobbyPart) => new Lobby(app);
      const there = lobbyIfThere();
      return there ? make(there) : new Later(app, loadLobby(), make);
    }
    case '/leaders':
      return new Later(app, wanted(), ({ Leaders }) => new Leaders(app));
    case '/setup':
      return new Later(app, wanted(), ({ SetUp }) => new SetUp(app));
    case '/you':
      return new Later(app, wanted(), ({ You }) => new You(app));
    case '/games':
      return new Later(app, wanted(), ({ Games }) => new Games(app));
    case '/pair': {
      const secret = takenFromAddress();
      return new Later(app, wanted(), ({ Arrival }) => new Arrival(app, secret));
    }
    default:
      return new Nowhere();
  }
}

/** What stands behind `#`, which is a secret: it stays neither in sight nor among the pages one has seen. */
function takenFromAddress() {
  const secret = decoded(location.hash.slice(1));
  history.replaceState(history.state, '', location.pathname);
  return secret;
}
