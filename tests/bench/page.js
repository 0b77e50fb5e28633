// How soon the page is there, and how soon it answers a click, by the browser's own measures.
//
//     cargo build && node tests/bench/page.js
//
// The first table is of first loads over a slow line (400 kbit/s, 400 ms there and back): until there is a board, what
// came until then, and by how much the page moved about (layout shift, 0 is none). The second is of matches against a
// bot, on a processor that is slowed down four times, as a phone of the middle class is beside the machine that
// measures: from each press of the mouse on the board to the next picture (Event Timing; it tells nothing below 16 ms,
// and rounds to 8), and the layout shift of the whole match, also what follows a click. A machine that does anything
// else meanwhile is measured with it.

import { parseArgs } from 'node:util';

import { invite, isOver, myTurn, playBot, playOther, playing } from '../web/players.js';
import { Server, closeBrowser, theBrowser } from '../web/support.js';

/** @import { Page } from '../web/support.js' */

const GAMES = ['Tic-tac-toe', 'Connect Four', 'Othello', 'Draughts', 'Chess', 'Gomoku', 'Go'];
const WINDOW = { width: 1280, height: 800 };
const SLOW_LINE = {
  ...{ offline: false, latency: 400 },
  ...{ downloadThroughput: 50_000, uploadThroughput: 50_000 },
};
/** What Event Timing does not tell of took less. */
const LEAST_MS = 16;

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '4' },
    moves: { type: 'string', default: '20' },
    games: { type: 'string', default: GAMES.join() },
  },
});

/** Somebody who comes for the first time. @param {Server} server @param {number} [rate] how much slower it is */
async function visitor(server, rate = 1) {
  const browser = await theBrowser();
  const context = await browser.newContext({ baseURL: server.url, viewport: WINDOW });
  await context.addInitScript(() => {
    /** @type {Map<number, number>} */
    const clicks = new Map();
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of /** @type {any[]} */ (list.getEntries())) {
        const { interactionId: id, duration } = entry;
        if (id) clicks.set(id, Math.max(clicks.get(id) ?? 0, duration));
      }
    }).observe(/** @type {PerformanceObserverInit} */ ({ type: 'event', durationThreshold: 16 }));
    new PerformanceObserver((list) => {
      for (const { value } of /** @type {any[]} */ (list.getEntries())) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
    const taken = () => {
      const seen = { clicks: [...clicks.values()], shift };
      clicks.clear();
      shift = 0;
      return seen;
    };
    Object.assign(globalThis, { taken });
  });
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  await tools.send('Emulation.setCPUThrottlingRate', { rate });
  return { page, tools };
}

/** What was measured since it was asked last. @param {Page} page @returns {Promise<{ clicks: number[], shift: number }>} */
const taken = (page) => page.evaluate('taken()');

/** Two pictures later everything of before is drawn, and was told of. @param {Page} page */
const drawn = (page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++)
      await new Promise((next) => requestAnimationFrame(next));
  });

/**
 * Opens an address for the first time, until this is to be seen.
 * @param {Server} server
 * @param {string} path
 * @param {string} seen
 */
async function load(server, path, seen) {
  const { page, tools } = await visitor(server);
  await tools.send('Network.enable');
  await tools.send('Network.emulateNetworkConditions', SLOW_LINE);
  let [bytes, requests] = [0, 0];
  tools.on('Network.requestWillBeSent', () => requests++);
  tools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  const start = performance.now();
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(seen).first().waitFor();
  const seconds = (performance.now() - start) / 1000;
  const came = { seconds: seconds.toFixed(2), kB: (bytes / 1000).toFixed(1), requests };
  await drawn(page);
  const { shift } = await taken(page);
  await page.context().close();
  return { ...came, shift: shift.toFixed(4) };
}

/** Presses the mouse in the middle of something. @param {Page} page @param {string} selector @param {boolean} [last] of several */
async function click(page, selector, last = false) {
  const found = page.locator(selector);
  const box = await (last ? found.last() : found.first()).boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await drawn(page);
  await page.mouse.down();
  await page.mouse.up();
  await drawn(page);
}

/**
 * Plays so many moves against a bot, each of which is possible, in as many matches as that takes.
 * @param {Server} server
 * @param {string} game
 * @param {number} count
 */
async function match(server, game, count) {
  const { page } = await visitor(server, Number(values.rate));
  await page.goto('/');
  /** @type {number[]} */
  const clicks = [];
  let [moved, wasShifted] = [0, 0];
  for (let own = 0; own < count; own++) {
    if (own === 0 || (await isOver(page))) {
      await page.goto('/');
      await playBot(page, { game });
      await myTurn(page);
      await drawn(page);
      await taken(page);
    }
    if ((await page.locator('.cells :is(.movable, .legal)').count()) === 0) {
      await playOther(page, 'Pass');
      continue;
    }
    // The lowest piece: one that is far up would soon become another, which is asked about.
    const picks = (await page.locator('.cells .movable').count()) > 0;
    const steps = picks ? ['movable', 'legal'] : ['legal'];
    await playing(page, async () => {
      for (const step of steps) await click(page, `.cells .${step}`, step === 'movable');
    });
    await isOver(page);
    moved += steps.length;
    await drawn(page);
    const seen = await taken(page);
    clicks.push(...seen.clicks);
    wasShifted += seen.shift;
  }
  await page.context().close();
  const unseen = Array(Math.max(0, moved - clicks.length)).fill(0);
  const all = [...unseen, ...clicks].sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => all[Math.ceil(share * all.length) - 1] ?? 0;
  const words = (/** @type {number} */ ms) => (ms < LEAST_MS ? `< ${LEAST_MS}` : String(ms));
  // What took less counts as if it had taken as long.
  const sum = all.reduce((sum, ms) => sum + Math.max(ms, LEAST_MS), 0);
  return {
    ...{ clicks: all.length, mean: (sum / all.length).toFixed(1), median: words(at(0.5)) },
    ...{ p90: words(at(0.9)), max: words(at(1)), shift: wasShifted.toFixed(4) },
  };
}

const server = new Server([]);
await server.start();
try {
  // Whoever comes first has the server pack its files.
  const { page } = await visitor(server);
  await page.goto('/');
  const address = new URL(await invite(page, 'Chess')).pathname;
  console.table({
    lobby: await load(server, '/', '.way.first button:enabled'),
    match: await load(server, address, '.surface .piece'),
  });
  await page.context().close();
  /** @type {Record<string, object>} */
  const figures = {};
  for (const game of values.games.split(',')) {
    figures[game] = await match(server, game, Number(values.moves));
  }
  console.table(figures);
} finally {
  await closeBrowser();
  await server.end();
}
