// What one may do with who one is: keys for programs, whom one does not want to meet, one's data, and being forgotten.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { PASSWORD, fits, goToYou, isOpenToAll, signUp } from './players.js';
import { closeBrowser, inHouse, picture } from './support.js';

/** @import { Page } from './support.js' */

after(closeBrowser);

/** Says that it is oneself. @param {Page} page */
async function prove(page) {
  await page.getByLabel('Your password, or your recovery key').fill(PASSWORD);
  await page.keyboard.press('Enter');
}

for (const [size, viewport] of Object.entries({
  phone: { width: 390, height: 844 },
  lying: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
})) {
  test(
    `a program gets a key, and a name of its own: ${size}`,
    inHouse(async (house) => {
      const options = { viewport, reducedMotion: /** @type {const} */ ('reduce'), axe: true };
      const ann = await house.visitor('/', options);
      await goToYou(ann);
      const keys = ann.getByRole('region', { name: 'Keys for programs' });
      // A guest's programs play as the guest.
      await keys.getByLabel('What it is called').fill('laptop');
      assert.equal(await keys.getByLabel('Name of the program').isVisible(), false);
      await keys.getByRole('button', { name: 'Make a key' }).click();
      const key = ann.getByLabel('Key', { exact: true });
      assert.match(await key.inputValue(), /^ply_\w{20,}/);
      await isOpenToAll(ann, 'key');
      await picture(ann, `key-${size}`);
      await ann.getByRole('button', { name: 'I have kept it' }).click();
      await ann.locator('.devices li', { hasText: 'laptop' }).getByText('key').waitFor();

      await signUp(ann, 'ada');
      await goToYou(ann);
      await keys.getByLabel('Name of the program').fill('randy');
      await keys.getByRole('button', { name: 'Make a key' }).click();
      await prove(ann);
      await ann.getByRole('heading', { name: 'A key for randy' }).waitFor();
      await ann.getByRole('button', { name: 'I have kept it' }).click();
      await ann.locator('.devices li', { hasText: 'randy' }).waitFor();
      await keys.getByLabel('Name of the program').fill('ada');
      await keys.getByRole('button', { name: 'Make a key' }).click();
      await ann.getByText('Nobody can have this name here.').waitFor();
      await ann.evaluate(() => document.getElementById('toast')?.replaceChildren());
      await isOpenToAll(ann, 'oneself');
      await fits(ann);
      await picture(ann, `oneself-${size}`);
    }),
  );
}

test(
  'where there are no accounts, there is no trace of them',
  inHouse(
    async (house) => {
      const ann = await house.visitor();
      await ann.getByRole('link', { name: 'All your games' }).waitFor();
      assert.equal(await ann.getByRole('link', { name: 'Leaderboards' }).isVisible(), false);
      assert.equal(await ann.getByRole('checkbox', { name: /^Rated/ }).count(), 0);
      await goToYou(ann);
      await ann.getByRole('heading', { name: 'Recovery key' }).waitFor();
      const seen = await ann.locator('main').innerText();
      assert.doesNotMatch(seen, /password|sign up|keys for programs|forget|rat(ed|ing)|leader/i);
      await ann.goto('/pair');
      await ann.getByLabel('Code or recovery key').waitFor();
      assert.doesNotMatch(await ann.locator('main').innerText(), /password/i);
    },
    ['--accounts', 'off'],
  ),
);
