// The list of seeks in the lobby. One click accepts a seek, and changes of the list move nothing
// else.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { chooseClock, expectNoHorizontalOverflow, signUp } from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const seekList = (page: Page) =>
  page.getByRole('region', { name: /^Players looking for an opponent/ });

const acceptButton = (page: Page, name: string) =>
  seekList(page).getByRole('button', { name: `Play: ${name}` });

/** Seeks a correspondence match, which no bot joins. */
async function seek(page: Page, game: string) {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await chooseClock(page, '3 days a move');
  await page.getByRole('button', { name: 'Find an opponent' }).click();
  await page.getByRole('heading', { name: /^Looking for an opponent:/ }).waitFor();
}

const expectSeeks = (page: Page, count: number) =>
  eventually(async () => assert.equal(await seekList(page).getByRole('button').count(), count));

/** Positions of all parts of the lobby except the seeks. */
const lobbyLayout = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        '.desk > *, .desk button, .seekers, .seekers .rows, .listing > :not(.seekers)',
      ),
    ]
      .map((part) => {
        const { x, y, width, height } = part.getBoundingClientRect();
        return `${part.tagName} ${part.className} ${x} ${y + scrollY} ${width} ${height}`;
      })
      .join('\n'),
  );

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `a seek is listed and can be accepted: ${size}`,
    withServer(async (harness) => {
      const eve = await harness.openPage('/', { viewport, axe: true });
      await eve.getByText('Nobody is looking for one now.').waitFor();
      await eve.getByText('Nobody waits for an opponent now.').waitFor();
      await eve.getByRole('button', { name: 'Watch two bots play' }).waitFor();
      const before = await lobbyLayout(eve);
      const main = await eve.locator('.way.first button').boundingBox();
      assert.ok(main && main.y + main.height <= viewport.height, 'the main button is in sight');

      const ann = await harness.openPage();
      await signUp(ann, 'ann');
      const bob = await harness.openPage();
      await seek(ann, 'Chess');
      await acceptButton(eve, 'ann').waitFor();
      await seekList(eve).getByText('Chess · 3 days a move').waitFor();
      await seek(bob, 'Go');
      await expectSeeks(eve, 2);
      assert.equal(await lobbyLayout(eve), before);
      await takeScreenshot(eve, `seekers-${size}`);
      // Ann does not see her own seek.
      await expectSeeks(ann, 1);
      await expectNoHorizontalOverflow(eve);

      // A removed seek does not move the remaining ones.
      await expectSeeks(eve, 2);
      const box = await acceptButton(eve, 'ann').boundingBox();
      await bob.getByRole('button', { name: 'Stop looking' }).click();
      await expectSeeks(eve, 1);
      assert.deepEqual(await acceptButton(eve, 'ann').boundingBox(), box);
      assert.equal(await lobbyLayout(eve), before);
      await acceptButton(eve, 'ann').click();
      for (const page of [ann, eve]) await page.locator('.room .clock').first().waitFor();
    }),
  );
}

test(
  'the focus moves to the heading when the focused seek is removed',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    const ann = await harness.openPage();
    await seek(ann, 'Othello');
    const button = seekList(eve).getByRole('button');
    await button.focus();
    await ann.getByRole('button', { name: 'Stop looking' }).click();
    await eve.locator('#seekers-title:focus').waitFor();
    await eve.getByText('Nobody is looking for one now.').waitFor();
  }),
);

test(
  'only registered players can accept a rated seek',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await signUp(ann, 'ann');
    await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
    await chooseClock(ann, '5+3');
    await ann.getByRole('checkbox', { name: /^Rated/ }).check();
    await ann.getByRole('button', { name: 'Find an opponent' }).click();
    const eve = await harness.openPage();
    await seekList(eve).getByText('Chess · 5+3 · rated · for registered players').waitFor();
    await expectSeeks(eve, 0);
    await signUp(eve, 'eve');
    await acceptButton(eve, 'ann').waitFor();
    assert.equal(await seekList(eve).getByText('for registered players').count(), 0);
  }),
);
