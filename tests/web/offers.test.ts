// What players offer each other, and what else they do beside moving.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  inviteWithTerms,
  expectAccessible,
  countMoves,
  waitForMyTurn,
  playMove,
  startBotMatch,
  waitForStatus,
  expectTitle,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Why nothing is to be done there. */
async function isBarred(page: Page, name: string, why: string) {
  await barButton(page, name).and(page.locator('[aria-disabled=true]')).waitFor();
  await eventually(async () =>
    assert.equal(await barButton(page, name).getAttribute('title'), why),
  );
}

const answer = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Offers' }).getByRole('button', { name });

test(
  'a draw is offered, declined by click, offered by the other and taken by key',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    await isBarred(ann, 'Offer a draw', 'A draw can be offered after two moves.');
    const places = await Promise.all(
      ['Offer a draw', 'Resign …', 'Flip the board'].map((name) =>
        barButton(ann, name).boundingBox(),
      ),
    );
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await waitForMyTurn(ann);
    await barButton(ann, 'Offer a draw').click();
    await bob
      .getByText(/^guest-\w+ offers a draw\.$/)
      .first()
      .waitFor();
    await expectTitle(bob, /^● guest-\w+ offers a draw\. – Chess/);
    await bob.locator('link[rel=icon][href$="/icon-calling.svg"]').waitFor({ state: 'attached' });
    await bob.locator('#heard', { hasText: 'offers a draw.' }).waitFor({ state: 'attached' });
    await isBarred(ann, 'Offer a draw', 'You have offered a draw.');
    await takeScreenshot(bob, 'offered');
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: /^guest-\w+ declines the draw\.$/ }).waitFor();
    await expectTitle(bob, /^[^●]/);
    await bob.locator('link[rel=icon][href$="/icon.svg"]').waitFor({ state: 'attached' });
    const again = 'You have offered one lately. It can be asked again in 20 moves.';
    await isBarred(ann, 'Offer a draw', again);
    assert.equal(await barButton(ann, 'Offer a draw').innerText(), 'in 20');

    await barButton(bob, 'Offer a draw').click();
    await answer(ann, 'Accept').waitFor();
    assert.equal(await answer(ann, 'Accept').getAttribute('aria-keyshortcuts'), 'y');
    await expectAccessible(ann, 'offered a draw');
    await expectNoHorizontalOverflow(ann);
    assert.deepEqual(
      await Promise.all(
        ['Offer a draw', 'Resign …', 'Flip the board'].map((name) =>
          barButton(ann, name).boundingBox(),
        ),
      ),
      places,
    );
    await ann.keyboard.press('y');
    for (const page of [ann, bob]) {
      await waitForStatus(page, 'A draw.');
      await page.getByText('Both agreed on it.', { exact: true }).waitFor();
    }
  }),
);

test(
  'a flag during an open draw offer ends the match as a draw, and the page says why',
  withServer(async (house) => {
    const ann = await house.openPage('/');
    const clock = { kind: 'fischer', main_ms: 10_000, increment_ms: 0 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock }, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(bob, 'Offer a draw').click();
    await answer(ann, 'Accept').waitFor();
    for (const page of [ann, bob]) {
      await waitForStatus(page, 'A draw.');
      await page.getByText('Time ran out while a draw offer was open.', { exact: true }).waitFor();
    }
  }),
);

test(
  'moves are taken back: asked for, withdrawn, agreed on',
  withServer(async (house) => {
    const ann = await house.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 60_000 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock }, 'Chess'));
    await waitForMyTurn(ann);
    await isBarred(ann, 'Take back', 'You have not moved yet.');
    for (const [who, from, to] of [
      [ann, 'e2', 'e4'],
      [bob, 'e7', 'e5'],
      [ann, 'd2', 'd4'],
    ] as const) {
      await playMove(who, from, to);
    }
    // The third move was charged, and brought its increment.
    await ann
      .getByRole('timer')
      .first()
      .filter({ hasText: /^[56]:/ })
      .waitFor();
    await barButton(ann, 'Take back').click();
    await bob
      .getByText(/asks to take back the last move\.$/)
      .first()
      .waitFor();
    await answer(ann, 'Withdraw').click();
    await answer(bob, 'Accept').waitFor({ state: 'detached' });
    await playMove(bob, 'a7', 'a6');
    await waitForMyTurn(ann);
    await barButton(ann, 'Take back').click();
    await bob
      .getByText(/asks to take back 2 moves\.$/)
      .first()
      .waitFor();
    await answer(bob, 'Accept').click();
    for (const page of [ann, bob]) {
      await cell(page, 'd4').and(page.getByLabel('empty')).waitFor();
      assert.equal(await countMoves(page), 2);
    }
    await ann
      .getByRole('timer')
      .first()
      .filter({ hasText: /^[45]:\d\dto move/ })
      .waitFor();
    // What is played now is another move than the one that was taken back.
    await playMove(ann, 'd2', 'd3');
    await cell(bob, 'd3').and(bob.getByLabel('white pawn')).waitFor();
  }),
);

test(
  'a bot takes back at once',
  withServer(async (house) => {
    const page = await house.openPage();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    await barButton(page, 'Take back').click();
    await page.locator('.moves button').first().waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
  }),
);

test(
  'what the terms exclude is told, and nothing is asked without a connection',
  withServer(async (house) => {
    house.expectsFailures = true;
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteWithTerms(ann, { takeback: false }));
    await playMove(ann, 'b2');
    await isBarred(ann, 'Take back', 'In this match nothing is taken back.');
    await isBarred(ann, 'Offer a draw', 'In this game nobody agrees on a draw.');
    await barButton(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'In this game nobody agrees on a draw.' }).waitFor();
    await house.server.kill();
    await isBarred(bob, 'Resign …', 'There is no connection now.');
    await house.server.start();
    for (const page of [ann, bob]) {
      await barButton(page, 'Resign …').and(page.locator('[aria-disabled=false]')).waitFor();
    }
  }),
);

test(
  'a question that is open stays open while the other moves',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await barButton(ann, 'Resign …').click();
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    await playMove(bob, 'a1');
    await waitForMyTurn(ann);
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    // Two moves are played: it can be called off no more.
    await ann.getByRole('button', { name: 'Cancel the match' }).waitFor({ state: 'hidden' });
    await ann.keyboard.press('Escape');
    await barButton(ann, 'Resign …').and(ann.locator(':focus')).waitFor();
  }),
);

test(
  'a match that has hardly begun is called off',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    for (const page of [ann, bob]) await waitForStatus(page, 'No result.');
    await ann.getByText(/^guest-\w+ cancelled the match\.$/).waitFor();
    await bob.getByText('You cancelled the match.', { exact: true }).waitFor();
  }),
);

test(
  'time is given to the other',
  withServer(async (house) => {
    const ann = await house.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 0 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock }));
    await waitForMyTurn(ann);
    await barButton(ann, '+15s for the other').click();
    await bob.locator('#toast', { hasText: 'You are given 15 seconds more.' }).waitFor();
    for (const page of [ann, bob]) {
      await page.getByRole('timer').nth(1).filter({ hasText: '5:15' }).waitFor();
    }
  }),
);

test(
  'an offer in a match out of sight is told',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await barButton(ann, 'Offer a draw').click();
    await bob.locator('#toast', { hasText: /^Chess: guest-\w+ offers a draw\./ }).waitFor();
    await expectTitle(bob, '● An offer – Plyhouse');
  }),
);

test(
  'what is said of a match goes away with its next event',
  withServer(async (house) => {
    const ann = await house.openPage();
    // Not because its time is over: nothing ends by itself that is shown for as long as that.
    await ann.evaluate(() => {
      const { setTimeout } = globalThis;
      const longer = (ms: number) => (ms === 6000 ? ms * 100 : ms);
      globalThis.setTimeout = ((then: () => void, ms: number) =>
        setTimeout(then, longer(ms))) as typeof setTimeout;
    });
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(ann, 'Offer a draw').click();
    await answer(bob, 'Decline').click();
    const said = ann.locator('#toast', { hasText: 'declines the draw.' });
    await said.waitFor();
    await playMove(ann, 'd2', 'd3');
    await said.waitFor({ state: 'detached' });
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await barButton(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'It can be asked again in 19 moves.' }).waitFor();
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.locator('#toast p').waitFor({ state: 'detached' });
  }),
);

test(
  'a page that has only just come learns from a refusal for how long it is one',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(ann, 'Offer a draw').click();
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: 'declines the draw.' }).waitFor();
    await ann.reload();
    await waitForMyTurn(ann);
    await barButton(ann, 'Offer a draw').click();
    const why = 'It is too soon to offer a draw. It can be asked again in 20 moves.';
    await isBarred(ann, 'Offer a draw', why);
    await playMove(ann, 'd2', 'd3');
    await isBarred(ann, 'Offer a draw', why.replace('20', '19'));
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await barButton(ann, 'Rematch').click();
    await answer(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: 'does not want to play again.' }).waitFor();
    await barButton(ann, 'Rematch')
      .filter({ hasText: /^[56]\ds$/ })
      .waitFor();
    await barButton(ann, 'Rematch')
      .filter({ hasText: /^5[0-7]s$/ })
      .waitFor();
  }),
);

test(
  'whoever watches is told what is offered, and asked nothing',
  withServer(async (house) => {
    const ann = await house.openPage();
    const link = await inviteFriend(ann, 'Chess');
    const bob = await house.openPage(link);
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    const eve = await house.openPage(link);
    await eve.getByText('You are watching.').waitFor();
    await barButton(ann, 'Offer a draw').click();
    await barButton(bob, 'Take back').click();
    const offers = eve.getByRole('group', { name: 'Offers' });
    await offers.getByText(/^guest-\w+ offers a draw\.$/).waitFor();
    await offers.getByText(/^guest-\w+ asks to take back the last move\.$/).waitFor();
    assert.equal(await offers.getByRole('button').count(), 0);
    await answer(bob, 'Decline').click();
    await offers.getByText('offers a draw.').waitFor({ state: 'detached' });
  }),
);
