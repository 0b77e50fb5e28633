// A proxy before the server that lets in whom it knows, and tells the server who that is.

import { once } from 'node:events';
import http from 'node:http';

/**
 * @param header in which it tells
 * @param name of whoever comes by it
 */
export async function startAuthProxy(server: string, header: string, name: string) {
  const target = new URL(server);
  const onward = ({ method, url, headers }: http.IncomingMessage) =>
    http.request({
      ...{ host: target.hostname, port: target.port, method, path: url },
      headers: { ...headers, [header]: name },
    });
  const front = http.createServer((request, response) => {
    const asked = onward(request);
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  });
  front.on('upgrade', (request, socket) => {
    const asked = onward(request);
    asked.on('upgrade', ({ statusMessage, headers }, behind) => {
      const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
      socket.write([`HTTP/1.1 101 ${statusMessage}`, ...lines, '', ''].join('\r\n'));
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ]) {
        one?.on('error', () => other?.destroy());
        if (other) one?.pipe(other);
      }
    });
    asked.on('error', () => socket.destroy());
    asked.end();
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const address = front.address();
  if (!address || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    end: () => {
      front.closeAllConnections();
      front.close();
    },
  };
}
