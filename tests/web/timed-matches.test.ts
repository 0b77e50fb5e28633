// Matches by the clock, as they are seen.

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

/** The clock of a seat. */
const clockOf = (page: Page, seat: number) => page.getByRole('timer').nth(seat);

/**
 * Keeps what clocks show until the match is over, each with what stands beside it and whether it is red: some of
 * it is seen for so short a time that a slow machine looks too late.
 */
const record = (page: Page) =>
  page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    const look = () => {
      if (document.querySelector('.room.ended')) return;
      for (const clock of document.querySelectorAll('[role=timer]')) {
        const on = clock.closest('.on') ? (clock.closest('.low') ? ' red' : ' on') : '';
        seen.push(`${clock.textContent}${on}`);
      }
    };
    look();
    new MutationObserver(look).observe(document.body, {
      ...{ childList: true, subtree: true, characterData: true, attributes: true },
    });
  });

/** What was shown at some time. */
const wasShown = async (page: Page, shown: RegExp) => {
  const seen = await recorded(page);
  assert.ok(
    seen.some((text) => shown.test(text)),
    `${shown}: ${[...new Set(seen)].join(', ')}`,
  );
};

const recorded = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    // @ts-expect-error: put there above
    return globalThis.seen;
  });

/** Has the ticks counted that are heard. */
async function listen(page: Page) {
  await page.evaluate(() => {
    const { prototype } = AudioScheduledSourceNode;
    const { start } = prototype;
    Object.assign(globalThis, { ticks: 0 });
    prototype.start = function (...when) {
      // @ts-expect-error: put there above
      if (this instanceof OscillatorNode && this.frequency.value === 880) globalThis.ticks += 1;
      return start.apply(this, when);
    };
  });
  await page.getByRole('button', { name: 'Sounds' }).click();
}

test(
  'clocks count down, turn red, tick, and run out',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    const clock = { kind: 'fischer', main_ms: 10_600, increment_ms: 0 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock }));
    await listen(ann);
    // The first move of each is free, but must come.
    await clockOf(ann, 0)
      .filter({ hasText: /^0:11first move: 0:\d\d$/ })
      .waitFor();
    await playMove(ann, 'b2');
    await clockOf(ann, 1).filter({ hasText: 'first move' }).waitFor();
    assert.equal(await clockOf(ann, 0).textContent(), '0:11');
    for (const page of [ann, bob]) await record(page);
    await playMove(bob, 'a1');
    await waitForMyTurn(ann);
    const mine = clockOf(ann, 0);
    await mine
      .and(ann.locator('.on.low'))
      .filter({ hasText: /^\d\.\dto move$/ })
      .waitFor();
    await ann
      // A page that has too much to do tells it later.
      .locator('#heard', { hasText: /You have (10|[5-9]) seconds left\./ })
      .waitFor({ state: 'attached' });
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'short of time');
    await takeScreenshot(ann, 'short-of-time');
    await waitForStatus(ann, 'You lose.');
    await ann.getByText('You ran out of time.', { exact: true }).waitFor();
    await waitForStatus(bob, 'You win!');
    for (const page of [ann, bob]) assert.equal(await clockOf(page, 0).textContent(), '0.0');
    await wasShown(ann, /^0:11to move on$/);
    const seen = await recorded(bob);
    assert.ok(
      seen.every((text) => !text.startsWith('0.0')),
      seen.join(' '),
    );
    // Tenths are shown in each second, and one is heard in each; a page that has too much to do leaves some out.
    const seconds = new Set(seen.flatMap((text) => /^(\d)\.\d/.exec(text)?.[1] ?? []));
    assert.ok(seconds.size >= 5, [...seconds].join(' '));
    // @ts-expect-error: put there above
    const ticks = await ann.evaluate(() => globalThis.ticks);
    assert.ok(ticks >= 5 && ticks <= 10, `${ticks} ticks`);
  }),
);

test(
  'periods and delays are told beside the time',
  withServer(async (house) => {
    const ann = await house.openPage();
    const periods = { kind: 'byo-yomi', main_ms: 0, period_ms: 4000, periods: 2 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock: periods }));
    await ann.getByRole('heading', { name: '2 × 4 sec' }).waitFor();
    await playMove(ann, 'b2');
    await record(bob);
    await playMove(bob, 'a1');
    await waitForStatus(bob, 'You win!');
    await wasShown(bob, /2 periods/);
    await wasShown(bob, /last period/);

    const eve = await house.openPage();
    const delay = { kind: 'delay', main_ms: 4000, delay_ms: 4000 };
    const dan = await house.openPage(await inviteWithTerms(eve, { clock: delay }));
    await playMove(eve, 'b2');
    await record(eve);
    await playMove(dan, 'a1');
    await waitForStatus(eve, 'You lose.');
    await wasShown(eve, /^4\.0delay: [0-3]\.\d /);
    await wasShown(eve, /^[0-3]\.\dto move /);
  }),
);

test(
  'a lost connection hides no clock, and after a restart it stands until its player is there',
  withServer(async (house) => {
    house.expectsFailures = true;
    const ann = await house.openPage();
    const clock = { kind: 'fischer', main_ms: 300_000, increment_ms: 0 };
    const bob = await house.openPage(await inviteWithTerms(ann, { clock }));
    await playMove(ann, 'b2');
    await playMove(bob, 'a1');
    await house.server.kill();
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
    await house.server.start();
    await clockOf(bob, 0).filter({ hasText: 'stands' }).waitFor();
    assert.equal(await clockOf(bob, 1).textContent(), '5:00');
  }),
);
