// A server of its own for each test, and a browser that looks at it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// What tests need is installed beside the page.
const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const { chromium }: typeof import('playwright-core') = require('playwright-core');

/** The source of axe, which finds what keeps people out. */
export const AXE_PATH = require.resolve('axe-core/axe.min.js');

export type Page = import('playwright-core').Page;
export type ContextOptions = import('playwright-core').BrowserContextOptions;

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const program = join(target, 'debug', 'plyhouse');
/** The page as it is written, not as the program carries it. */
export const PAGE_DIR = join(root, 'client', 'web', 'page');

/** Longer than any single step takes, also while builds use all processors. */
export const TIMEOUT_MS = 120_000;

/** Whether each test runs in all of its variants, as `tests/run --all` asks for. */
export const ALL_VARIANTS = Boolean(process.env.ALL);

/**
 * The variants of a test to run: all of them with `ALL=1`, otherwise those of these names.
 * a name, or an array that begins with it
 */
export function selectVariants<T extends string | readonly [string, ...unknown[]]>(
  all: readonly T[],
  ...usual: string[]
): T[] {
  const nameOf = (variant: T) => (typeof variant === 'string' ? variant : variant[0]);
  const chosen = all.filter((variant) => ALL_VARIANTS || usual.includes(nameOf(variant)));
  if (chosen.length < usual.length) throw new Error(`no such variant among ${usual.join()}`);
  return chosen;
}

/** Whether `picture` takes screenshots. A full-page screenshot costs as much CPU time as a dozen clicks. */
const PICTURES = Boolean(process.env.PICTURES);

/** How much slower than this machine the browser shall be: `SLOW=6` finds what is asked for too early. */
const SLOW = Number(process.env.SLOW ?? 1);

/** Of the messages between each page and the server so many are told when a test fails, and of each the beginning. */
const MESSAGES_KEPT = 30;
const MESSAGE_TOLD = 160;

/** The real server, on a port of its own. */
export class Server {
  #data = mkdtempSync(join(tmpdir(), 'plyhouse-'));
  #port = 0;
  #process: import('node:child_process').ChildProcess | undefined;
  #more;

  /** @param more options of the command line */
  constructor(more: string[]) {
    this.#more = more;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The directory of its store. */
  get dataDir() {
    return this.#data;
  }

  /** Starts it, with the same matches and on the same port as before. */
  async start() {
    const listen = ['--listen', `127.0.0.1:${this.#port}`, '--data', this.#data, '--log', 'warn'];
    const child = spawn(program, [...listen, ...this.#more], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    const lines = createInterface({ input: child.stderr });
    for await (const line of lines) {
      const port = /^listening on .*:(\d+)$/.exec(line)?.[1];
      if (port) {
        this.#port = Number(port);
        child.stderr.resume();
        return;
      }
      console.error(line);
    }
    throw new Error('the server did not start');
  }

  /**
   * What the program prints to whoever speaks to this server through its store.
   * @param words of the command
   */
  async runCommand(...words: string[]) {
    const child = spawn(program, [...words, '--data', this.#data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    for await (const chunk of child.stdout) printed += chunk;
    return printed.trim();
  }

  /** Kills it as a power cut would. */
  async kill() {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async stop() {
    await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

let browser: Promise<import('playwright-core').Browser> | undefined;

/** The headless shell takes half the CPU time of Chromium. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

export function getBrowser() {
  const installed = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium';
  browser ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? installed,
    args: [
      // Everything that it opens is served by us; a container often allows no sandbox.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return browser;
}

export const closeBrowser = async () => (await browser)?.close();

/**
 * Where a test plays: a server, and people with a browser each. Whatever a page complains of fails
 * the test.
 */
export class TestHarness {
  #server;
  #contexts: import('playwright-core').BrowserContext[] = [];
  #complaints: string[] = [];
  /** What each page and the server told each other last, and when. */
  #messages: Map<Page, string[]> = new Map();
  /** Whether requests may fail, as they do while the server is down. */
  expectsFailures = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get server() {
    return this.#server;
  }

  /**
   * Opens a page in a browser context of its own. Service workers are blocked by default: each context would fetch and
   * store all files of the page, and serve later requests that a test wants to intercept.
   */
  async openPage(
    path: string = '/',
    { axe = false, ...options }: ContextOptions & { axe?: boolean } = {},
  ) {
    const browser = await getBrowser();
    const defaults = { baseURL: this.#server.url, serviceWorkers: 'block' as const };
    const context = await browser.newContext({ ...defaults, ...options });
    this.#contexts.push(context);
    context.setDefaultTimeout(TIMEOUT_MS);
    if (axe) await context.addInitScript({ path: AXE_PATH });
    context.on('weberror', (error) => this.#complaints.push(String(error.error().stack)));
    context.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(message.text());
    });
    const page = await context.newPage();
    this.#listen(page);
    if (SLOW > 1) {
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW });
    }
    await page.goto(path);
    return page;
  }

  #listen(page: Page) {
    const last: string[] = [];
    this.#messages.set(page, last);
    page.on('websocket', (socket) => {
      const note = (what: string) => {
        last.push(`${new Date().toISOString().slice(11)} ${what.slice(0, MESSAGE_TOLD)}`);
        if (last.length > MESSAGES_KEPT) last.shift();
      };
      note('opened');
      socket.on('framesent', ({ payload }) => note(`> ${payload}`));
      socket.on('framereceived', ({ payload }) => note(`< ${payload}`));
      socket.on('close', () => note('closed'));
    });
  }

  /**
   * Keeps what can be known of how it failed: what everybody saw, what their pages and the server told each other
   * last, and what the pages complained of.
   */
  async reportFailure() {
    for (const complaint of this.#complaints) console.error(complaint);
    for (const page of this.#contexts.flatMap((context) => context.pages())) {
      const path = join(target, 'screenshots', `failed-${Date.now()}.png`);
      await page.screenshot({ path, timeout: 5000 }).then(
        () => console.error(`${page.url()}: ${path}`),
        () => {},
      );
      // Where only what is printed is kept, this is all that there is to go by.
      const seen = await page.innerText('body', { timeout: 5000 }).catch(String);
      console.error(seen.replace(/\s+/g, ' '));
      console.error((this.#messages.get(page) ?? []).join('\n'));
    }
  }

  async close() {
    for (const context of this.#contexts) await context.close();
    await this.#server.stop();
    if (!this.expectsFailures) assert.deepEqual(this.#complaints, []);
  }
}

/**
 * A test with a server of its own.
 * @param more options of the server's command line
 */
export const withServer =
  (scene: (house: TestHarness) => Promise<void>, more: string[] = []) =>
  async () => {
    const server = new Server(more);
    await server.start();
    const house = new TestHarness(server);
    try {
      await scene(house);
    } catch (error) {
      await house.reportFailure();
      await house.close().catch(() => {});
      throw error;
    }
    await house.close();
  };

/**
 * Brings what moves, or changes its colour, to where it ends: nobody is left with what is half way there.
 * Nothing is waited for that has no end, or that is replaced by another meanwhile.
 */
export const finishAnimations = (page: Page) =>
  page.evaluate(async () => {
    // What has just changed begins to move with the next picture.
    await new Promise((drawn) => requestAnimationFrame(drawn));
    for (const moving of document.getAnimations()) {
      if (Number.isFinite(moving.effect?.getComputedTiming().endTime)) moving.finish();
    }
  });

/** Waits until nothing of this fails: for what is told over several connections, each in its own time. */
export async function eventually(holds: () => Promise<void>) {
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Takes a screenshot if `PICTURES` is set. The mouse goes away and animations end in either case, so that the test
 * runs alike.
 */
export async function takeScreenshot(page: Page, name: string) {
  // The mouse shows where one could play, which is not what one looks for.
  await page.mouse.move(0, 0);
  await finishAnimations(page);
  if (!PICTURES) return;
  await page.screenshot({
    path: join(target, 'screenshots', `${name}.png`),
    fullPage: true,
  });
}
