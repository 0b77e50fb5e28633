// What players offer each other, and what else they do beside moving.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  fits,
  inBar,
  invite,
  inviteOn,
  isOpenToAll,
  moves,
  myTurn,
  play,
  playBot,
  says,
  titled,
} from './players.ts';
import { closeBrowser, eventually, inHouse, picture } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Why nothing is to be done there. */
async function isBarred(page: Page, name: string, why: string) {
  await inBar(page, name).and(page.locator('[aria-disabled=true]')).waitFor();
  await eventually(async () => assert.equal(await inBar(page, name).getAttribute('title'), why));
}

const answer = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Offers' }).getByRole('button', { name });

test(
  'a draw is offered, declined by click, offered by the other and taken by key',
  inHouse(async (house) => {
    const ann = await house.visitor('/', { axe: true });
    const bob = await house.visitor(await invite(ann, 'Chess'));
    await myTurn(ann);
    await isBarred(ann, 'Offer a draw', 'A draw can be offered after two moves.');
    const places = await Promise.all(
      ['Offer a draw', 'Resign …', 'Flip the board'].map((name) => inBar(ann, name).boundingBox()),
    );
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await myTurn(ann);
    await inBar(ann, 'Offer a draw').click();
    await bob
      .getByText(/^guest-\w+ offers a draw\.$/)
      .first()
      .waitFor();
    await titled(bob, /^● guest-\w+ offers a draw\. – Chess/);
    await bob.locator('link[rel=icon][href$="/icon-calling.svg"]').waitFor({ state: 'attached' });
    await bob.locator('#heard', { hasText: 'offers a draw.' }).waitFor({ state: 'attached' });
    await isBarred(ann, 'Offer a draw', 'You have offered a draw.');
    await picture(bob, 'offered');
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: /^guest-\w+ declines the draw\.$/ }).waitFor();
    await titled(bob, /^[^●]/);
    await bob.locator('link[rel=icon][href$="/icon.svg"]').waitFor({ state: 'attached' });
    const again = 'You have offered one lately. It can be asked again in 20 moves.';
    await isBarred(ann, 'Offer a draw', again);
    assert.equal(await inBar(ann, 'Offer a draw').innerText(), 'in 20');

    await inBar(bob, 'Offer a draw').click();
    await answer(ann, 'Accept').waitFor();
    assert.equal(await answer(ann, 'Accept').getAttribute('aria-keyshortcuts'), 'y');
    await isOpenToAll(ann, 'offered a draw');
    await fits(ann);
    assert.deepEqual(
      await Promise.all(
        ['Offer a draw', 'Resign …', 'Flip the board'].map((name) =>
          inBar(ann, name).boundingBox(),
        ),
      ),
      places,
    );
    await ann.keyboard.press('y');
    for (const page of [ann, bob]) {
      await says(page, 'A draw.');
      await page.getByText('Both agreed on it.', { exact: true }).waitFor();
    }
  }),
);

test(
  'a flag during an open draw offer ends the match as a draw, and the page says why',
  inHouse(async (house) => {
    const ann = await house.visitor('/');
    const clock = { kind: 'fischer', main_ms: 10_000, increment_ms: 0 };
    const bob = await house.visitor(await inviteOn(ann, { clock }, 'Chess'));
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await inBar(bob, 'Offer a draw').click();
    await answer(ann, 'Accept').waitFor();
    for (const page of [ann, bob]) {
      await says(page, 'A draw.');
      await page.getByText('Time ran out while a draw offer was open.', { exact: true }).waitFor();
    }
  }),
);

test(
  'moves are taken back: asked for, withdrawn, agreed on',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 60_000 };
    const bob = await house.visitor(await inviteOn(ann, { clock }, 'Chess'));
    await myTurn(ann);
    await isBarred(ann, 'Take back', 'You have not moved yet.');
    for (const [who, from, to] of [
      [ann, 'e2', 'e4'],
      [bob, 'e7', 'e5'],
      [ann, 'd2', 'd4'],
    ] as const) {
      await play(who, from, to);
    }
    // The third move was charged, and brought its increment.
    await ann
      .getByRole('timer')
      .first()
      .filter({ hasText: /^[56]:/ })
      .waitFor();
    await inBar(ann, 'Take back').click();
    await bob
      .getByText(/asks to take back the last move\.$/)
      .first()
      .waitFor();
    await answer(ann, 'Withdraw').click();
    await answer(bob, 'Accept').waitFor({ state: 'detached' });
    await play(bob, 'a7', 'a6');
    await myTurn(ann);
    await inBar(ann, 'Take back').click();
    await bob
      .getByText(/asks to take back 2 moves\.$/)
      .first()
      .waitFor();
    await answer(bob, 'Accept').click();
    for (const page of [ann, bob]) {
      await cell(page, 'd4').and(page.getByLabel('empty')).waitFor();
      assert.equal(await moves(page), 2);
    }
    await ann
      .getByRole('timer')
      .first()
      .filter({ hasText: /^[45]:\d\dto move/ })
      .waitFor();
    // What is played now is another move than the one that was taken back.
    await play(ann, 'd2', 'd3');
    await cell(bob, 'd3').and(bob.getByLabel('white pawn')).waitFor();
  }),
);

test(
  'a bot takes back at once',
  inHouse(async (house) => {
    const page = await house.visitor();
    await playBot(page);
    await play(page, 'b2');
    await myTurn(page);
    await inBar(page, 'Take back').click();
    await page.locator('.moves button').first().waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
  }),
);

test(
  'what the terms exclude is told, and nothing is asked without a connection',
  inHouse(async (house) => {
    house.expectsFailures = true;
    const ann = await house.visitor();
    const bob = await house.visitor(await inviteOn(ann, { takeback: false }));
    await play(ann, 'b2');
    await isBarred(ann, 'Take back', 'In this match nothing is taken back.');
    await isBarred(ann, 'Offer a draw', 'In this game nobody agrees on a draw.');
    await inBar(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'In this game nobody agrees on a draw.' }).waitFor();
    await house.server.kill();
    await isBarred(bob, 'Resign …', 'There is no connection now.');
    await house.server.start();
    for (const page of [ann, bob]) {
      await inBar(page, 'Resign …').and(page.locator('[aria-disabled=false]')).waitFor();
    }
  }),
);

test(
  'a question that is open stays open while the other moves',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await play(ann, 'b2');
    await inBar(ann, 'Resign …').click();
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    await play(bob, 'a1');
    await myTurn(ann);
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    // Two moves are played: it can be called off no more.
    await ann.getByRole('button', { name: 'Cancel the match' }).waitFor({ state: 'hidden' });
    await ann.keyboard.press('Escape');
    await inBar(ann, 'Resign …').and(ann.locator(':focus')).waitFor();
  }),
);

test(
  'a match that has hardly begun is called off',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await play(ann, 'b2');
    await inBar(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    for (const page of [ann, bob]) await says(page, 'No result.');
    await ann.getByText(/^guest-\w+ cancelled the match\.$/).waitFor();
    await bob.getByText('You cancelled the match.', { exact: true }).waitFor();
  }),
);

test(
  'time is given to the other',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 0 };
    const bob = await house.visitor(await inviteOn(ann, { clock }));
    await myTurn(ann);
    await inBar(ann, '+15s for the other').click();
    await bob.locator('#toast', { hasText: 'You are given 15 seconds more.' }).waitFor();
    for (const page of [ann, bob]) {
      await page.getByRole('timer').nth(1).filter({ hasText: '5:15' }).waitFor();
    }
  }),
);

test(
  'an offer in a match out of sight is told',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann, 'Chess'));
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await inBar(ann, 'Offer a draw').click();
    await bob.locator('#toast', { hasText: /^Chess: guest-\w+ offers a draw\./ }).waitFor();
    await titled(bob, '● An offer – Plyhouse');
  }),
);

test(
  'what is said of a match goes away with its next event',
  inHouse(async (house) => {
    const ann = await house.visitor();
    // Not because its time is over: nothing ends by itself that is shown for as long as that.
    await ann.evaluate(() => {
      const { setTimeout } = globalThis;
      const longer = (ms: number) => (ms === 6000 ? ms * 100 : ms);
      globalThis.setTimeout = ((then: () => void, ms: number) =>
        setTimeout(then, longer(ms))) as typeof setTimeout;
    });
    const bob = await house.visitor(await invite(ann, 'Chess'));
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await inBar(ann, 'Offer a draw').click();
    await answer(bob, 'Decline').click();
    const said = ann.locator('#toast', { hasText: 'declines the draw.' });
    await said.waitFor();
    await play(ann, 'd2', 'd3');
    await said.waitFor({ state: 'detached' });
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await inBar(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'It can be asked again in 19 moves.' }).waitFor();
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.locator('#toast p').waitFor({ state: 'detached' });
  }),
);

test(
  'a page that has only just come learns from a refusal for how long it is one',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann, 'Chess'));
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await inBar(ann, 'Offer a draw').click();
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: 'declines the draw.' }).waitFor();
    await ann.reload();
    await myTurn(ann);
    await inBar(ann, 'Offer a draw').click();
    const why = 'It is too soon to offer a draw. It can be asked again in 20 moves.';
    await isBarred(ann, 'Offer a draw', why);
    await play(ann, 'd2', 'd3');
    await isBarred(ann, 'Offer a draw', why.replace('20', '19'));
    await inBar(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await inBar(ann, 'Rematch').click();
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: 'does not want to play again.' }).waitFor();
    await inBar(ann, 'Rematch')
      .filter({ hasText: /^[56]\ds$/ })
      .waitFor();
    await inBar(ann, 'Rematch')
      .filter({ hasText: /^5[0-7]s$/ })
      .waitFor();
  }),
);

test(
  'whoever watches is told what is offered, and asked nothing',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const link = await invite(ann, 'Chess');
    const bob = await house.visitor(link);
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    const eve = await house.visitor(link);
    await eve.getByText('You are watching.').waitFor();
    await inBar(ann, 'Offer a draw').click();
    await inBar(bob, 'Take back').click();
    const offers = eve.getByRole('group', { name: 'Offers' });
    await offers.getByText(/^guest-\w+ offers a draw\.$/).waitFor();
    await offers.getByText(/^guest-\w+ asks to take back the last move\.$/).waitFor();
    assert.equal(await offers.getByRole('button').count(), 0);
    await answer(bob, 'Decline').click();
    await offers.getByText('offers a draw.').waitFor({ state: 'detached' });
  }),
);
