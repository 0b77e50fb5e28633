// Users authenticated by a proxy have an account without a password on every device.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  openAccountPage,
  barButton,
  expectAccessible,
  waitForMyTurn,
  startBotMatch,
} from './page-actions.ts';
import { startAuthProxy } from './auth-proxy.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

after(closeBrowser);

const HEADER = 'Remote-User';

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `a user of the proxy is signed in and sees no other sign-in options: ${size}`,
    withServer(
      async (harness) => {
        const proxy = await startAuthProxy(harness.server.url, HEADER, 'ada');
        try {
          const options = { baseURL: proxy.url, viewport, axe: true };
          const ada = await harness.openPage('/', options);
          const name = ada.locator('header .name bdi');
          await name.getByText('ada', { exact: true }).waitFor();
          assert.equal(await ada.evaluate(() => localStorage.getItem('plyhouse.token')), null);
          await startBotMatch(ada);
          await waitForMyTurn(ada);
          const match = new URL(ada.url()).pathname;
          await openAccountPage(ada);
          await ada.getByRole('heading', { name: 'Keys for programs' }).waitFor();
          const pageText = await ada.locator('main').innerText();
          assert.doesNotMatch(pageText, /password|recovery|another device|sign up|code/i);
          await expectAccessible(ada, 'by proxy');
          await expectNoHorizontalOverflow(ada);
          await takeScreenshot(ada, `by-proxy-${size}`);
          // The export of personal data needs no token.
          const download = ada.waitForEvent('download');
          await ada.getByRole('button', { name: 'Take my data with me' }).click();
          assert.match(await readFile(await (await download).path(), 'utf8'), /"ada"/);
          await ada.goto('/pair#K7QM2PXR');
          await ada.getByText('Here the site that you have logged in to').waitFor();
          assert.equal(await ada.getByLabel('Code or recovery key').isVisible(), false);
          assert.equal(await ada.getByLabel('Password').isVisible(), false);
          await takeScreenshot(ada, `by-proxy-arrival-${size}`);

          // A second device is signed in to the account at once.
          const secondDevice = await harness.openPage(match, options);
          await secondDevice.getByText('X · you').waitFor();
          await barButton(secondDevice, 'Resign …').waitFor();
          // A user who bypasses the proxy is a guest.
          const eve = await harness.openPage('/');
          await eve.locator('header .name bdi', { hasText: /^guest-/ }).waitFor();
          // Requests through the closed proxy would fail.
          for (const page of [ada, secondDevice]) await page.context().close();
        } finally {
          proxy.end();
        }
      },
      ['--trusted-user-header', HEADER, '--trusted-proxy', '127.0.0.1'],
    ),
  );
}
