// The page in Firefox as it is given out, by WebDriver BiDi. What drives the other tests drives builds of
// Firefox of its own only. Everybody has a window: in a tab behind another nothing is drawn.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { AXE_PATH, TIMEOUT_MS, Server } from './support.ts';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const puppeteer: typeof import('puppeteer-core') = require('puppeteer-core');

import type { ElementHandle } from 'puppeteer-core';
export type Page = import('puppeteer-core').Page;

const SEARCH = readFileSync(AXE_PATH, 'utf8');

let browser: Promise<import('puppeteer-core').Browser> | undefined;

function theFirefox() {
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

/** A server, and people with a Firefox each. Whatever a page complains of fails the test. */
export class FirefoxHarness {
  #server;
  #contexts: import('puppeteer-core').BrowserContext[] = [];
  pageErrors: string[] = [];
  /** Whether requests may fail, as they do while the server is not reached. */
  expectsFailures = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get server() {
    return this.#server;
  }

  /** Somebody who has opened a page. */
  async openPage(path: string = '/') {
    const context = await (await theFirefox()).createBrowserContext();
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

/** @param more options of the server's command line */
export const withFirefox =
  (scene: (foxes: FirefoxHarness) => Promise<void>, more: string[] = []) =>
  async () => {
    const server = new Server(more);
    await server.start();
    const foxes = new FirefoxHarness(server);
    try {
      await scene(foxes);
    } catch (error) {
      for (const complaint of foxes.pageErrors) console.error(complaint);
      throw error;
    } finally {
      await foxes.close();
    }
    if (!foxes.expectsFailures) assert.deepEqual(foxes.pageErrors, []);
  };

/**
 * Clicks what is called so, once it is there. (The driver's own search by role looks through the whole tree of
 * accessible objects, for seconds.)
 * @param kind a selector
 */
export async function clickByName(page: Page, kind: string, name: string) {
  const found = await page.waitForFunction(
    (selector, words) =>
      [...document.querySelectorAll(selector)].find((element) => {
        const told = element.getAttribute('aria-label') ?? element.textContent;
        return element.checkVisibility() && told?.trim() === words;
      }),
    {},
    kind,
    name,
  );
  await (found as ElementHandle<Element>).click();
}

/** Cuts the connection off as the next move is sent, and the way to the server. */
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

/** Waits until this is to be read there. */
export const waitForText = (page: Page, selector: string, text: string) =>
  page.waitForFunction(
    (where, words) =>
      [...document.querySelectorAll(where)].some(
        (element) => element.checkVisibility() && element.textContent?.includes(words),
      ),
    {},
    selector,
    text,
  );

export const waitForStatus = (page: Page, text: string) => waitForText(page, '.standing', text);

/** It is our turn, and there is a connection to play over. */
export const waitForMyTurn = (page: Page) =>
  page.waitForSelector('.my-turn .cells :is(.legal, .movable)');

/** A square of the board, by how it is read out. */
export const waitForSquare = (page: Page, words: string) =>
  page.waitForSelector(`[role=gridcell][aria-label^="${words}"]`);

/** How many moves the page knows of. */
export const countMoves = (page: Page) => page.$$eval('.moves button', (buttons) => buttons.length);

/**
 * Waits for our turn, and then until the server has taken the move.
 * @param does what plays it
 */
export async function playAndWait(page: Page, does: () => Promise<void>) {
  await waitForMyTurn(page);
  const before = await countMoves(page);
  await does();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    {},
    before,
  );
}

/** Plays by clicking these squares. */
export const playMove = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await page.click(`[role=gridcell][data-square="${square}"]`);
  });

/** Whether the match is over; waits until it is that or our turn. */
export async function isMatchOver(page: Page) {
  await page.waitForSelector('.room.my-turn, .room.ended');
  return (await page.$('.room.ended')) !== null;
}

/** Plays something that is possible, so often or until it is over. */
export async function playAnyMoves(page: Page, most: number) {
  for (let own = 0; own < most && !(await isMatchOver(page)); own++) {
    await playAndWait(page, async () => {
      if (await page.$('.cells .movable')) await page.click('.cells .movable');
      await page.click('.cells .legal');
    });
  }
}

/** Begins a match against a bot. */
export async function startBotMatch(page: Page, game: string, level: string = 'Beginner') {
  await clickByName(page, 'label span', game);
  await clickByName(page, 'label', level);
  await clickByName(page, 'button', `Play the ${level.toLowerCase()} bot`);
  await page.waitForSelector('[role=grid]');
}

/** What axe finds. */
export async function expectAccessible(page: Page, state: string) {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(SEARCH);
  const found = await page.evaluate(async () => {
    await Promise.all(document.getAnimations().map((moving) => moving.finished.catch(() => {})));
    // @ts-expect-error: it was brought along
    const { violations } = await globalThis.axe.run();
    return violations.map(
      ({ id, nodes }: any) => `${id}: ${nodes.map((node: any) => node.html).join(' ')}`,
    );
  });
  assert.deepEqual(found, [], state);
}
