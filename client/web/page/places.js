// Which view an address opens.

import { decoded } from './code.js';
import { Later } from './later.js';
import { Lobby } from './lobby.js';
import { Nowhere } from './nowhere.js';
import { Room } from './room.js';

/** @import { App, View } from './main.js' */

/** @param {App} app @param {string} path @param {{ watch?: boolean }} wish @returns {View} */
export function viewAt(app, path, wish) {
  const code = /^\/m\/([^/]+)\/?$/.exec(path)?.[1];
  if (code) return new Room(app, decoded(code), wish);
  const name = /^\/player\/([^/]+)\/?$/.exec(path)?.[1];
  if (name) {
    const module = import('./people/profile.js');
    return new Later(app, module, ({ Profile }) => new Profile(app, decoded(name)));
  }
  switch (path) {
    case '/':
      return new Lobby(app);
    case '/leaders':
      return new Later(app, import('./people/leaders.js'), ({ Leaders }) => new Leaders(app));
    case '/you':
      return new Later(app, import('./you/you.js'), ({ You }) => new You(app));
    case '/games':
      return new Later(app, import('./you/games.js'), ({ Games }) => new Games(app));
    case '/pair': {
      const secret = takenFromAddress();
      const module = import('./you/arrival.js');
      return new Later(app, module, ({ Arrival }) => new Arrival(app, secret));
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
