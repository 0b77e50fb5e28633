// A reverse proxy that authenticates every user as the same player, for tests of proxy
// authentication.

import { once } from 'node:events';
import http from 'node:http';

/** Starts a proxy that adds the header `header` with the value `name` to every request. */
export async function startAuthProxy(server: string, header: string, name: string) {
  const target = new URL(server);
  const forward = ({ method, url, headers }: http.IncomingMessage) =>
    http.request({
      ...{ host: target.hostname, port: target.port, method, path: url },
      headers: { ...headers, [header]: name },
    });
  const proxy = http.createServer((request, response) => {
    const forwarded = forward(request);
    forwarded.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  proxy.on('upgrade', (request, socket) => {
    const forwarded = forward(request);
    forwarded.on('upgrade', ({ statusMessage, headers }, serverSocket) => {
      const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
      socket.write([`HTTP/1.1 101 ${statusMessage}`, ...lines, '', ''].join('\r\n'));
      for (const [source, sink] of [
        [socket, serverSocket],
        [serverSocket, socket],
      ]) {
        source?.on('error', () => sink?.destroy());
        if (sink) source?.pipe(sink);
      }
    });
    forwarded.on('error', () => socket.destroy());
    forwarded.end();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (!address || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    end: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
