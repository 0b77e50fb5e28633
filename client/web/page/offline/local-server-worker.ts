// A worker of the page: what it is sent is requests, what it sends are messages, as over a connection to a server.
// The first thing that it is sent is what is known from before.

import { Engine } from './engine.ts';
import { LocalServer } from './local-server.ts';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

const engine = Engine.load(fetch(new URL('engine.wasm', import.meta.url)));

scope.onmessage = async ({ data: known }: { data: any }) => {
  const house = new LocalServer(await engine, known, {
    send: (message) => scope.postMessage(message),
    saveGame: (id, played) => scope.postMessage({ type: 'keep', id, played }),
  });
  scope.onmessage = ({ data }) => house.onRequest(data);
  scope.postMessage('ready');
};
