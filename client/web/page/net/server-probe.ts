// Whether the server is there again, while one plays without it: asked for quietly, and ever more seldom.

/** So long until it is asked for again: twice as long after each time … */
const FIRST_MS = 2000;
/** … and no longer than this. */
const LONGEST_MS = 60_000;
/** A server that takes longer is not there. */
const PATIENCE_MS = 5000;
/** It is asked whether clients are to be sent there. */
const ADDRESS = '/readyz';

export class ServerProbe {
  /** Whether it was there when it was asked for last. */
  isReachable = false;
  #found;
  #after = FIRST_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param found the server has been found */
  constructor(found: () => void) {
    this.#found = found;
  }

  start() {
    this.stop();
    this.#after = FIRST_MS;
    this.#wait();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isReachable = false;
  }

  /** Asks at once, if it is asked for at all. */
  probeNow() {
    if (this.#timer === undefined || this.isReachable) return;
    clearTimeout(this.#timer);
    void this.#ask();
  }

  #wait() {
    // Not everybody at the same instant, when a server comes back.
    const after = this.#after * (0.75 + Math.random() / 2);
    this.#after = Math.min(2 * this.#after, LONGEST_MS);
    this.#timer = setTimeout(() => void this.#ask(), after);
  }

  async #ask() {
    const asked = this.#timer;
    // Whoever does not look asks when they do.
    const isThere = !document.hidden && (await isServerReachable());
    if (this.#timer !== asked) return;
    if (!isThere) return this.#wait();
    this.isReachable = true;
    this.#found();
  }
}

/** Asks once. */
export async function isServerReachable() {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { ok } = await fetch(ADDRESS, { cache: 'no-store', signal });
    return ok;
  } catch {
    return false;
  }
}
