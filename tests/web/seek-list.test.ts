// Who looks for an opponent is seen in the lobby, and answered by one click; nothing else moves meanwhile.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { chooseClock, expectNoHorizontalOverflow, signUp } from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const seekers = (page: Page) =>
  page.getByRole('region', { name: /^Players looking for an opponent/ });

const answer = (page: Page, name: string) =>
  seekers(page).getByRole('button', { name: `Play: ${name}` });

/** Looks for somebody to play this game by days, for which no bot comes. */
async function seek(page: Page, game: string) {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await chooseClock(page, '3 days a move');
  await page.getByRole('button', { name: 'Find an opponent' }).click();
  await page.getByRole('heading', { name: /^Looking for an opponent:/ }).waitFor();
}

/** So many are shown. */
const shows = (page: Page, count: number) =>
  eventually(async () => assert.equal(await seekers(page).getByRole('button').count(), count));

/** Where everything is that is not of those who look for an opponent. */
const places = (page: Page) =>
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
    `whoever looks for an opponent is seen and answered: ${size}`,
    withServer(async (house) => {
      const eve = await house.openPage('/', { viewport, axe: true });
      await eve.getByText('Nobody is looking for one now.').waitFor();
      await eve.getByText('Nobody waits for an opponent now.').waitFor();
      await eve.getByRole('button', { name: 'Watch two bots play' }).waitFor();
      const before = await places(eve);
      const main = await eve.locator('.way.first button').boundingBox();
      assert.ok(main && main.y + main.height <= viewport.height, 'the main button is in sight');

      const ann = await house.openPage();
      await signUp(ann, 'ann');
      const bob = await house.openPage();
      await seek(ann, 'Chess');
      await answer(eve, 'ann').waitFor();
      await seekers(eve).getByText('Chess · 3 days a move').waitFor();
      await seek(bob, 'Go');
      await shows(eve, 2);
      assert.equal(await places(eve), before);
      await takeScreenshot(eve, `seekers-${size}`);
      // Nobody sees oneself.
      await shows(ann, 1);
      await expectNoHorizontalOverflow(eve);

      // Who goes leaves the place of the others where it is.
      await shows(eve, 2);
      const place = await answer(eve, 'ann').boundingBox();
      await bob.getByRole('button', { name: 'Stop looking' }).click();
      await shows(eve, 1);
      assert.deepEqual(await answer(eve, 'ann').boundingBox(), place);
      assert.equal(await places(eve), before);
      await answer(eve, 'ann').click();
      for (const page of [ann, eve]) await page.locator('.room .clock').first().waitFor();
    }),
  );
}

test(
  'whoever has the focus on somebody who goes is not lost',
  withServer(async (house) => {
    const eve = await house.openPage();
    const ann = await house.openPage();
    await seek(ann, 'Othello');
    const button = seekers(eve).getByRole('button');
    await button.focus();
    await ann.getByRole('button', { name: 'Stop looking' }).click();
    await eve.locator('#seekers-title:focus').waitFor();
    await eve.getByText('Nobody is looking for one now.').waitFor();
  }),
);

test(
  'whoever looks for a rated match is answered by registered players only',
  withServer(async (house) => {
    const ann = await house.openPage();
    await signUp(ann, 'ann');
    await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
    await chooseClock(ann, '5+3');
    await ann.getByRole('checkbox', { name: /^Rated/ }).check();
    await ann.getByRole('button', { name: 'Find an opponent' }).click();
    const eve = await house.openPage();
    await seekers(eve).getByText('Chess · 5+3 · rated · for registered players').waitFor();
    await shows(eve, 0);
    await signUp(eve, 'eve');
    await answer(eve, 'ann').waitFor();
    assert.equal(await seekers(eve).getByText('for registered players').count(), 0);
  }),
);
