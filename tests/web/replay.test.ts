// A match that is over: replayed by whoever has a link, from the move that the link leads to.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { LANGUAGES } from '../../client/web/page/text/language.ts';
import { cell, fits, inBar, invite, isOpenToAll, play, playAll, playBot, says } from './players.ts';
import { closeBrowser, eventually, inHouse, picture, variants } from './support.ts';

import type { House } from './support.ts';

after(closeBrowser);

/** A match that somebody has won, and the address that it keeps. */
async function over(
  house: House,
  options: import('./support.ts').Options & { axe?: boolean } = {},
) {
  const ann = await house.visitor('/', { permissions: ['clipboard-write'], ...options });
  const bob = await house.visitor(await invite(ann, 'Connect Four'));
  await playAll(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
  await ann.getByRole('heading', { name: 'You win!' }).waitFor();
  await ann.goto('/games');
  await ann.getByRole('button', { name: /^Replay/ }).click();
  await says(ann, 'You win!');
  return { ann, path: new URL(ann.url()).pathname };
}

for (const [size, viewport] of variants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'lying',
)) {
  test(
    `a link leads to a move of a match that is over, and arrow keys on from there: ${size}`,
    inHouse(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const { ann, path } = await over(house);
      await ann.close();
      const eve = await house.visitor(`${path}#3`, options);
      await says(eve, 'After 3 of 7 moves.');
      await cell(eve, 'd2').and(eve.getByLabel('red')).waitFor();
      await cell(eve, 'd3').and(eve.getByLabel('empty')).waitFor();
      await isOpenToAll(eve, 'replay');
      await fits(eve);
      await picture(eve, `replay-${size}`);
      await eve.keyboard.press('ArrowLeft');
      await says(eve, 'After 2 of 7 moves.');
      await eve.waitForURL(({ hash }) => hash === '#2');
      await eve.keyboard.press('Home');
      await says(eve, 'After 0 of 7 moves.');
      await eve.waitForURL(({ hash }) => hash === '#0');
      await eve.keyboard.press('End');
      await says(eve, /wins/);
      await eve.waitForURL(({ hash }) => hash === '');
      // Another move in the same address.
      await eve.evaluate(() => (location.hash = '#5'));
      await says(eve, 'After 5 of 7 moves.');
      // What leads nowhere shows how it ended.
      await eve.goto('about:blank');
      await eve.goto(`${path}#99`);
      await says(eve, /wins/);
    }),
  );
}

test(
  'the move that is shown is handed on as a link',
  inHouse(async (house) => {
    const { ann, path } = await over(house);
    await ann.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', {
        value: {
          writeText: async (text: string) => void Object.assign(globalThis, { copied: text }),
        },
      });
    });
    const share = ann.getByRole('button', { name: 'Share' });
    const copied = async () => {
      await ann.evaluate(() => void Object.assign(globalThis, { copied: '' }));
      await share.click();
      await eventually(async () => assert.ok(await ann.evaluate('copied')));
      await ann.getByText('The link to this match is copied.').waitFor();
      return ann.evaluate('copied');
    };
    assert.equal(await copied(), new URL(path, ann.url()).href);
    await ann.keyboard.press('ArrowLeft');
    await says(ann, 'After 6 of 7 moves.');
    assert.equal(await copied(), new URL(`${path}#6`, ann.url()).href);
  }),
);

test(
  'while a match is played, a link leads to how it stands now',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const link = await invite(ann, 'Connect Four');
    const bob = await house.visitor(`${link}#1`);
    await says(ann, 'Your turn.');
    assert.equal(await ann.getByRole('button', { name: 'Share' }).count(), 0);
    await playAll(ann, bob, 'd1 c1');
    await says(ann, 'Your turn.');
    await bob.reload();
    await says(bob, /to move/);
  }),
);

for (const [size, viewport] of variants(
  Object.entries({
    phone: { width: 390, height: 844 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `one plays on against a bot from a position of a match that is over: ${size}`,
    inHouse(async (house) => {
      const { ann, path } = await over(house, { viewport, axe: true });
      const on = ann.getByRole('button', { name: 'Play on from here' });
      // Where the game is over, nobody can play on.
      assert.equal(await on.isVisible(), false);
      await ann.goto(`${path}#3`);
      await says(ann, 'After 3 of 7 moves.');
      await isOpenToAll(ann, 'play-on');
      await fits(ann);
      await picture(ann, `play-on-${size}`);
      await on.click();
      // It is the second side's move, and ours; d1, c1 and d2 stand there already.
      await says(ann, 'Your turn.');
      await cell(ann, 'd2').and(ann.getByLabel('red')).waitFor();
      await cell(ann, 'd3').and(ann.getByLabel('empty')).waitFor();
      await ann.getByText('hard bot').first().waitFor();
      await play(ann, 'd3');
      await cell(ann, 'd3').and(ann.getByLabel('yellow')).waitFor();
      // The bot answers.
      await ann.locator('.moves button').nth(1).waitFor();
      await says(ann, 'Your turn.');
    }),
  );
}

test(
  'in every language a phone has room for both that whoever looks back can do',
  inHouse(async (house) => {
    const { ann, path } = await over(house, { viewport: { width: 390, height: 844 } });
    await ann.goto(`${path}#3`);
    await says(ann, 'After 3 of 7 moves.');
    const languages = ann.locator('header select');
    for (const [code, language] of variants(Object.entries(LANGUAGES), 'de', 'fr')) {
      await ann.setViewportSize({ width: 1200, height: 844 });
      await languages.selectOption(language);
      await ann.locator(`html[data-language=${code}] .onward`).waitFor();
      await ann.setViewportSize({ width: 390, height: 844 });
      await ann.locator('.asked > .onward').waitFor();
      await fits(ann);
      const box = await ann.locator('.asked > .onward').boundingBox();
      assert.ok(box && box.x + box.width <= 390 && box.width > 40, language);
      await picture(ann, `look-back-${code}`);
    }
  }),
);

test(
  'who has resigned plays on against the same bot, from the end on, too',
  inHouse(async (house) => {
    const ann = await house.visitor();
    await playBot(ann, { game: 'Tic-tac-toe', level: 'Easy', side: 'first' });
    await play(ann, 'b2');
    await says(ann, 'Your turn.');
    const before = ann.url();
    await inBar(ann, 'Resign …').click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await ann.getByRole('button', { name: 'Show the board' }).click();
    await ann.getByRole('button', { name: 'Play on from here' }).click();
    await ann.waitForURL((url) => url.href !== before && url.pathname.startsWith('/m/'));
    await says(ann, 'Your turn.');
    await cell(ann, 'b2').and(ann.getByLabel('x')).waitFor();
    await ann.getByText('easy bot').first().waitFor();
  }),
);
