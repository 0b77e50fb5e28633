// Connects to the local server in a worker, with the interface of a WebSocket.

import { saveOfflineGame, loadOfflineGames } from './offline-games.ts';
import { loadOfflineHistory } from './offline-history.ts';
import { getStored } from '../ui/storage.ts';
import { translate } from '../text/language.ts';
import { trustedScriptUrl } from '../ui/trusted-types.ts';

/** Close code of a connection that another tab has replaced. The server uses the same code. */
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
    this.#worker.onmessage = ({ data }) => this.#onMessage(data);
    this.#worker.onerror = () => {
      this.close();
      this.onclose?.({ code: 1006 });
    };
    const name = getStored('name') ?? translate('alone.you');
    this.#worker.postMessage({ name, history: loadOfflineHistory(), games: loadOfflineGames() });
  }

  send(text: string) {
    this.#worker.postMessage(JSON.parse(text));
  }

  close() {
    this.#isClosed = true;
    this.#release();
    this.#worker.terminate();
  }

  /**
   * Takes the lock of the newest tab, because two tabs would overwrite each other's stored games.
   */
  async #claim() {
    const untilRelease = () => new Promise<void>((resolve) => (this.#release = resolve));
    try {
      // Locks are missing in insecure contexts.
      await navigator.locks?.request('plyhouse.alone', { steal: true }, untilRelease);
    } catch {
      if (this.#isClosed) return;
      this.close();
      this.onclose?.({ code: CLOSE_CODE_REPLACED });
    }
  }

  #onMessage(message: any) {
    if (message === 'ready') this.onopen?.();
    // A worker has no `localStorage`.
    else if (message.type === 'save') saveOfflineGame(message.id, message.game);
    else this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** The part of `WebSocket` that the connection uses. */
export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send: (text: string) => void;
  close: () => void;
}
