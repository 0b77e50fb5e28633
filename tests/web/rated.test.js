// Matches that count for ratings, and matches that not everybody may watch: what is asked for.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { chooseClock, fits, isOpenToAll, signUp } from './players.js';
import { closeBrowser, inHouse, picture } from './support.js';

/** @import { Page } from './support.js' */

after(closeBrowser);

/**
 * Refuses requests of these types, and tells each of them in turn.
 * @param {Page} page
 * @param {string[]} types
 * @returns {Promise<(does: () => Promise<void>) => Promise<any>>}
 */
async function refusing(page, types) {
  let heard = (/** @type {any} */ _request) => {};
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      if (!types.includes(request.type)) return server.send(text);
      const refusal = { code: 'overloaded', message: 'it is full', retryable: true };
      socket.send(JSON.stringify({ type: 'error', re: request.id, ...refusal }));
      heard(request);
    });
  });
  await page.reload();
  return async (does) => {
    const asked = new Promise((resolve) => (heard = resolve));
    await does();
    return asked;
  };
}

const rated = (/** @type {Page} */ page) => page.getByRole('checkbox', { name: /^Rated/ });

for (const [size, viewport] of Object.entries({
  phone: { width: 390, height: 844 },
  lying: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
})) {
  test(
    `whoever has an account may play for ratings, by the clock: ${size}`,
    inHouse(async (house) => {
      const options = { viewport, reducedMotion: /** @type {const} */ ('reduce'), axe: true };
      const ann = await house.visitor('/', options);
      await chooseClock(ann, '5+3');
      assert.equal(await rated(ann).count(), 0);
      await signUp(ann, 'ada');
      const asked = await refusing(ann, ['create', 'seek']);
      const click = (/** @type {string | RegExp} */ name) =>
        asked(() => ann.getByRole('button', { name }).click());
      await chooseClock(ann, '5+3');
      await rated(ann).check();
      await ann.getByText('No bot comes.').waitFor();
      await ann.getByText('Against a bot it does not count.').waitFor();
      assert.equal(await ann.getByLabel('Taking moves back').isVisible(), false);
      assert.equal(await ann.getByLabel('If somebody leaves').isVisible(), false);
      await ann.getByText('Who may watch').first().click();
      assert.equal(await ann.getByRole('combobox', { name: 'Who may watch' }).count(), 0);
      await ann.getByLabel('They see it').selectOption('3 minutes later');
      await isOpenToAll(ann, 'rated');
      await fits(ann);
      await picture(ann, `rated-${size}`);
      const invited = await click('Invite a friend');
      const sought = await click('Find an opponent');
      await ann.getByText('The server has more to do than it can now.').waitFor();
      const bot = await click(/^Play the/);
      assert.equal(invited.rated, true);
      assert.equal(invited.takeback, false);
      assert.equal(invited.delay_ms, 180_000);
      assert.ok(!('stand_in' in invited) && !('watch' in invited));
      assert.equal(sought.rated, true);
      assert.deepEqual(sought.rating, [-200, 200]);
      assert.ok(!('bot' in sought) && !('stand_in' in sought) && !('takeback' in sought));
      assert.ok(!('rated' in bot) && !('delay_ms' in bot));
      assert.equal(bot.takeback, true);
      // Without a clock nothing counts, whatever was chosen before.
      await chooseClock(ann, 'None');
      assert.equal(await rated(ann).count(), 0);
      await ann.getByLabel('If somebody leaves').waitFor();
      const plain = await click('Invite a friend');
      assert.ok(!('rated' in plain));
      assert.equal(plain.takeback, true);
    }),
  );
}

test(
  'whoever makes a match says who may watch it, and when',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const asked = await refusing(ann, ['create']);
    const open = () => asked(() => ann.getByRole('button', { name: 'Open to all' }).click());
    const usual = await open();
    assert.ok(!('watch' in usual) && !('delay_ms' in usual));
    await ann.getByText('Who may watch').first().click();
    const who = ann.getByRole('combobox', { name: 'Who may watch' });
    await who.selectOption('Whoever has the link');
    await ann.getByLabel('They see it').selectOption('10 minutes later');
    const late = await open();
    assert.equal(late.watch, 'code');
    assert.equal(late.delay_ms, 600_000);
    await who.selectOption('Nobody but us');
    assert.equal(await ann.getByLabel('They see it').isVisible(), false);
    const alone = await open();
    assert.equal(alone.watch, 'nobody');
    assert.ok(!('delay_ms' in alone));
    // By days nobody sees it later.
    await who.selectOption('Anybody');
    await chooseClock(ann, '3 days a move');
    const days = await open();
    assert.equal(days.watch, 'anyone');
    assert.ok(!('delay_ms' in days));
  }),
);
