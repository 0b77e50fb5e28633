// Whoever comes through a proxy that tells who they are: an account without a password, on every device.

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
    `whom a proxy names is that account, and is offered no other way to be it: ${size}`,
    withServer(
      async (house) => {
        const front = await startAuthProxy(house.server.url, HEADER, 'ada');
        try {
          const options = { baseURL: front.url, viewport, axe: true };
          const ada = await house.openPage('/', options);
          const name = ada.locator('header .name bdi');
          await name.getByText('ada', { exact: true }).waitFor();
          assert.equal(await ada.evaluate(() => localStorage.getItem('plyhouse.token')), null);
          await startBotMatch(ada);
          await waitForMyTurn(ada);
          const match = new URL(ada.url()).pathname;
          await openAccountPage(ada);
          await ada.getByRole('heading', { name: 'Keys for programs' }).waitFor();
          const seen = await ada.locator('main').innerText();
          assert.doesNotMatch(seen, /password|recovery|another device|sign up|code/i);
          await expectAccessible(ada, 'by proxy');
          await expectNoHorizontalOverflow(ada);
          await takeScreenshot(ada, `by-proxy-${size}`);
          // What is kept of them is theirs, without a token.
          const coming = ada.waitForEvent('download');
          await ada.getByRole('button', { name: 'Take my data with me' }).click();
          assert.match(await readFile(await (await coming).path(), 'utf8'), /"ada"/);
          await ada.goto('/pair#K7QM2PXR');
          await ada.getByText('Here the site that you have logged in to').waitFor();
          assert.equal(await ada.getByLabel('Code or recovery key').isVisible(), false);
          assert.equal(await ada.getByLabel('Password').isVisible(), false);
          await takeScreenshot(ada, `by-proxy-arrival-${size}`);

          // On another device they are the same at once, beside the first.
          const other = await house.openPage(match, options);
          await other.getByText('X · you').waitFor();
          await barButton(other, 'Resign …').waitFor();
          // Whoever comes past the proxy is a guest, whatever they claim.
          const eve = await house.openPage('/');
          await eve.locator('header .name bdi', { hasText: /^guest-/ }).waitFor();
          // What a page still loads by the proxy would fail without it.
          for (const page of [ada, other]) await page.context().close();
        } finally {
          front.end();
        }
      },
      ['--trusted-user-header', HEADER, '--trusted-proxy', '127.0.0.1'],
    ),
  );
}
