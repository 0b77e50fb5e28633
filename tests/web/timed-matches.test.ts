// The clocks on the page of a match.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  inviteWithTerms,
  expectAccessible,
  waitForMyTurn,
  playMove,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const clockOf = (page: Page, seat: number) => page.getByRole('timer').nth(seat);

/**
 * Records the texts of the clocks until the match is over, because a slow machine would miss
 * short-lived ones. A running clock has the suffix ` on`, or ` red` if it is low.
 */
const recordClocks = (page: Page) =>
  page.evaluate(() => {
    const clockTexts: string[] = [];
    Object.assign(globalThis, { clockTexts });
    const recordTexts = () => {
      if (document.querySelector('.room.ended')) return;
      for (const clock of document.querySelectorAll('[role=timer]')) {
        const suffix = clock.closest('.on') ? (clock.closest('.low') ? ' red' : ' on') : '';
        clockTexts.push(`${clock.textContent}${suffix}`);
      }
    };
    recordTexts();
    new MutationObserver(recordTexts).observe(document.body, {
      ...{ childList: true, subtree: true, characterData: true, attributes: true },
    });
  });

/** Checks that a clock has shown a matching text. */
const expectShown = async (page: Page, expected: RegExp) => {
  const texts = await recordedTexts(page);
  assert.ok(
    texts.some((text) => expected.test(text)),
    `${expected}: ${[...new Set(texts)].join(', ')}`,
  );
};

const recordedTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    // @ts-expect-error: set by `recordClocks`
    return globalThis.clockTexts;
  });

/** Turns sounds on, and counts the ticks of the clock. */
async function countTicks(page: Page) {
  await page.evaluate(() => {
    const { prototype } = AudioScheduledSourceNode;
    const { start } = prototype;
    Object.assign(globalThis, { ticks: 0 });
    prototype.start = function (...when) {
      // @ts-expect-error: set by `countTicks`
      if (this instanceof OscillatorNode && this.frequency.value === 880) globalThis.ticks += 1;
      return start.apply(this, when);
    };
  });
  await page.getByRole('button', { name: 'Sounds' }).click();
}

test(
  'clocks count down, turn red, tick, and run out',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    const clock = { kind: 'fischer', main_ms: 10_600, increment_ms: 0 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock }));
    await countTicks(ann);
    // The first move of each player has its own time limit and does not use the clock.
    await clockOf(ann, 0)
      .filter({ hasText: /^0:11first move: 0:\d\d$/ })
      .waitFor();
    await playMove(ann, 'b2');
    await clockOf(ann, 1).filter({ hasText: 'first move' }).waitFor();
    assert.equal(await clockOf(ann, 0).textContent(), '0:11');
    for (const page of [ann, bob]) await recordClocks(page);
    await playMove(bob, 'a1');
    await waitForMyTurn(ann);
    const timer = clockOf(ann, 0);
    await timer
      .and(ann.locator('.on.low'))
      .filter({ hasText: /^\d\.\dto move$/ })
      .waitFor();
    await ann
      // A busy page announces it later.
      .locator('#heard', { hasText: /You have (10|[5-9]) seconds left\./ })
      .waitFor({ state: 'attached' });
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'short of time');
    await takeScreenshot(ann, 'short-of-time');
    await waitForStatus(ann, 'You lose.');
    await ann.getByText('You ran out of time.', { exact: true }).waitFor();
    await waitForStatus(bob, 'You win!');
    for (const page of [ann, bob]) assert.equal(await clockOf(page, 0).textContent(), '0.0');
    await expectShown(ann, /^0:11to move on$/);
    const texts = await recordedTexts(bob);
    assert.ok(
      texts.every((text) => !text.startsWith('0.0')),
      texts.join(' '),
    );
    // The clock shows tenths and ticks once in each second. A busy page may skip some.
    const seconds = new Set(texts.flatMap((text) => /^(\d)\.\d/.exec(text)?.[1] ?? []));
    assert.ok(seconds.size >= 5, [...seconds].join(' '));
    // @ts-expect-error: set by `countTicks`
    const ticks = await ann.evaluate(() => globalThis.ticks);
    assert.ok(ticks >= 5 && ticks <= 10, `${ticks} ticks`);
  }),
);

test(
  'clocks show periods and delays beside the time',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const periods = { kind: 'byo-yomi', main_ms: 0, period_ms: 4000, periods: 2 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock: periods }));
    await ann.getByRole('heading', { name: '2 × 4 sec' }).waitFor();
    await playMove(ann, 'b2');
    await recordClocks(bob);
    await playMove(bob, 'a1');
    await waitForStatus(bob, 'You win!');
    await expectShown(bob, /2 periods/);
    await expectShown(bob, /last period/);

    const eve = await harness.openPage();
    const delay = { kind: 'delay', main_ms: 4000, delay_ms: 4000 };
    const dan = await harness.openPage(await inviteWithTerms(eve, { clock: delay }));
    await playMove(eve, 'b2');
    await recordClocks(eve);
    await playMove(dan, 'a1');
    await waitForStatus(eve, 'You lose.');
    await expectShown(eve, /^4\.0delay: [0-3]\.\d /);
    await expectShown(eve, /^[0-3]\.\dto move /);
  }),
);

test(
  'clocks stay visible without a connection, and pause after a restart until the player is back',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const ann = await harness.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 0 };
    const bob = await harness.openPage(await inviteWithTerms(ann, { clock }));
    await playMove(ann, 'b2');
    await playMove(bob, 'a1');
    await harness.server.kill();
    const lost = clockOf(ann, 0).filter({ hasText: 'not connected' });
    await lost.waitFor();
    await ann.getByText('Your clock runs on.').waitFor();
    await bob.getByText(/^The clock of guest-\w+ runs on\.$/).waitFor();
    await takeScreenshot(ann, 'clock-disconnected');
    await bob.setViewportSize({ width: 390, height: 844 });
    await takeScreenshot(bob, 'clock-disconnected-phone');
    const before = await lost.locator('.time').innerText();
    await lost.locator('.time').filter({ hasNotText: before }).waitFor();
    await ann.close();
    await harness.server.start();
    await clockOf(bob, 0).filter({ hasText: 'stands' }).waitFor();
    assert.equal(await clockOf(bob, 1).textContent(), '5:00');
  }),
);
