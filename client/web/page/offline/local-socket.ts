// A line to what stands in for the server: to the connection it looks like a socket.

import { saveOfflineGame, loadOfflineGames } from './offline-games.ts';
import { loadOfflineHistory } from './offline-history.ts';
import { getStored } from '../ui/storage.ts';
import { translate } from '../text/language.ts';
import { trustedScriptUrl } from '../ui/trusted-types.ts';

/** How a line is closed that goes on elsewhere, by the server, too. */
export const CLOSE_CODE_REPLACED = 4001;

export class LocalSocket implements SocketLike {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  #worker;
  #isClosed = false;
  #release = () => {};

  constructor() {
    void this.#claim();
    const url = new URL('offline.js', import.meta.url);
    this.#worker = new Worker(trustedScriptUrl(url), { type: 'module' });
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = () => {
      this.close();
      this.onclose?.({ code: 1006 });
    };
    const name = getStored('name') ?? translate('alone.you');
    this.#worker.postMessage({ name, kept: loadOfflineHistory(), played: loadOfflineGames() });
  }

  send(text: string) {
    this.#worker.postMessage(JSON.parse(text));
  }

  /** What was played is kept, and gone on with over the next line. */
  close() {
    this.#isClosed = true;
    this.#release();
    this.#worker.terminate();
  }

  /** The tab that has come last plays: where two did, each would keep its games over the other's. */
  async #claim() {
    const held = () => new Promise((done) => (this.#release = () => done(null)));
    try {
      // A browser has no locks for pages that come unencrypted from elsewhere.
      await navigator.locks?.request('plyhouse.alone', { steal: true }, held);
    } catch {
      if (this.#isClosed) return;
      this.close();
      this.onclose?.({ code: CLOSE_CODE_REPLACED });
    }
  }

  #hear(told: any) {
    if (told === 'ready') this.onopen?.();
    // A worker keeps nothing itself.
    else if (told.type === 'keep') saveOfflineGame(told.id, told.played);
    else this.onmessage?.({ data: JSON.stringify(told) });
  }
}

/** What a connection needs of a socket. */
export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send: (text: string) => void;
  close: () => void;
}
