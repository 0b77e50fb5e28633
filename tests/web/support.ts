// Starts a Plyhouse server for each test and opens Chromium pages on it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { ChildProcess } from 'node:child_process';
import type * as Playwright from 'playwright-core';

// The dependencies of the tests are installed in `client/web`.
const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const { chromium }: typeof Playwright = require('playwright-core');

/** Path of axe-core, which finds accessibility faults. */
export const AXE_PATH = require.resolve('axe-core/axe.min.js');

export type Page = Playwright.Page;
export type ContextOptions = Playwright.BrowserContextOptions;

/** A fault in the results of axe, with the elements that have it. */
export interface AxeViolation {
  id: string;
  nodes: { html: string }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const program = join(target, 'debug', 'plyhouse');
/** Source directory of the page. The program embeds the built page instead. */
export const PAGE_DIR = join(root, 'client', 'web', 'page');

/** Timeout of a single step. It is long enough while builds use all processors. */
export const TIMEOUT_MS = 120_000;

/** Whether each test runs in all of its variants (`tests/run --all`). */
export const ALL_VARIANTS = Boolean(process.env.ALL);

/**
 * Selects the variants of a test to run: all of them with `ALL=1`, otherwise those named in
 * `usual`. A variant is a name, or an array that begins with its name.
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

/**
 * Whether `takeScreenshot` takes screenshots. A full-page screenshot costs as much CPU time as a
 * dozen clicks.
 */
const TAKES_SCREENSHOTS = Boolean(process.env.PICTURES);

/** CPU slowdown of the browser. `SLOW=6` finds steps that do not wait for the page. */
const SLOWDOWN = Number(process.env.SLOW ?? 1);

/** Limits of the message log that a failed test prints for each page. */
const MAX_LOGGED_MESSAGES = 30;
const MAX_MESSAGE_LENGTH = 160;

/** A Plyhouse server process with its own port and store. */
export class Server {
  #data = mkdtempSync(join(tmpdir(), 'plyhouse-'));
  #port = 0;
  #process: ChildProcess | undefined;
  #options;

  /** @param options command line options */
  constructor(options: string[]) {
    this.#options = options;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  get dataDir() {
    return this.#data;
  }

  /** Starts the server. A restarted server keeps its port and store. */
  async start() {
    const listen = ['--listen', `127.0.0.1:${this.#port}`, '--data', this.#data, '--log', 'warn'];
    const child = spawn(program, [...listen, ...this.#options], {
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

  /** Runs a command of the program on the store of this server and returns the output. */
  async runCommand(...command: string[]) {
    const child = spawn(program, [...command, '--data', this.#data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const chunk of child.stdout) output += chunk;
    return output.trim();
  }

  /** Kills the process with SIGKILL, as abruptly as a power cut. */
  async kill() {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async stop() {
    await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

let browser: Promise<Playwright.Browser> | undefined;

/** The headless shell takes half the CPU time of Chromium. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

export function getBrowser() {
  const installed = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium';
  browser ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? installed,
    args: [
      // The browser opens only pages of the tests, and many containers allow no sandbox.
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

/** The server of a test and its pages. An error on any page fails the test. */
export class TestHarness {
  #server;
  #contexts: Playwright.BrowserContext[] = [];
  #pageErrors: string[] = [];
  /** Last messages between each page and the server, with their times. */
  #messages = new Map<Page, string[]>();
  /** Whether pages may report errors, for example while the server is down. */
  expectsFailures = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get server() {
    return this.#server;
  }

  /**
   * Opens a page in its own browser context. Service workers are blocked by default: in each
   * context they would fetch all files of the page, and answer requests that a test intercepts.
   */
  async openPage(path = '/', { axe = false, ...options }: ContextOptions & { axe?: boolean } = {}) {
    const browser = await getBrowser();
    const defaults = { baseURL: this.#server.url, serviceWorkers: 'block' as const };
    const context = await browser.newContext({ ...defaults, ...options });
    this.#contexts.push(context);
    context.setDefaultTimeout(TIMEOUT_MS);
    if (axe) await context.addInitScript({ path: AXE_PATH });
    context.on('weberror', (error) => this.#pageErrors.push(String(error.error().stack)));
    context.on('console', (message) => {
      if (message.type() === 'error') this.#pageErrors.push(message.text());
    });
    const page = await context.newPage();
    this.#logMessages(page);
    if (SLOWDOWN > 1) {
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    }
    await page.goto(path);
    return page;
  }

  #logMessages(page: Page) {
    const log: string[] = [];
    this.#messages.set(page, log);
    page.on('websocket', (socket) => {
      const append = (event: string) => {
        log.push(`${new Date().toISOString().slice(11)} ${event.slice(0, MAX_MESSAGE_LENGTH)}`);
        if (log.length > MAX_LOGGED_MESSAGES) log.shift();
      };
      append('opened');
      socket.on('framesent', ({ payload }) => append(`> ${payload}`));
      socket.on('framereceived', ({ payload }) => append(`< ${payload}`));
      socket.on('close', () => append('closed'));
    });
  }

  /**
   * Prints all page errors, and the text and last messages of each page. Saves a screenshot of each
   * page.
   */
  async reportFailure() {
    for (const error of this.#pageErrors) console.error(error);
    for (const page of this.#contexts.flatMap((context) => context.pages())) {
      const path = join(target, 'screenshots', `failed-${Date.now()}.png`);
      await page.screenshot({ path, timeout: 5000 }).then(
        () => console.error(`${page.url()}: ${path}`),
        () => {},
      );
      // The text is needed where a run keeps only its output, not the screenshots.
      const text = await page.innerText('body', { timeout: 5000 }).catch(String);
      console.error(text.replace(/\s+/g, ' '));
      console.error((this.#messages.get(page) ?? []).join('\n'));
    }
  }

  async close() {
    for (const context of this.#contexts) await context.close();
    await this.#server.stop();
    if (!this.expectsFailures) assert.deepEqual(this.#pageErrors, []);
  }
}

/**
 * Wraps a test so that it runs with its own server.
 * @param options command line options of the server
 */
export const withServer =
  (run: (harness: TestHarness) => Promise<void>, options: string[] = []) =>
  async () => {
    const server = new Server(options);
    await server.start();
    const harness = new TestHarness(server);
    try {
      await run(harness);
    } catch (error) {
      await harness.reportFailure();
      await harness.close().catch(() => {});
      throw error;
    }
    await harness.close();
  };

/**
 * Jumps to the end of all animations and transitions, except endless ones. Waiting for them instead
 * could wait for ones that another animation replaces.
 */
export const finishAnimations = (page: Page) =>
  page.evaluate(async () => {
    // Transitions of the latest changes start with the next frame.
    await new Promise((resolve) => requestAnimationFrame(resolve));
    for (const animation of document.getAnimations()) {
      if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
    }
  });

/** Retries `check` until it passes, for state that pages receive over different connections. */
export async function eventually(check: () => Promise<void>) {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Takes a screenshot if `PICTURES` is set. The mouse moves away and animations finish in either
 * case, so that a test runs the same with and without screenshots.
 */
export async function takeScreenshot(page: Page, name: string) {
  // A mouse over the board would show a preview of a move.
  await page.mouse.move(0, 0);
  await finishAnimations(page);
  if (!TAKES_SCREENSHOTS) return;
  await page.screenshot({
    path: join(target, 'screenshots', `${name}.png`),
    fullPage: true,
  });
}
