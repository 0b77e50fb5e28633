// Tests the analysis of finished matches, learning from mistakes, and hints.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  isMatchOver,
  countMoves,
  waitForMyTurn,
  playMoves,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page, TestHarness } from './support.ts';

after(closeBrowser);

/**
 * Options of a server whose analyses are limited by visited positions alone. With less time a busy
 * machine visits fewer positions and judges moves differently.
 */
const WITHOUT_TIME_LIMIT = ['--search-time', '60'];

/** Analyses the match and waits for the result. */
async function analyse(page: Page) {
  await page.getByRole('button', { name: 'Analyse' }).first().click();
  const panel = page.getByRole('region', { name: 'Analysis' });
  await panel.getByText(/accuracy \d+ of 100/).waitFor();
  return panel;
}

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `the analysis marks and explains mistakes and teaches better moves: ${size}`,
    withServer(async (harness) => {
      const options = {
        viewport,
        reducedMotion: 'reduce' as const,
        axe: true,
      };
      const ann = await harness.openPage('/', options);
      const bob = await harness.openPage(await inviteFriend(ann, 'Chess'), options);
      await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
      await waitForStatus(bob, 'You lose.');
      const panel = await analyse(bob);
      const blunder = bob.getByRole('button', { name: /Nf6.*Blunder/ });
      await blunder.waitFor();
      await blunder.click();
      await panel.getByText('Blunder').waitFor();
      await panel.getByText(/After .* the other side wins with the next move\./).waitFor();
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      assert.ok((await panel.locator('.chances .bad').count()) > 0);
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'analysis');
      await takeScreenshot(bob, `analysis-${size}`);
      // The player looks for a better move on the board.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      const learning = bob.locator('.learning');
      // On desktops the analysis panel shows the explanation.
      const explanation = size === 'desktop' ? panel.locator('.told') : learning;
      await explanation.getByText(/You played knight g8 to f6\./).waitFor();
      assert.equal(await bob.locator('.drawn.advised').count(), 0);
      await expectAccessible(bob, 'learning');
      await takeScreenshot(bob, `learning-${size}`);
      const choose = async (from: string, to: string) => {
        for (const square of [from, to]) await cell(bob, square).click();
      };
      await choose('g8', 'f6');
      await waitForStatus(bob, 'That is what you played.');
      await panel.getByText(/After .* the other side wins with the next move\./).waitFor();
      await learning.getByRole('button', { name: 'Try again' }).click();
      await choose('a7', 'a6');
      await waitForStatus(bob, 'The search prefers another.');
      await cell(bob, 'a6').and(bob.getByLabel('black pawn')).waitFor();
      await explanation.getByText(/how good pawn a7 to a6 is\.$/).waitFor();
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `tried-${size}`);
      await learning.getByRole('button', { name: 'Try again' }).click();
      await cell(bob, 'a7').and(bob.getByLabel('black pawn')).waitFor();
      await learning.getByRole('button', { name: 'Show it' }).click();
      await waitForStatus(bob, 'This was better.');
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      // The text names the best move only once.
      const shown = explanation.getByText(/The best move is \w+ [a-h][1-8] to [a-h][1-8]\.$/);
      const better = await shown.textContent();
      assert.doesNotMatch(better ?? '', /would have/);
      await takeScreenshot(bob, `shown-${size}`);
      const [, from = '', to = ''] = /([a-h][1-8]) to ([a-h][1-8])/.exec(better ?? '') ?? [];
      await learning.getByRole('button', { name: 'Done' }).click();
      await waitForStatus(bob, 'You lose.');
      // The player finds the best move.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      await choose(from, to);
      await waitForStatus(bob, 'That is the best move.');
      const evaluation = size === 'desktop' ? panel.locator('.stands') : learning;
      await evaluation
        .getByText(/(Black|White) [+\d]/)
        .first()
        .waitFor();
      assert.doesNotMatch((await evaluation.textContent()) ?? '', /would have/);
      await takeScreenshot(bob, `found-${size}`);
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      // Stepping to another position ends learning.
      await bob.keyboard.press('ArrowLeft');
      await waitForStatus(bob, /^After \d of 7 moves\.$/);
      assert.equal(await learning.isVisible(), false);
      // The judgement is not cut off, except on desktops, where the analysis panel shows it.
      await bob.keyboard.press('End');
      await bob.keyboard.press('ArrowLeft');
      const judgement = bob.locator('.why', { hasText: /^Blunder\. / });
      await judgement.waitFor();
      const [height, textHeight] = await judgement.evaluate((element) => [
        element.clientHeight,
        element.scrollHeight,
      ]);
      assert.ok(size === 'desktop' || height >= textHeight, `${height} < ${textHeight}`);
      await takeScreenshot(bob, `judged-${size}`);
    }, WITHOUT_TIME_LIMIT),
  );
}

/** Finds elements that are cut off, or that overflow the element of the previous selector. */
const findCutOff = (page: Page, ...selectors: string[]) =>
  page.evaluate(
    (selectors) =>
      selectors.flatMap((selector, index) => {
        const element = document.querySelector(selector);
        const container = document.querySelector(selectors[index - 1] ?? 'body');
        if (!element || !container) return [`no ${selector}`];
        const { clientHeight, scrollHeight, clientWidth, scrollWidth } = element;
        const [box, outer] = [element.getBoundingClientRect(), container.getBoundingClientRect()];
        const isInside = box.left >= outer.left - 1 && box.right <= outer.right + 1;
        // Letters may be slightly higher than their line.
        const isComplete =
          clientHeight + 4 >= scrollHeight && clientWidth >= scrollWidth && box.width > 8;
        return isInside && isComplete ? [] : [`${selector}: ${element.textContent}`];
      }),
    selectors,
  );

/** Window widths to test. From 820 on the moves are beside the board. */
const WIDTHS = [360, 390, 600, 820, 1024, 1200, 1400, 1600];

/** Chooses a language while the window is wide. */
async function selectLanguage(page: Page, language: string) {
  await page.setViewportSize({ width: 1200, height: 800 });
  if (language !== 'English') await page.locator('header select').selectOption(language);
}

test(
  'the analyse button is not cut off at any width, and the other buttons keep their places',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    await waitForStatus(bob, 'You lose.');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    const lastButtonBox = () => bob.locator('.bar').getByRole('button').last().boundingBox();
    const names = [
      ['English', 'Analyse'],
      ['Deutsch', 'Analysieren'],
      ['Español', 'Analizar'],
    ] as const;
    for (const [language, name] of selectVariants(names, 'Deutsch')) {
      await selectLanguage(bob, language);
      const button = bob.locator('.bar').getByRole('button', { name, exact: true });
      for (const width of WIDTHS) {
        await bob.setViewportSize({ width, height: 800 });
        await button.waitFor();
        const cut = await findCutOff(bob, '.bar', '.bar .analyse', '.bar .analyse span');
        assert.deepEqual(cut, [], `${language}, ${width}`);
      }
      const before = await lastButtonBox();
      await button.click();
      await bob.locator('.accuracy', { hasText: '100' }).waitFor();
      assert.equal(await button.isVisible(), false);
      assert.deepEqual(await lastButtonBox(), before);
    }
  }, WITHOUT_TIME_LIMIT),
);

test(
  'judgements and the texts of learning are not cut off at any width',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
    await waitForStatus(bob, 'You lose.');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    const names = [
      ['English', 'Blunder'],
      ['Deutsch', 'Grober Fehler'],
      ['Español', 'Error grave'],
    ] as const;
    for (const [language, blunderName] of selectVariants(names, 'Deutsch')) {
      await selectLanguage(bob, language);
      await bob.locator('.bar .analyse').click();
      await bob.locator('.accuracy', { hasText: '100' }).waitFor();
      await bob.locator('.moves button').nth(5).click();
      const expectNotCutOff = async (state: string, text: string, ...buttons: string[]) => {
        for (const width of WIDTHS) {
          await bob.setViewportSize({ width, height: 800 });
          // From 820 on the panel shows the text, and `.lower` shows one judgement and two buttons.
          const isWide = width > 800;
          const cutTexts =
            isWide && state !== 'judged' ? [] : await findCutOff(bob, '.lower', text);
          const cut = [...cutTexts, ...(isWide ? await findCutOff(bob, '.lower', ...buttons) : [])];
          assert.deepEqual(cut, [], `${language}, ${state}, ${width}`);
          if (isWide) await bob.locator('.told', { hasText: /\w/ }).waitFor();
          await expectNoHorizontalOverflow(bob);
        }
      };
      await bob.locator('.why.judged', { hasText: new RegExp(`^${blunderName}\\.`) }).waitFor();
      await expectNotCutOff('judged', '.lower > .why', '.asked', '.asked > .primary:not([hidden])');
      await takeScreenshot(bob, `judged-${language}`);
      const lastButton = ['.learning', '.learning button:last-of-type'];
      const choose = async (from: string, to: string) => {
        for (const square of [from, to]) await cell(bob, square).click();
      };
      await bob.locator('.analysis button').click();
      await expectNotCutOff('question', '.learning p', ...lastButton);
      await choose('g8', 'f6');
      await expectNotCutOff('played move', '.learning p', ...lastButton);
      await bob.locator('.learning button').first().click();
      await choose('a7', 'a6');
      await expectNotCutOff('other move', '.learning p', ...lastButton);
      await bob.locator('.learning button').nth(1).click();
      await expectNotCutOff('shown', '.learning p', ...lastButton);
      // The player finds the best move.
      const best = await bob.locator('.told').textContent();
      const [from = '', to = ''] = best?.match(/[a-h][1-8]/g) ?? [];
      await bob.locator('.learning .primary').click();
      await bob.locator('.analysis button').click();
      await cell(bob, from).and(bob.locator('.movable')).waitFor();
      await choose(from, to);
      await bob.locator('.learning .primary').waitFor();
      await expectNotCutOff('found', '.learning p', ...lastButton);
      await bob.locator('.learning .primary').click();
    }
  }, WITHOUT_TIME_LIMIT),
);

for (const [size, options] of selectVariants(
  Object.entries({
    phone: { viewport: { width: 390, height: 844 } },
    desktop: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const },
  }),
  'desktop',
)) {
  test(
    `the analysis shows the evaluation and best move of every position: ${size}`,
    withServer(async (harness) => {
      const ann = await harness.openPage();
      const bob = await harness.openPage(await inviteFriend(ann, 'Chess'), {
        ...{ ...options, reducedMotion: 'reduce' as const, axe: true },
      });
      await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
      await waitForStatus(bob, 'You lose.');
      const panel = await analyse(bob);
      const worth = panel.locator('.worth');
      const bar = panel.locator('.value');
      const readListTop = async () => (await bob.locator('.listed').boundingBox())?.y;
      /** Reads the analysis of the position after `ply` moves. */
      const readPosition = async (ply: number) => {
        const count = ply < 7 ? new RegExp(`^After ${ply} of 7 moves\\.$`) : 'You lose.';
        await waitForStatus(bob, count);
        const [box, share] = await Promise.all([
          bar.boundingBox(),
          bar.locator('div').boundingBox(),
        ]);
        const words = (await worth.textContent()) ?? '';
        // The bar shows the percentage of the text.
        const isWon = words.startsWith('White wins');
        const percent = isWon ? 100 : Number(/White (\d+) %$/.exec(words)?.[1]);
        const barPercent = ((share?.width ?? 0) / ((box?.width ?? 0) - 2)) * 100;
        assert.ok(Math.abs(percent - barPercent) <= 1, `${words}: ${barPercent} %`);
        const explanation = (await panel.locator('.told').textContent()) ?? '';
        return { words, explanation, y: await readListTop() };
      };
      await bar.waitFor();
      const end = await readPosition(7);
      assert.match(end.words, /^White wins$/);
      const positions = [];
      for (let ply = 6; ply >= 0; ply--) {
        await bob.keyboard.press('ArrowLeft');
        positions[ply] = await readPosition(ply);
        await expectNoHorizontalOverflow(bob);
        if (ply === 6 || ply === 5) await takeScreenshot(bob, `worth-${size}-${ply}`);
      }
      // The move list keeps its place.
      for (const { y, explanation } of positions) assert.equal(y, end.y, explanation);
      assert.match(positions[6]?.words ?? '', /^White wins with the next move$/);
      assert.match(positions[6]?.explanation ?? '', /^Blunder /);
      for (const ply of [0, 1, 5]) {
        assert.match(positions[ply]?.words ?? '', /^((White|Black) \+0\.\d\d|even)/);
        assert.match(
          positions[ply]?.explanation ?? '',
          /^The best move is \w+ [a-h]\d to [a-h]\d\.$/,
        );
      }
      await expectAccessible(bob, 'the worth of a position');
      // The explanation is within the window.
      await bob.evaluate(() => scrollTo(0, 0));
      const words = await panel.locator('.told p').boundingBox();
      assert.ok(words && words.y + words.height <= options.viewport.height, `${words?.y}`);
      // The chart and the bar show the first side in the same light colour, also in the dark theme.
      const light = await panel.locator('.area').evaluate((area) => getComputedStyle(area).fill);
      const share = bar.locator('div');
      const shareColor = await share.evaluate((share) => getComputedStyle(share).backgroundColor);
      assert.equal(light, shareColor);
      // The evaluation is hidden while the player looks for the best move.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      assert.equal(await bar.isVisible(), false);
      assert.equal(await worth.textContent(), '');
      await bob.locator('.learning').getByRole('button', { name: 'Show it' }).click();
      await bar.waitFor();
      // No language cuts the evaluation off.
      if (size !== 'phone') return;
      for (const language of ['Deutsch', 'Español', 'Français', '日本語', 'Português', '中文']) {
        await selectLanguage(bob, language);
        await bob.setViewportSize(options.viewport);
        await bob.locator('.bar .analyse').click();
        await bob.locator('.accuracy', { hasText: '100' }).waitFor();
        for (const [ply, explanation] of [
          [6, /Qxf7#/],
          [1, /e7.*e5/],
        ] as const) {
          await bob
            .locator('.moves button')
            .nth(ply - 1)
            .click();
          await bob.locator('.told', { hasText: explanation }).waitFor();
          const cut = await findCutOff(bob, '.analysis', '.worth', '.worth strong');
          assert.deepEqual(cut, [], language);
          await expectNoHorizontalOverflow(bob);
        }
        await takeScreenshot(bob, `worth-${language}`);
      }
    }, WITHOUT_TIME_LIMIT),
  );
}

test(
  'after analysing by keyboard, Tab moves the focus into the analysis',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    await barButton(bob, 'Analyse').focus();
    await bob.keyboard.press('Enter');
    await bob.getByText(/accuracy \d+ of 100/).waitFor();
    await bob.keyboard.press('Tab');
    const section = await bob.evaluate(() => document.activeElement?.closest('section')?.ariaLabel);
    assert.equal(section, 'Analysis');
  }, WITHOUT_TIME_LIMIT),
);

test(
  'a player without mistakes gets no button to learn from them',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    // Only Bob makes mistakes.
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    for (const page of [ann, bob]) await page.locator('.room.ended').waitFor();
    const learn = { name: 'Learn from your mistakes' };
    await (await analyse(bob)).getByRole('button', learn).waitFor();
    assert.equal(await (await analyse(ann)).getByRole('button', learn).isVisible(), false);
  }, WITHOUT_TIME_LIMIT),
);

test(
  'the analysis explains mistakes in each game, and is translated',
  withServer(async (harness) => {
    const [ann, bob] = [await harness.openPage(), await harness.openPage()];
    const doubleThreat = /The other side can threaten to win in two ways at once\./;
    const matches = [
      [
        'Chess',
        'e2-e4 e7-e5 d1-g4 d7-d6 g1-f3 c8-g4',
        5,
        /loses material\..*The other side answers Bxg4, and then \w+ .* …/,
      ],
      [
        'Draughts',
        '9-13 24-19 6-9 19-16 12-19 23-16 11-20',
        4,
        /loses material\..*The other side answers 12x19, and then \w+ .* …/,
      ],
      ['Connect Four', 'd1 d2 e1 e2 f1 f2 g1', 4, doubleThreat],
      ['Tic-tac-toe', 'a1 c3 c1 b1 a3 b2 a2', 2, doubleThreat],
      [
        'Othello',
        'f5 f6 d3',
        3,
        / d3 .*The other side has \d+ moves, not \d+\..* [a-h]\d would have/,
      ],
      [
        'Go',
        'D5 E5 E4 A1',
        4,
        /costs about \d+ points\. The stone stands alone on the edge.*The chances of White fall .*The other side answers \w+, and then .* …/,
      ],
      [
        'Gomoku',
        'h8 g8 h9 g9 a1 g10 a15',
        7,
        /An open three is left to the other side\..*The other side answers g(7|11), and then g\d+ g\d+\./,
      ],
    ] as const;
    for (const [game, moves, mistake, explanation] of selectVariants(
      matches,
      'Chess',
      'Tic-tac-toe',
    )) {
      await bob.goto(await inviteFriend(ann, game));
      await playMoves(ann, bob, moves);
      // The last move may arrive before the end of the match that it causes.
      const next = moves.split(' ').length % 2 === 0 ? ann : bob;
      if (!(await isMatchOver(next))) {
        await barButton(ann, 'Resign …').click();
        await ann.getByRole('button', { name: 'Resign', exact: true }).click();
      }
      await ann.locator('.room.ended').waitFor();
      const panel = await analyse(ann);
      const readListTop = async () => (await ann.locator('.listed').boundingBox())?.y;
      await ann.locator('.moves button').first().click();
      const before = await readListTop();
      await panel.getByRole('img', { name: /^The chances, move by move/ }).waitFor();
      await ann
        .locator('.moves button')
        .nth(mistake - 1)
        .click();
      await panel.getByText(explanation).waitFor();
      await takeScreenshot(ann, `analysis-${game}`);
      // Black is dark, also as the first side.
      const area = await panel.locator('.area').evaluate((area) => getComputedStyle(area).fill);
      const share = await panel
        .locator('.share-0')
        .evaluate((share) => getComputedStyle(share).backgroundColor);
      const isDark = /Draughts|Othello|Go/.test(game);
      const firstColor = isDark ? 'rgb(35, 33, 29)' : 'rgb(246, 243, 237)';
      assert.deepEqual([area, share], [firstColor, firstColor], game);
      if (isDark) await panel.getByRole('img', { name: /of white where it is light/i }).waitFor();
      // The move list keeps its place.
      assert.equal(await readListTop(), before, game);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
    }
    await ann.getByLabel('Language').selectOption('Deutsch');
    await ann.getByRole('link', { name: 'Alle deine Spiele' }).click();
    const match = ann.locator('.rows li', { hasText: 'Tic-Tac-Toe' });
    await match.getByRole('button', { name: /^Nachspielen/ }).click();
    await ann.getByRole('button', { name: 'Analysieren' }).click();
    await ann.getByText(/Genauigkeit \d+ von 100/).waitFor();
  }, WITHOUT_TIME_LIMIT),
);

/**
 * Analyses a match of tic-tac-toe with the mistake c3, whose explanation and judgement the test
 * replaces.
 */
async function analyseMistake(harness: TestHarness, explanation: object, judged = 'blunder') {
  const ann = await harness.openPage();
  await ann.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const message = JSON.parse(String(text));
      for (const ply of message.type === 'analysis' ? message.plies : []) {
        if (!ply.why) continue;
        Object.assign(ply.why, explanation);
        ply.judged = judged;
      }
      socket.send(JSON.stringify(message));
    });
  });
  await ann.reload();
  const bob = await harness.openPage(await inviteFriend(ann));
  await playMoves(ann, bob, 'a1 c3 c1 b1 a3 a2 b2');
  const panel = await analyse(ann);
  await ann.getByRole('button', { name: new RegExp(`c3.*${judged}`, 'i') }).click();
  return panel;
}

test(
  'an explanation of a kind that the page does not know becomes a general one',
  withServer(async (harness) => {
    const panel = await analyseMistake(harness, {
      kind: 'later_kind',
      signs: [{ sign: 'later_sign' }],
    });
    await panel.getByText(/^Blunder .*makes the chances worse\./).waitFor();
    assert.doesNotMatch((await panel.textContent()) ?? '', /later/);
  }, WITHOUT_TIME_LIMIT),
);

test(
  'a mistake that keeps the win is explained by its lost points',
  withServer(async (harness) => {
    const panel = await analyseMistake(harness, {
      kind: 'loses_points',
      points: 14,
      keeps: 'win',
      signs: [],
    });
    await panel.getByText(/gives 14 points away\..*\w+ would have been better\./).waitFor();
  }, WITHOUT_TIME_LIMIT),
);

test(
  'a missed win in a position that stays won is explained as less sure',
  withServer(async (harness) => {
    const explanation = { kind: 'misses_win', in: 1, keeps: 'win', signs: [] };
    const panel = await analyseMistake(harness, explanation, 'inaccuracy');
    await panel
      .getByText(/^Inaccuracy .*makes the win less sure\..*\w+ would have won at once\./)
      .waitFor();
  }, WITHOUT_TIME_LIMIT),
);

test(
  'an analysis that failed can be requested again',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    let isFailing = true;
    await ann.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const { type, match, done, of } = JSON.parse(String(text));
        if (!isFailing || type !== 'analysis' || done < of) return socket.send(text);
        isFailing = false;
        const error = {
          code: 'overloaded',
          message: 'ask again',
          retryable: true,
        };
        socket.send(JSON.stringify({ type: 'error', match, ...error }));
      });
    });
    await ann.reload();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 c3 c1 b1 a3 a2 b2');
    await ann.getByRole('button', { name: 'Analyse' }).first().click();
    await ann.locator('#toast', { hasText: 'The server has more to do' }).waitFor();
    await analyse(ann);
  }, WITHOUT_TIME_LIMIT),
);

test(
  'only the creator of a match between bots can analyse it',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await ann.getByRole('radio', { name: 'Tic-tac-toe', exact: true }).check();
    await ann.getByText('Or watch two bots').click();
    await ann.getByLabel('Pace').selectOption('Fast');
    await ann.getByRole('button', { name: 'Watch them' }).click();
    await ann.getByRole('grid').waitFor();
    const eve = await harness.openPage(new URL(ann.url()).pathname);
    for (const page of [ann, eve]) await page.locator('.room.ended').waitFor();
    const panel = await analyse(ann);
    // The user made no moves.
    assert.equal(
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).isVisible(),
      false,
    );
    assert.equal(await eve.getByRole('button', { name: 'Analyse' }).count(), 0);
  }, WITHOUT_TIME_LIMIT),
);

test(
  'a match against a bot offers hints, which are drawn on the board',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    for (const [game, explanation] of [
      // The evaluation and the expected reply.
      ['Chess', /By the search: White \+0\.\d\d · White \d\d %\. The other side answers \w+\.$/],
      ['Connect Four', /By the search: .*\. The other side answers \d\.$/],
      ['Tic-tac-toe', /By the search: a draw\. The other side answers [abc][123]\.$/],
    ] as const) {
      await startBotMatch(ann, { game });
      await waitForMyTurn(ann);
      await barButton(ann, 'Hint: the best move').click();
      await ann.locator('.drawn.advised').waitFor({ state: 'attached' });
      await ann.locator('#toast', { hasText: /^The best move is / }).waitFor();
      await ann.locator('#toast', { hasText: explanation }).waitFor();
      assert.equal(await countMoves(ann), 0);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'hint');
      await takeScreenshot(ann, `hint-${game}`);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
    }
    // A match against a person offers no hints.
    await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    assert.equal(await barButton(ann, 'Hint: the best move').isVisible(), false);
  }),
);
