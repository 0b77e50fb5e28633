// Drives the release build of Firefox by WebDriver BiDi, because Playwright drives only its own
// builds of Firefox. Each page has its own window, because Firefox does not draw background tabs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { AXE_PATH, TIMEOUT_MS, Server } from './support.ts';

import type * as Puppeteer from 'puppeteer-core';
import type { AxeViolation } from './support.ts';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const puppeteer: typeof Puppeteer = require('puppeteer-core');

export type Page = Puppeteer.Page;

const AXE_SOURCE = readFileSync(AXE_PATH, 'utf8');

let browser: Promise<Puppeteer.Browser> | undefined;

function getBrowser() {
  browser ??= puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    timeout: TIMEOUT_MS,
    protocolTimeout: TIMEOUT_MS,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-US, en', 'ui.prefersReducedMotion': 1 },
  });
  return browser;
}

export const closeFirefox = async () => (await browser)?.close();

/** The server of a test and its pages in Firefox. An error on any page fails the test. */
export class FirefoxHarness {
  #server;
  #contexts: Puppeteer.BrowserContext[] = [];
  pageErrors: string[] = [];
  /** Whether pages may report errors, for example while the server is down. */
  expectsFailures = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get server() {
    return this.#server;
  }

  /** Opens a page in its own browser context. */
  async openPage(path = '/') {
    const context = await (await getBrowser()).createBrowserContext();
    this.#contexts.push(context);
    const page = await context.newPage({ type: 'window' });
    page.setDefaultTimeout(TIMEOUT_MS);
    await page.setViewport({ width: 1280, height: 800 });
    page.on('pageerror', (error) => this.pageErrors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.pageErrors.push(message.text());
    });
    await page.evaluateOnNewDocument(() =>
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        console.error(`${violatedDirective}: ${blockedURI}`),
      ),
    );
    await page.goto(new URL(path, this.#server.url).href);
    return page;
  }

  async close() {
    for (const context of this.#contexts) await context.close();
    await this.#server.stop();
  }
}

/** Wraps a test so that it runs with its own server and Firefox. */
export const withFirefox =
  (run: (harness: FirefoxHarness) => Promise<void>, options: string[] = []) =>
  async () => {
    const server = new Server(options);
    await server.start();
    const harness = new FirefoxHarness(server);
    try {
      await run(harness);
    } catch (error) {
      for (const error of harness.pageErrors) console.error(error);
      throw error;
    } finally {
      await harness.close();
    }
    if (!harness.expectsFailures) assert.deepEqual(harness.pageErrors, []);
  };

/**
 * Waits for a visible element with this accessible name, and clicks it. Puppeteer's own search by
 * role reads the whole accessibility tree, which takes seconds.
 */
export async function clickByName(page: Page, selector: string, name: string) {
  const element = await page.waitForFunction(
    (selector, name) =>
      [...document.querySelectorAll(selector)].find((element) => {
        const label = element.getAttribute('aria-label') ?? element.textContent;
        return element.checkVisibility() && label?.trim() === name;
      }),
    {},
    selector,
    name,
  );
  await (element as Puppeteer.ElementHandle<Element>).click();
}

/** Closes the connection in place of sending the next move, and takes the page offline. */
export async function disconnectOnNextMove(page: Page) {
  await page.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data: string) {
      if (!data.includes('"move"')) return send.call(this, data);
      WebSocket.prototype.send = send;
      this.close();
    };
  });
  await page.setOfflineMode(true);
}

/** Waits until a visible element of this selector contains the text. */
export const waitForText = (page: Page, selector: string, text: string) =>
  page.waitForFunction(
    (selector, text) =>
      [...document.querySelectorAll(selector)].some(
        (element) => element.checkVisibility() && element.textContent?.includes(text),
      ),
    {},
    selector,
    text,
  );

export const waitForStatus = (page: Page, text: string) => waitForText(page, '.standing', text);

/** Waits until it is our turn and the page is connected. */
export const waitForMyTurn = (page: Page) =>
  page.waitForSelector('.my-turn .cells :is(.legal, .movable)');

/** Waits for a square whose accessible name begins with `name`. */
export const waitForSquare = (page: Page, name: string) =>
  page.waitForSelector(`[role=gridcell][aria-label^="${name}"]`);

/** Number of moves in the move list. */
export const countMoves = (page: Page) => page.$$eval('.moves button', (buttons) => buttons.length);

/** Waits for our turn, calls `play`, and waits until the server has accepted the move. */
export async function playAndWait(page: Page, play: () => Promise<void>) {
  await waitForMyTurn(page);
  const before = await countMoves(page);
  await play();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    {},
    before,
  );
}

/** Plays a move by clicking these squares, and waits until the server has accepted it. */
export const playMove = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await page.click(`[role=gridcell][data-square="${square}"]`);
  });

/** Waits until it is our turn or the match is over, and returns whether it is over. */
export async function isMatchOver(page: Page) {
  await page.waitForSelector('.room.my-turn, .room.ended');
  return (await page.$('.room.ended')) !== null;
}

/** Plays up to `maxMoves` legal moves, or until the match is over. */
export async function playAnyMoves(page: Page, maxMoves: number) {
  for (let count = 0; count < maxMoves && !(await isMatchOver(page)); count++) {
    await playAndWait(page, async () => {
      if (await page.$('.cells .movable')) await page.click('.cells .movable');
      await page.click('.cells .legal');
    });
  }
}

export async function startBotMatch(page: Page, game: string, level = 'Beginner') {
  await clickByName(page, 'label span', game);
  await clickByName(page, 'label', level);
  await clickByName(page, 'button', `Play the ${level.toLowerCase()} bot`);
  await page.waitForSelector('[role=grid]');
}

/** Asserts that axe finds no faults. */
export async function expectAccessible(page: Page, state: string) {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(AXE_SOURCE);
  const faults = await page.evaluate(async () => {
    await Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})));
    // @ts-expect-error: injected
    const { violations } = await globalThis.axe.run();
    return violations.map(
      ({ id, nodes }: AxeViolation) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
    );
  });
  assert.deepEqual(faults, [], state);
}
