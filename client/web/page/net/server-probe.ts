// Checks during offline play, at growing intervals, whether the server can be reached again.

/** First interval. It doubles after each check. */
const FIRST_INTERVAL_MS = 2000;
const INTERVAL_MAX_MS = 60_000;
const TIMEOUT_MS = 5000;
const READINESS_PATH = '/readyz';

export class ServerProbe {
  /** Result of the last check. */
  isReachable = false;
  #onReachable;
  #interval = FIRST_INTERVAL_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onReachable: () => void) {
    this.#onReachable = onReachable;
  }

  start() {
    this.stop();
    this.#interval = FIRST_INTERVAL_MS;
    this.#schedule();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isReachable = false;
  }

  /** Checks at once if the probe is running. */
  probeNow() {
    if (this.#timer === undefined || this.isReachable) return;
    clearTimeout(this.#timer);
    void this.#probe();
  }

  #schedule() {
    // The random part spreads the requests of all clients when a server returns.
    const delay = this.#interval * (0.75 + Math.random() / 2);
    this.#interval = Math.min(2 * this.#interval, INTERVAL_MAX_MS);
    this.#timer = setTimeout(() => void this.#probe(), delay);
  }

  async #probe() {
    const timer = this.#timer;
    // A hidden page sends no requests.
    const isReachable = !document.hidden && (await isServerReachable());
    if (this.#timer !== timer) return;
    if (!isReachable) return this.#schedule();
    this.isReachable = true;
    this.#onReachable();
  }
}

export async function isServerReachable() {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok } = await fetch(READINESS_PATH, { cache: 'no-store', signal });
    return ok;
  } catch {
    return false;
  }
}
