// The page in Firefox as it is given out, by WebDriver BiDi. What drives the other tests drives builds of
// Firefox of its own only. Everybody has a window: in a tab behind another nothing is drawn.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { AXE, PATIENCE_MS, Server } from './support.js';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
/** @type {typeof import('puppeteer-core')} */
const puppeteer = require('puppeteer-core');

/** @import { ElementHandle } from 'puppeteer-core' */
/** @typedef {import('puppeteer-core').Page} Page */

const SEARCH = readFileSync(AXE, 'utf8');

/** @type {Promise<import('puppeteer-core').Browser> | undefined} */
let browser;

function theFirefox() {
  browser ??= puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-US, en', 'ui.prefersReducedMotion': 1 },
  });
  return browser;
}

export const closeFirefox = async () => (await browser)?.close();

/** A server, and people with a Firefox each. Whatever a page complains of fails the test. */
export class Foxes {
  #server;
  /** @type {import('puppeteer-core').BrowserContext[]} */
  #contexts = [];
  /** @type {string[]} */
  complaints = [];
  /** Whether requests may fail, as they do while the server is not reached. */
  expectsFailures = false;

  /** @param {Server} server */
  constructor(server) {
    this.#server = server;
  }

  get server() {
    return this.#server;
  }

  /** Somebody who has opened a page. @param {string} [path] */
  async visitor(path = '/') {
    const context = await (await theFirefox()).createBrowserContext();
    this.#contexts.push(context);
    const page = await context.newPage({ type: 'window' });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.setViewport({ width: 1280, height: 800 });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
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
    await this.#server.end();
  }
}

/**
 * @param {(foxes: Foxes) => Promise<void>} scene
 * @param {string[]} [more] options of the server's command line
 */
export const inFirefox =
  (scene, more = []) =>
  async () => {
    const server = new Server(more);
    await server.start();
    const foxes = new Foxes(server);
    try {
      await scene(foxes);
    } catch (error) {
      for (const complaint of foxes.complaints) console.error(complaint);
      throw error;
    } finally {
      await foxes.close();
    }
    if (!foxes.expectsFailures) assert.deepEqual(foxes.complaints, []);
  };

/**
 * Clicks what is called so, once it is there. (The driver's own search by role looks through the whole tree of
 * accessible objects, for seconds.)
 * @param {Page} page
 * @param {string} kind a selector
 * @param {string} name
 */
export async function press(page, kind, name) {
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
  await /** @type {ElementHandle<Element>} */ (found).click();
}

/** Cuts the connection off as the next move is sent, and the way to the server. @param {Page} page */
export async function cutOff(page) {
  await page.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (/** @type {string} */ data) {
      if (!data.includes('"move"')) return send.call(this, data);
      WebSocket.prototype.send = send;
      this.close();
    };
  });
  await page.setOfflineMode(true);
}

/** Waits until this is to be read there. @param {Page} page @param {string} selector @param {string} text */
export const reads = (page, selector, text) =>
  page.waitForFunction(
    (where, words) =>
      [...document.querySelectorAll(where)].some(
        (element) => element.checkVisibility() && element.textContent?.includes(words),
      ),
    {},
    selector,
    text,
  );

/** @param {Page} page @param {string} text */
export const says = (page, text) => reads(page, '.standing', text);

/** It is our turn, and there is a connection to play over. @param {Page} page */
export const myTurn = (page) => page.waitForSelector('.my-turn .cells :is(.legal, .movable)');

/** A square of the board, by how it is read out. @param {Page} page @param {string} words */
export const sees = (page, words) =>
  page.waitForSelector(`[role=gridcell][aria-label^="${words}"]`);

/** How many moves the page knows of. @param {Page} page */
export const moves = (page) => page.$$eval('.moves button', (buttons) => buttons.length);

/**
 * Waits for our turn, and then until the server has taken the move.
 * @param {Page} page
 * @param {() => Promise<void>} does what plays it
 */
export async function playing(page, does) {
  await myTurn(page);
  const before = await moves(page);
  await does();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    {},
    before,
  );
}

/** Plays by clicking these squares. @param {Page} page @param {...string} squares */
export const play = (page, ...squares) =>
  playing(page, async () => {
    for (const square of squares) await page.click(`[role=gridcell][data-square="${square}"]`);
  });

/** Whether the match is over; waits until it is that or our turn. @param {Page} page */
export async function isOver(page) {
  await page.waitForSelector('.room.my-turn, .room.ended');
  return (await page.$('.room.ended')) !== null;
}

/** Plays something that is possible, so often or until it is over. @param {Page} page @param {number} most */
export async function playAnything(page, most) {
  for (let own = 0; own < most && !(await isOver(page)); own++) {
    await playing(page, async () => {
      if (await page.$('.cells .movable')) await page.click('.cells .movable');
      await page.click('.cells .legal');
    });
  }
}

/** Begins a match against a bot. @param {Page} page @param {string} game @param {string} [level] */
export async function playBot(page, game, level = 'Beginner') {
  await press(page, 'label span', game);
  await press(page, 'label', level);
  await press(page, 'button', `Play the ${level.toLowerCase()} bot`);
  await page.waitForSelector('[role=grid]');
}

/** What axe finds. @param {Page} page @param {string} state */
export async function isOpenToAll(page, state) {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(SEARCH);
  const found = await page.evaluate(async () => {
    await Promise.all(document.getAnimations().map((moving) => moving.finished.catch(() => {})));
    // @ts-expect-error: it was brought along
    const { violations } = await globalThis.axe.run();
    return violations.map(
      (/** @type {any} */ { id, nodes }) =>
        `${id}: ${nodes.map((/** @type {any} */ node) => node.html).join(' ')}`,
    );
  });
  assert.deepEqual(found, [], state);
}
