// Limits the size of the first load, and checks that the committed build of the page is up to date.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { buildPage } from '../../client/web/build.js';
import { closeBrowser, withServer } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const BUILT = fileURLToPath(new URL('../../client/web/built', import.meta.url));
const REQUESTS_MAX = 8;
/** Limit of the Cumulative Layout Shift. Values up to 0.1 count as good. */
const SHIFT_MAX = 0.08;
/** A connection with 400 kbit/s and a latency of 400 ms. */
const SLOW_CONNECTION = {
  offline: false,
  latency: 400,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
};

/** Contents of the files in a folder, by path. */
const readFiles = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(join(folder, file)).isFile())
      .map((file) => [file, readFileSync(join(folder, file)).toString('base64')]),
  );

test('the committed build matches the sources of the page', async () => {
  const out = mkdtempSync(join(tmpdir(), 'page-'));
  try {
    await buildPage(out);
    const [committed, fresh] = [readFiles(BUILT), readFiles(out)];
    assert.deepEqual([...committed.keys()].sort(), [...fresh.keys()].sort());
    // `npm run --prefix client/web build` updates the files.
    const outdated = [...fresh].filter(([file, bytes]) => committed.get(file) !== bytes);
    assert.deepEqual(
      outdated.map(([file]) => file),
      [],
    );
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

/** Loads a page without a cache and measures the load until the selector is visible. */
async function measureLoad(page: Page, path: string, selector: string) {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Network.enable');
  await browser.send('Network.emulateNetworkConditions', SLOW_CONNECTION);
  const responses: Map<string, { name: string; size: number }> = new Map();
  browser.on('Network.responseReceived', ({ requestId, response }) => {
    const name = new URL(response.url).pathname.split('/').at(-1) ?? '';
    responses.set(requestId, { name, size: 0 });
  });
  browser.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const file = responses.get(requestId);
    if (file) file.size = encodedDataLength;
  });
  await page.addInitScript(() => {
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shift += (entry as any).value;
      Object.assign(globalThis, { shift });
    }).observe({ type: 'layout-shift', buffered: true });
    Object.assign(globalThis, { shift });
  });
  const start = performance.now();
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  const seconds = (performance.now() - start) / 1000;
  const shift = Number(await page.evaluate('shift'));
  return { files: [...responses.values()], seconds, shift };
}

for (const { view, selector, maxBytes, prefetched } of [
  // Each view prefetches the chunk of the other view, which does not delay the first one.
  {
    view: 'the lobby',
    selector: '.way.first button:enabled',
    maxBytes: 60_000,
    prefetched: ['match.js'],
  },
  { view: 'a match', selector: '.surface .piece', maxBytes: 70_000, prefetched: ['lobby.js'] },
]) {
  test(
    `the first load is small: ${view}`,
    withServer(async (harness) => {
      let path = '/';
      if (view === 'a match') {
        const ann = await harness.openPage();
        await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
        await ann.getByRole('button', { name: 'Create an open match' }).click();
        path = new URL(await ann.getByLabel('Link to this match').inputValue()).pathname;
      }
      const page = await harness.openPage('about:blank');
      const { files, seconds, shift } = await measureLoad(page, path, selector);
      const first = files.filter(({ name }) => !prefetched.includes(name));
      const bytes = first.reduce((sum, { size }) => sum + size, 0);
      const names = first.map(({ name }) => name).join(' ');
      const shifted = `shift ${shift.toFixed(4)}`;
      const summary = `${view}: ${bytes} bytes in ${seconds.toFixed(1)} s, ${shifted}: ${names}`;
      // The duration has no limit, because it depends on the machine.
      console.log(summary);
      assert.ok(first.length <= REQUESTS_MAX && first.length > 3, summary);
      assert.ok(bytes <= maxBytes && bytes > 20_000, summary);
      assert.ok(shift <= SHIFT_MAX, summary);
    }),
  );
}

test(
  'the connection opens before the main chunk is loaded',
  withServer(async (harness) => {
    for (const path of ['/', '/m/NONE22']) {
      const page = await harness.openPage('about:blank');
      const order: string[] = [];
      const opened = new Promise((resolve) =>
        page.on('websocket', () => {
          order.push('socket');
          resolve(null);
        }),
      );
      await page.route(/\/main\.js/, async (route) => {
        await opened;
        order.push('page');
        await route.continue();
      });
      await page.goto(path);
      await page.locator('html[data-link=open]').waitFor();
      // The main chunk opens no second connection.
      assert.deepEqual(order, ['socket', 'page']);
    }
  }),
);
