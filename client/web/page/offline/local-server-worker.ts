// Worker that runs the local server: it receives requests and posts messages of the protocol. The
// first message that it receives is the stored data.

import { Engine } from './engine.ts';
import { LocalServer } from './local-server.ts';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

const engine = Engine.load(fetch(new URL('engine.wasm', import.meta.url)));

scope.onmessage = async ({ data: stored }: { data: any }) => {
  const server = new LocalServer(await engine, stored, {
    send: (message) => scope.postMessage(message),
    saveGame: (id, game) => scope.postMessage({ type: 'save', id, game }),
  });
  scope.onmessage = ({ data }) => server.onRequest(data);
  scope.postMessage('ready');
};
