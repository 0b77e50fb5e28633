// Measures the load time of the page and its response time to clicks.
//
//     cargo build && node --import ./tests/web/typescript.mjs tests/bench/page.mts
//
// The first table has first loads over a slow connection (400 kbit/s, 400 ms round trip): the time
// until the board is visible, the bytes and requests until then, and the layout shift. The second
// table has matches against a bot, with the processor slowed down four times, like a mid-range
// phone. It has the time from each mouse press on the board to the next frame and the layout shift
// of the match, including shifts after a click. Event Timing omits times below 16 ms and rounds the
// others to 8 ms. Other work on the machine distorts the results.

import { parseArgs } from 'node:util';

import {
  inviteFriend,
  isMatchOver,
  waitForMyTurn,
  startBotMatch,
  playOtherMove,
  playAndWait,
} from '../web/page-actions.ts';
import { Server, closeBrowser, getBrowser } from '../web/support.ts';

import type { Page } from '../web/support.ts';

const GAMES = ['Tic-tac-toe', 'Connect Four', 'Othello', 'Draughts', 'Chess', 'Gomoku', 'Go'];
const WINDOW = { width: 1280, height: 800 };
const SLOW_NETWORK = {
  ...{ offline: false, latency: 400 },
  ...{ downloadThroughput: 50_000, uploadThroughput: 50_000 },
};
/** Event Timing omits shorter durations. */
const MIN_DURATION_MS = 16;

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '4' },
    moves: { type: 'string', default: '20' },
    games: { type: 'string', default: GAMES.join() },
  },
});

/**
 * Opens a page in a new browser context that collects the measurements.
 * @param rate factor by which the processor is slowed down
 */
async function openPage(server: Server, rate = 1) {
  const browser = await getBrowser();
  const context = await browser.newContext({ baseURL: server.url, viewport: WINDOW });
  await context.addInitScript(() => {
    const clicks: Map<number, number> = new Map();
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as any[]) {
        const { interactionId: id, duration } = entry;
        if (id) clicks.set(id, Math.max(clicks.get(id) ?? 0, duration));
      }
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries() as any[]) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
    const takeMeasurements = () => {
      const measurements = { clicks: [...clicks.values()], shift };
      clicks.clear();
      shift = 0;
      return measurements;
    };
    Object.assign(globalThis, { takeMeasurements });
  });
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate });
  return { page, devTools };
}

/** Returns the measurements since the last call. */
const takeMeasurements = (page: Page): Promise<{ clicks: number[]; shift: number }> =>
  page.evaluate('takeMeasurements()');

/** Waits until all changes are rendered and their measurements are reported. */
const waitForFrames = (page: Page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++)
      await new Promise((resolve) => requestAnimationFrame(resolve));
  });

/** Measures the first load of an address until the element is visible. */
async function measureLoad(server: Server, path: string, selector: string) {
  const { page, devTools } = await openPage(server);
  await devTools.send('Network.enable');
  await devTools.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  let [bytes, requests] = [0, 0];
  devTools.on('Network.requestWillBeSent', () => requests++);
  devTools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  const start = performance.now();
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  const seconds = (performance.now() - start) / 1000;
  const figures = { seconds: seconds.toFixed(2), kB: (bytes / 1000).toFixed(1), requests };
  await waitForFrames(page);
  const { shift } = await takeMeasurements(page);
  await page.context().close();
  return { ...figures, shift: shift.toFixed(4) };
}

/** Clicks the centre of the first or last element that matches the selector. */
async function click(page: Page, selector: string, isLast = false) {
  const matches = page.locator(selector);
  const box = await (isLast ? matches.last() : matches.first()).boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await waitForFrames(page);
  await page.mouse.down();
  await page.mouse.up();
  await waitForFrames(page);
}

/** Plays `count` moves against a bot, in several matches if necessary, and measures the clicks. */
async function measureClicks(server: Server, game: string, count: number) {
  const { page } = await openPage(server, Number(values.rate));
  await page.goto('/');
  const clicks: number[] = [];
  let [clickCount, totalShift] = [0, 0];
  for (let own = 0; own < count; own++) {
    if (own === 0 || (await isMatchOver(page))) {
      await page.goto('/');
      await startBotMatch(page, { game });
      await waitForMyTurn(page);
      await waitForFrames(page);
      await takeMeasurements(page);
    }
    if ((await page.locator('.cells :is(.movable, .legal)').count()) === 0) {
      await playOtherMove(page, 'Pass');
      continue;
    }
    // The lowest piece is far from promotion, which would open a dialog.
    const needsSelection = (await page.locator('.cells .movable').count()) > 0;
    const steps = needsSelection ? ['movable', 'legal'] : ['legal'];
    await playAndWait(page, async () => {
      for (const step of steps) await click(page, `.cells .${step}`, step === 'movable');
    });
    await isMatchOver(page);
    clickCount += steps.length;
    await waitForFrames(page);
    const measurements = await takeMeasurements(page);
    clicks.push(...measurements.clicks);
    totalShift += measurements.shift;
  }
  await page.context().close();
  const unreported = Array(Math.max(0, clickCount - clicks.length)).fill(0);
  const all = [...unreported, ...clicks].sort((a, b) => a - b);
  const quantile = (share: number) => all[Math.ceil(share * all.length) - 1] ?? 0;
  const format = (ms: number) => (ms < MIN_DURATION_MS ? `< ${MIN_DURATION_MS}` : String(ms));
  // Unreported clicks count with the minimum duration.
  const sum = all.reduce((sum, ms) => sum + Math.max(ms, MIN_DURATION_MS), 0);
  return {
    ...{ clicks: all.length, mean: (sum / all.length).toFixed(1), median: format(quantile(0.5)) },
    ...{ p90: format(quantile(0.9)), max: format(quantile(1)), shift: totalShift.toFixed(4) },
  };
}

const server = new Server([]);
await server.start();
try {
  // The first request makes the server compress its files.
  const { page } = await openPage(server);
  await page.goto('/');
  const address = new URL(await inviteFriend(page, 'Chess')).pathname;
  console.table({
    lobby: await measureLoad(server, '/', '.way.first button:enabled'),
    match: await measureLoad(server, address, '.surface .piece'),
  });
  await page.context().close();
  const figures: Record<string, object> = {};
  for (const game of values.games.split(',')) {
    figures[game] = await measureClicks(server, game, Number(values.moves));
  }
  console.table(figures);
} finally {
  await closeBrowser();
  await server.stop();
}
