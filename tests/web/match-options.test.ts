// The options of a match in the lobby: clock, stand-in and takebacks.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  chooseClock,
  codeFromLink,
  inviteFriend,
  waitForMyTurn,
  createOpenMatch,
  startBotMatch,
  waitForSameUrl,
} from './page-actions.ts';
import { closeBrowser, withServer } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Returns a function that gives the page's last request of this type. */
function watchRequests(page: Page, type: string) {
  let last: any = null;
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const request = JSON.parse(String(payload));
      if (request.type === type) last = request;
    }),
  );
  return () => last;
}

const FIVE_THREE = { kind: 'fischer', main_ms: 300_000, increment_ms: 3000 };

test(
  'a preset clock is sent, shown in the match list, and remembered',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const lastCreate = watchRequests(ann, 'create');
    await ann.reload();
    await chooseClock(ann, '5+3');
    const code = codeFromLink(await createOpenMatch(ann));
    assert.deepEqual(lastCreate().clock, FIVE_THREE);
    const bob = await harness.openPage();
    const row = bob.locator('.rows li', {
      has: bob.getByRole('button', { name: `Join: ${code}` }),
    });
    await row.getByText('Tic-tac-toe · 5+3').waitFor();
    // The list of own matches shows the clock, too.
    await ann.goto('/');
    await ann.locator('.rows li', { hasText: 'Tic-tac-toe · 5+3' }).waitFor();
    await startBotMatch(ann);
    await waitForMyTurn(ann);
    assert.deepEqual(lastCreate().clock, FIVE_THREE);
  }),
);

test(
  'a custom clock is sent and remembered, and an error is shown at its field',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const lastCreate = watchRequests(ann, 'create');
    await ann.reload();
    await chooseClock(ann, 'Your own …');
    await ann.getByLabel('Kind').selectOption('Delay');
    await ann.getByLabel('Minutes for each').fill('7');
    const delay = ann.getByLabel('Seconds of delay');
    await delay.fill('200');
    await ann.getByRole('button', { name: 'Create an open match' }).click();
    await ann
      .getByRole('alert')
      .filter({ hasText: '0.5 seconds to 180 seconds, please.' })
      .waitFor();
    await delay.and(ann.locator(':focus')).waitFor();
    assert.equal(await delay.getAttribute('aria-invalid'), 'true');
    assert.equal(lastCreate(), null);
    await delay.fill('2,5');
    assert.equal(await delay.getAttribute('aria-invalid'), 'false');
    await createOpenMatch(ann);
    assert.deepEqual(lastCreate().clock, { kind: 'delay', main_ms: 420_000, delay_ms: 2500 });
    await ann.goto('/');
    assert.equal(await delay.inputValue(), '2,5');
    await ann.locator('.rows li', { hasText: '7 d2.5' }).waitFor();
    // Each kind has its own fields.
    await ann.getByLabel('Kind').selectOption('Byo-yomi');
    await ann.getByLabel('Periods').waitFor();
    await ann.getByLabel('Kind').selectOption('Time a move');
    await ann.getByLabel('Time for a move').fill('40');
    await ann.getByLabel('Unit').selectOption('seconds');
    await createOpenMatch(ann);
    assert.deepEqual(lastCreate().clock, { kind: 'move', move_ms: 40_000 });
  }),
);

test(
  'two players who seek a match with the same clock are paired',
  withServer(async (harness) => {
    const [ann, bob, cem] = [
      await harness.openPage(),
      await harness.openPage(),
      await harness.openPage(),
    ];
    for (const [player, clock] of [
      [cem, '1+0'],
      [ann, '5+3'],
      [bob, '5+3'],
    ] as const) {
      await player.getByRole('radio', { name: 'Tic-tac-toe', exact: true }).check();
      await chooseClock(player, clock);
      await player.getByRole('button', { name: 'Find an opponent' }).click();
    }
    for (const page of [ann, bob]) await page.getByRole('grid').waitFor();
    await waitForSameUrl(ann, bob);
    await cem.getByText('Looking for an opponent: Tic-tac-toe, 1+0, casual …').waitFor();
  }),
);

test(
  'correspondence matches have no bots, and the lobby says so',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const lastSeek = watchRequests(ann, 'seek');
    await ann.reload();
    await chooseClock(ann, '3 days a move');
    await ann.getByText('Bots do not play by days: choose').waitFor();
    assert.ok(await ann.getByRole('button', { name: /^Play the/ }).isDisabled());
    await ann.getByRole('button', { name: 'Find an opponent' }).click();
    await ann.getByText('The search ends when somebody comes').waitFor();
    assert.equal('bot' in lastSeek(), false);
    await ann.getByRole('button', { name: 'Stop looking' }).click();
    await inviteFriend(ann);
    await ann.getByText('It waits for 14 days; you need not stay.').waitFor();
    assert.equal(await ann.getByLabel('Level of the bot').count(), 0);
    // With a live clock, bots are available again.
    await ann.goto('/');
    await chooseClock(ann, '5+3');
    await ann.getByText('Bots do not play by days: choose').waitFor({ state: 'hidden' });
    await startBotMatch(ann);
  }),
);

test(
  'the options for a stand-in and for takebacks are sent and remembered',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const lastCreate = watchRequests(ann, 'create');
    await ann.reload();
    await inviteFriend(ann);
    assert.equal(lastCreate().takeback, true);
    assert.equal('stand_in' in lastCreate(), false);
    await ann.goto('/');
    const leaving = ann.getByLabel('If somebody leaves');
    await leaving.selectOption('Medium bot plays on');
    await ann.getByLabel('Taking moves back').selectOption('Never');
    await ann.reload();
    assert.equal(await leaving.inputValue(), 'medium');
    const link = await inviteFriend(ann);
    assert.equal(lastCreate().takeback, false);
    assert.equal(lastCreate().stand_in, 'medium');
    // The server applies the option: a bot plays on for a player who leaves.
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    await bob.evaluate(async () => {
      const socket = new WebSocket(`ws://${location.host}/ws`);
      await new Promise((resolve) => (socket.onopen = resolve));
      const token = localStorage.getItem('plyhouse.token');
      socket.send(JSON.stringify({ type: 'hello', token }));
      socket.send(JSON.stringify({ type: 'leave', match: location.pathname.slice(-6) }));
    });
    await ann.locator('.player', { hasText: 'Medium bot' }).waitFor();
    // The player finds the match in the lobby and takes the seat back.
    await bob.goto('/');
    await bob.locator('.rows li', { hasText: 'a bot plays for you' }).waitFor();
    await bob.getByRole('button', { name: /^Take the seat back: / }).click();
    await bob.getByText('O · you').waitFor();
    await ann.locator('.player', { hasText: 'Medium bot' }).waitFor({ state: 'detached' });
  }),
);

test(
  'the page shows which option the server does not know',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await ann.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      // Renames the field `clock`, as if the server did not know it.
      socket.onMessage((text) => {
        const { clock, ...request } = JSON.parse(String(text));
        server.send(JSON.stringify(clock ? { ...request, hourglass: clock } : request));
      });
    });
    await ann.reload();
    await chooseClock(ann, '5+3');
    await inviteFriend(ann);
    await ann
      .locator('#toast', { hasText: 'does not know what this page has asked for: hourglass.' })
      .waitFor();
  }),
);
