// Plays a game of tic-tac-toe against a bot in the page. Prints the URL, the moves and the final
// status as JSON.

import { createRequire } from 'node:module';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
/** @type {typeof import('playwright-core')} */
const { chromium } = require('playwright-core');

/** Maximum duration of each wait. */
const TIMEOUT_MS = 60_000;

const [url = ''] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  // Containers often allow no sandbox. All content comes from the server under test.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
});
try {
  console.log(JSON.stringify(await playToTheEnd()));
} finally {
  await browser.close();
}

async function playToTheEnd() {
  const page = await browser.newPage({ locale: 'en-US' });
  page.setDefaultTimeout(TIMEOUT_MS);
  /** @type {string[]} */
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error.stack)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });

  await page.goto(url);
  await page.getByRole('radio', { name: 'Tic-tac-toe', exact: true }).check();
  await page.getByRole('radio', { name: 'Beginner', exact: true }).check();
  await page.getByRole('button', { name: /^Play the/ }).click();

  const ended = page.locator('.room.ended');
  const moves = page.locator('.moves button');
  for (;;) {
    await page.locator('.room.my-turn, .room.ended').waitFor();
    if ((await ended.count()) > 0) break;
    const before = await moves.count();
    await page.locator('[role=gridcell].legal').first().click();
    await page.waitForFunction(
      (count) => document.querySelectorAll('.moves button').length > count,
      before,
    );
  }
  const standing = await page.locator('.standing').first().innerText();
  const result = { address: page.url(), moves: await moves.allInnerTexts(), standing };
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return result;
}
