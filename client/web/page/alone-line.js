// A line to what stands in for the server: to the connection it looks like a socket.

import { keepAlone, keptAlone } from './keeping-alone.js';
import { keptPast } from './keeping-past.js';
import { recall } from './keep.js';
import { say } from './language.js';
import { trusted } from './trusted.js';

/** How a line is closed that goes on elsewhere, by the server, too. */
export const REPLACED = 4001;

/** @implements {Line} */
export class AloneLine {
  /** @type {(() => void) | null} */
  onopen = null;
  /** @type {((event: { data: string }) => void) | null} */
  onmessage = null;
  /** @type {((event: { code: number }) => void) | null} */
  onclose = null;
  #worker;
  #isClosed = false;
  #release = () => {};

  constructor() {
    void this.#claim();
    const url = new URL('alone.js', import.meta.url);
    this.#worker = new Worker(trusted(url), { type: 'module' });
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = () => {
      this.close();
      this.onclose?.({ code: 1006 });
    };
    const name = recall('name') ?? say('alone.you');
    this.#worker.postMessage({ name, kept: keptPast(), played: keptAlone() });
  }

  /** @param {string} text */
  send(text) {
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
      this.onclose?.({ code: REPLACED });
    }
  }

  /** @param {any} told */
  #hear(told) {
    if (told === 'ready') this.onopen?.();
    // A worker keeps nothing itself.
    else if (told.type === 'keep') keepAlone(told.id, told.played);
    else this.onmessage?.({ data: JSON.stringify(told) });
  }
}

/**
 * What a connection needs of a socket.
 * @typedef {object} Line
 * @property {(() => void) | null} onopen
 * @property {((event: { data: string }) => void) | null} onmessage
 * @property {((event: { code: number }) => void) | null} onclose
 * @property {(text: string) => void} send
 * @property {() => void} close
 */
