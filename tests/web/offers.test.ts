// Offers between players, and other actions of the bar.

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

/** Waits until the bar button is disabled and its tooltip gives the reason. */
async function expectDisabled(page: Page, name: string, reason: string) {
  await barButton(page, name).and(page.locator('[aria-disabled=true]')).waitFor();
  await eventually(async () =>
    assert.equal(await barButton(page, name).getAttribute('title'), reason),
  );
}

const answerButton = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Offers' }).getByRole('button', { name });

test(
  'a draw offer can be declined by mouse and accepted by keyboard',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    await expectDisabled(ann, 'Offer a draw', 'A draw can be offered after two moves.');
    const buttonBoxes = () =>
      Promise.all(
        ['Offer a draw', 'Resign …', 'Flip the board'].map((name) =>
          barButton(ann, name).boundingBox(),
        ),
      );
    const before = await buttonBoxes();
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
    await expectDisabled(ann, 'Offer a draw', 'You have offered a draw.');
    await takeScreenshot(bob, 'offered');
    await answerButton(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: /^guest-\w+ declines the draw\.$/ }).waitFor();
    await expectTitle(bob, /^[^●]/);
    await bob.locator('link[rel=icon][href$="/icon.svg"]').waitFor({ state: 'attached' });
    const reason = 'You have offered one lately. It can be asked again in 20 moves.';
    await expectDisabled(ann, 'Offer a draw', reason);
    assert.equal(await barButton(ann, 'Offer a draw').innerText(), 'in 20');

    await barButton(bob, 'Offer a draw').click();
    await answerButton(ann, 'Accept').waitFor();
    assert.equal(await answerButton(ann, 'Accept').getAttribute('aria-keyshortcuts'), 'y');
    await expectAccessible(ann, 'offered a draw');
    await expectNoHorizontalOverflow(ann);
    assert.deepEqual(await buttonBoxes(), before);
    await ann.keyboard.press('y');
    for (const page of [ann, bob]) {
      await waitForStatus(page, 'A draw.');
      await page.getByText('Both agreed on it.', { exact: true }).waitFor();
    }
  }),
);

test(
  'a match ends as a draw if time runs out during a draw offer, and the page says why',
  withServer(async (harness) => {
    const ann = await harness.openPage('/');
    const clock = { kind: 'fischer', main_ms: 10_000, increment_ms: 0 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock }, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(bob, 'Offer a draw').click();
    await answerButton(ann, 'Accept').waitFor();
    for (const page of [ann, bob]) {
      await waitForStatus(page, 'A draw.');
      await page.getByText('Time ran out while a draw offer was open.', { exact: true }).waitFor();
    }
  }),
);

test(
  'a takeback can be requested, withdrawn and accepted',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 60_000 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock }, 'Chess'));
    await waitForMyTurn(ann);
    await expectDisabled(ann, 'Take back', 'You have not moved yet.');
    for (const [player, from, to] of [
      [ann, 'e2', 'e4'],
      [bob, 'e7', 'e5'],
      [ann, 'd2', 'd4'],
    ] as const) {
      await playMove(player, from, to);
    }
    // The clock was charged for the third move and received the increment.
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
    await answerButton(ann, 'Withdraw').click();
    await answerButton(bob, 'Accept').waitFor({ state: 'detached' });
    await playMove(bob, 'a7', 'a6');
    await waitForMyTurn(ann);
    await barButton(ann, 'Take back').click();
    await bob
      .getByText(/asks to take back 2 moves\.$/)
      .first()
      .waitFor();
    await answerButton(bob, 'Accept').click();
    for (const page of [ann, bob]) {
      await cell(page, 'd4').and(page.getByLabel('empty')).waitFor();
      assert.equal(await countMoves(page), 2);
    }
    await ann
      .getByRole('timer')
      .first()
      .filter({ hasText: /^[45]:\d\dto move/ })
      .waitFor();
    // A different move can replace the one taken back.
    await playMove(ann, 'd2', 'd3');
    await cell(bob, 'd3').and(bob.getByLabel('white pawn')).waitFor();
  }),
);

test(
  'a bot accepts a takeback at once',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    await barButton(page, 'Take back').click();
    await page.locator('.moves button').first().waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
  }),
);

test(
  'buttons are disabled with a reason if the terms exclude the action or the connection is lost',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteWithTerms(ann, { takeback: false }));
    await playMove(ann, 'b2');
    await expectDisabled(ann, 'Take back', 'In this match nothing is taken back.');
    await expectDisabled(ann, 'Offer a draw', 'In this game nobody agrees on a draw.');
    await barButton(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'In this game nobody agrees on a draw.' }).waitFor();
    await harness.server.kill();
    await expectDisabled(bob, 'Resign …', 'There is no connection now.');
    await harness.server.start();
    for (const page of [ann, bob]) {
      await barButton(page, 'Resign …').and(page.locator('[aria-disabled=false]')).waitFor();
    }
  }),
);

test(
  'an open confirmation stays open while the opponent moves',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await barButton(ann, 'Resign …').click();
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    await playMove(bob, 'a1');
    await waitForMyTurn(ann);
    await ann.locator(':focus', { hasText: 'Play on' }).waitFor();
    // After two moves, the match can no longer be cancelled.
    await ann.getByRole('button', { name: 'Cancel the match' }).waitFor({ state: 'hidden' });
    await ann.keyboard.press('Escape');
    await barButton(ann, 'Resign …').and(ann.locator(':focus')).waitFor();
  }),
);

test(
  'a match can be cancelled after the first move',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    for (const page of [ann, bob]) await waitForStatus(page, 'No result.');
    await ann.getByText(/^guest-\w+ cancelled the match\.$/).waitFor();
    await bob.getByText('You cancelled the match.', { exact: true }).waitFor();
  }),
);

test(
  'a player can give time to the opponent',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 0 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock }));
    await waitForMyTurn(ann);
    await barButton(ann, '+15s for the other').click();
    await bob.locator('#toast', { hasText: 'You are given 15 seconds more.' }).waitFor();
    for (const page of [ann, bob]) {
      await page.getByRole('timer').nth(1).filter({ hasText: '5:15' }).waitFor();
    }
  }),
);

test(
  'a toast reports an offer in a match that is out of sight',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await barButton(ann, 'Offer a draw').click();
    await bob.locator('#toast', { hasText: /^Chess: guest-\w+ offers a draw\./ }).waitFor();
    await expectTitle(bob, '● An offer – Plyhouse');
  }),
);

test(
  'the next event of a match removes the toast about it',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    // Extends the timeout of toasts, so that it cannot remove them.
    await ann.evaluate(() => {
      const { setTimeout } = globalThis;
      const extend = (ms: number) => (ms === 6000 ? ms * 100 : ms);
      globalThis.setTimeout = ((callback: () => void, ms: number) =>
        setTimeout(callback, extend(ms))) as typeof setTimeout;
    });
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(ann, 'Offer a draw').click();
    await answerButton(bob, 'Decline').click();
    const toast = ann.locator('#toast', { hasText: 'declines the draw.' });
    await toast.waitFor();
    await playMove(ann, 'd2', 'd3');
    await toast.waitFor({ state: 'detached' });
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await barButton(ann, 'Offer a draw').click({ force: true });
    await ann.locator('#toast', { hasText: 'It can be asked again in 19 moves.' }).waitFor();
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.locator('#toast p').waitFor({ state: 'detached' });
  }),
);

test(
  'after a reload, an error of the server tells the page how long a cooldown lasts',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await barButton(ann, 'Offer a draw').click();
    await answerButton(bob, 'Decline').click();
    await ann.locator('#toast', { hasText: 'declines the draw.' }).waitFor();
    await ann.reload();
    await waitForMyTurn(ann);
    await barButton(ann, 'Offer a draw').click();
    const tooSoon = 'It is too soon to offer a draw. It can be asked again in 20 moves.';
    await expectDisabled(ann, 'Offer a draw', tooSoon);
    await playMove(ann, 'd2', 'd3');
    await expectDisabled(ann, 'Offer a draw', tooSoon.replace('20', '19'));
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await barButton(ann, 'Rematch').click();
    await answerButton(bob, 'Decline').click();
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
  'spectators see offers but no buttons to answer them',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann, 'Chess');
    const bob = await harness.openPage(link);
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    const eve = await harness.openPage(link);
    await eve.getByText('You are watching.').waitFor();
    await barButton(ann, 'Offer a draw').click();
    await barButton(bob, 'Take back').click();
    const offers = eve.getByRole('group', { name: 'Offers' });
    await offers.getByText(/^guest-\w+ offers a draw\.$/).waitFor();
    await offers.getByText(/^guest-\w+ asks to take back the last move\.$/).waitFor();
    assert.equal(await offers.getByRole('button').count(), 0);
    await answerButton(bob, 'Decline').click();
    await offers.getByText('offers a draw.').waitFor({ state: 'detached' });
  }),
);
