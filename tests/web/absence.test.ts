// Who goes away, for how long that is borne, and who plays on meanwhile.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { inBar, inviteOn, isOpenToAll, moves, myTurn, play, says } from './players.ts';
import { closeBrowser, inHouse, picture } from './support.ts';

after(closeBrowser);

test(
  'a bot sits in for whoever has gone, who takes the seat back',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const terms = { stand_in: 'easy', patience_ms: 10_000 };
    const bob = await house.visitor(await inviteOn(ann, terms, 'Chess'));
    await play(ann, 'e2', 'e4');
    const url = bob.url();
    await bob.close();
    await ann.getByText(/away, \ds until a bot sits in/).waitFor();
    await picture(ann, 'absent');
    await ann.locator('.player', { hasText: /Easy bot for guest-\w+/ }).waitFor();
    // The bot plays on.
    await myTurn(ann);
    assert.equal(await moves(ann), 2);
    await picture(ann, 'stood-in');
    // The match is told before the room is there, which no worker brings.
    const storageState = await bob.context().storageState();
    const browser = bob.context().browser();
    const context = await browser?.newContext({ storageState, serviceWorkers: 'block' });
    assert.ok(context);
    const back = await context.newPage();
    const told = new Promise((resolve) => {
      back.on('websocket', (socket) => {
        socket.on('framereceived', ({ payload }) => {
          if (JSON.parse(String(payload)).type === 'match') resolve(null);
        });
      });
    });
    await back.route(/\/room\.js/, async (route) => {
      await told;
      await route.continue();
    });
    await back.goto(url);
    await back.getByText('Black · you').waitFor();
    await ann.locator('.player', { hasText: 'Easy bot' }).waitFor({ state: 'detached' });
    await play(ann, 'd2', 'd4');
    await myTurn(back);
    await context.close();
  }),
);

test(
  'whoever goes leaves the seat to a bot, looks on, and comes back',
  inHouse(async (house) => {
    const ann = await house.visitor('/', { axe: true });
    const bob = await house.visitor(await inviteOn(ann, { stand_in: 'hard' }, 'Chess'));
    await myTurn(ann);
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Let the hard bot play on' }).click();
    await ann.getByText('A bot plays for you.').first().waitFor();
    await bob.locator('.player', { hasText: /Hard bot for guest-\w+/ }).waitFor();
    await myTurn(bob);
    await isOpenToAll(ann, 'stood in for');
    await picture(ann, 'stood-in-for');
    await ann.getByRole('button', { name: 'Take the seat back' }).click();
    await ann.getByText('White · you').waitFor();
    await play(bob, 'a7', 'a6');
    await myTurn(ann);
  }),
);

test(
  'for whom a bot has played to the end asks for the rematch',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await inviteOn(ann, { stand_in: 'easy' }, 'Chess'));
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Let the easy bot play on' }).click();
    await bob.getByText('A bot plays for you.').first().waitFor();
    await myTurn(ann);
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    // They count who sat at the start.
    await says(bob, 'You win!');
    await inBar(bob, 'Rematch').click();
    await ann.getByRole('button', { name: 'Accept' }).click();
    await bob.getByText('White · you').waitFor();
    await myTurn(bob);
  }),
);
