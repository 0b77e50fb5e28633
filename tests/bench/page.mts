// How soon the page is there, and how soon it answers a click, by the browser's own measures.
//
//     cargo build && node --import ./tests/web/typescript.mjs tests/bench/page.mts
//
// The first table is of first loads over a slow line (400 kbit/s, 400 ms there and back): until there is a board, what
// came until then, and by how much the page moved about (layout shift, 0 is none). The second is of matches against a
// bot, on a processor that is slowed down four times, as a phone of the middle class is beside the machine that
// measures: from each press of the mouse on the board to the next picture (Event Timing; it tells nothing below 16 ms,
// and rounds to 8), and the layout shift of the whole match, also what follows a click. A machine that does anything
// else meanwhile is measured with it.

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

/**
 * Somebody who comes for the first time.
 * @param rate how much slower it is
 */
async function visitor(server: Server, rate: number = 1) {
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

/** What was measured since it was asked last. */
const taken = (page: Page): Promise<{ clicks: number[]; shift: number }> =>
  page.evaluate('taken()');

/** Two pictures later everything of before is drawn, and was told of. */
const drawn = (page: Page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++)
      await new Promise((next) => requestAnimationFrame(next));
  });

/** Opens an address for the first time, until this is to be seen. */
async function load(server: Server, path: string, seen: string) {
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

/**
 * Presses the mouse in the middle of something.
 * @param last of several
 */
async function click(page: Page, selector: string, last: boolean = false) {
  const found = page.locator(selector);
  const box = await (last ? found.last() : found.first()).boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await drawn(page);
  await page.mouse.down();
  await page.mouse.up();
  await drawn(page);
}

/** Plays so many moves against a bot, each of which is possible, in as many matches as that takes. */
async function match(server: Server, game: string, count: number) {
  const { page } = await visitor(server, Number(values.rate));
  await page.goto('/');
  const clicks: number[] = [];
  let [moved, wasShifted] = [0, 0];
  for (let own = 0; own < count; own++) {
    if (own === 0 || (await isMatchOver(page))) {
      await page.goto('/');
      await startBotMatch(page, { game });
      await waitForMyTurn(page);
      await drawn(page);
      await taken(page);
    }
    if ((await page.locator('.cells :is(.movable, .legal)').count()) === 0) {
      await playOtherMove(page, 'Pass');
      continue;
    }
    // The lowest piece: one that is far up would soon become another, which is asked about.
    const picks = (await page.locator('.cells .movable').count()) > 0;
    const steps = picks ? ['movable', 'legal'] : ['legal'];
    await playAndWait(page, async () => {
      for (const step of steps) await click(page, `.cells .${step}`, step === 'movable');
    });
    await isMatchOver(page);
    moved += steps.length;
    await drawn(page);
    const seen = await taken(page);
    clicks.push(...seen.clicks);
    wasShifted += seen.shift;
  }
  await page.context().close();
  const unseen = Array(Math.max(0, moved - clicks.length)).fill(0);
  const all = [...unseen, ...clicks].sort((a, b) => a - b);
  const at = (share: number) => all[Math.ceil(share * all.length) - 1] ?? 0;
  const words = (ms: number) => (ms < LEAST_MS ? `< ${LEAST_MS}` : String(ms));
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
  const address = new URL(await inviteFriend(page, 'Chess')).pathname;
  console.table({
    lobby: await load(server, '/', '.way.first button:enabled'),
    match: await load(server, address, '.surface .piece'),
  });
  await page.context().close();
  const figures: Record<string, object> = {};
  for (const game of values.games.split(',')) {
    figures[game] = await match(server, game, Number(values.moves));
  }
  console.table(figures);
} finally {
  await closeBrowser();
  await server.stop();
}
