// The page in languages other than English, and in right-to-left layout.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { expectNoHorizontalOverflow, expectAccessible } from './page-actions.ts';
import { typescript } from '../../client/web/build.js';
import { LANGUAGES } from '../../client/web/page/text/language.ts';
import { PAGE_DIR, closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const { rollup }: typeof import('rollup') = require('rollup');

after(closeBrowser);

const WINDOWS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

/** Texts of the page by locale. */
const TEXTS = {
  'de-AT': {
    lang: 'de',
    ...{ title: 'Was spielen wir?', bot: 'Gegen Bot (leicht)', turn: 'Du bist am Zug.' },
    ...{ cell: 'b2, leer', rules: 'Regeln: Tic-Tac-Toe', close: 'Schließen' },
    ...{ resign: 'Aufgeben …', sure: 'Aufgeben', lost: 'Du hast verloren.', lobby: 'Zur Lobby' },
  },
  'zh-CN': {
    lang: 'zh-Hans',
    ...{ title: '想下什么棋？', bot: '与简单电脑对弈', turn: '轮到你了。' },
    ...{ cell: 'b2, 空', rules: '井字棋规则', close: '关闭' },
    ...{ resign: '认输…', sure: '认输', lost: '你输了。', lobby: '返回大厅' },
  },
};

const ENGLISH_WORDS = /\b(the|your|you|match|move|play|game|opponent|board|time|with)\b/i;

/** Visible texts and labels for screen readers. */
const allTexts = (page: Page) =>
  page.evaluate(() => {
    const labels = [...document.querySelectorAll('[aria-label], [title]')].flatMap((element) => [
      element.getAttribute('aria-label') ?? '',
      element.getAttribute('title') ?? '',
    ]);
    return [document.title, document.body.innerText, ...labels].join('\n');
  });

/** Language tags that systems set but `Intl` rejects. */
const MALFORMED_TAGS = ['en-US@posix', 'de-DE@euro', 'fr_FR.UTF-8', 'de-', 'pt-BR@latin'];

/** Waits until the page has loaded, and checks that it uses the language of the tag. */
async function expectLanguage(page: Page, tag: string) {
  await page.locator('main button').first().waitFor();
  const [base = ''] = tag.split(/[^a-z]/);
  assert.equal(await page.locator('html').getAttribute('data-language'), base, tag);
}

test(
  'the page loads if the language tag of the browser is malformed',
  withServer(async (harness) => {
    for (const tag of MALFORMED_TAGS) {
      const page = await harness.openPage('about:blank', { locale: 'es' });
      await page.addInitScript((tag) => {
        Object.defineProperty(navigator, 'languages', { get: () => [tag, 'es'] });
      }, tag);
      await page.goto('/');
      await expectLanguage(page, tag);
    }
  }),
);

test(
  'the page loads if the stored language tag is malformed',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { locale: 'es' });
    for (const tag of MALFORMED_TAGS) {
      await page.evaluate((tag) => localStorage.setItem('plyhouse.language', tag), tag);
      await page.reload();
      await expectLanguage(page, tag);
    }
  }),
);

for (const [locale, words] of Object.entries(TEXTS)) {
  const usual = words.lang === 'de' ? 'phone' : 'desktop';
  for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), usual)) {
    test(
      `a match in ${words.lang}: ${size}`,
      withServer(async (harness) => {
        const options = { locale, viewport, reducedMotion: 'reduce' as const };
        const page = await harness.openPage('/', { ...options, axe: true });
        const loaded: string[] = [];
        page.on('request', (request) => loaded.push(request.url()));
        await page.reload();
        const checkPage = async (state: string) => {
          await expectNoHorizontalOverflow(page);
          await expectAccessible(page, state);
          assert.doesNotMatch(await allTexts(page), ENGLISH_WORDS, state);
          await takeScreenshot(page, `${words.lang}-${state}-${size}`);
        };
        await page.getByRole('heading', { name: words.title }).waitFor();
        assert.equal(await page.locator('html').getAttribute('lang'), words.lang);
        const start = page.getByRole('button', { name: words.bot, exact: true });
        await start.waitFor();
        await checkPage('lobby');
        await page.locator('input[name=game][value=tic-tac-toe]').check();
        await start.click();
        await page.locator('.room.my-turn .standing', { hasText: words.turn }).waitFor();
        await page.getByRole('gridcell', { name: words.cell }).click();
        await page.locator('.moves button').nth(1).waitFor();
        await page.locator('.room.my-turn').waitFor();
        await checkPage('match');
        await page.locator('.heading button').click();
        await page.getByRole('dialog', { name: words.rules }).waitFor();
        await checkPage('rules');
        await page.getByRole('button', { name: words.close }).click();
        await page.getByRole('button', { name: words.resign }).click();
        await page.getByRole('button', { name: words.sure, exact: true }).click();
        await page.getByRole('heading', { name: words.lost }).waitFor();
        await checkPage('end');
        await page.getByRole('link', { name: words.lobby }).click();
        await page.getByRole('heading', { name: words.title }).waitFor();
        // The page loads the texts of only one language.
        const languages = loaded.filter((url) => url.includes('/locales/'));
        const names = new Set(languages.map((url) => url.split('/').at(-1)));
        assert.equal(names.size, 1, languages.join());
      }),
    );
  }
}

test(
  'the rules of each game fit the screen of a phone in every language',
  withServer(async (harness) => {
    for (const locale of selectVariants(Object.keys(LANGUAGES), 'de', 'ja')) {
      const page = await harness.openPage('/', { locale, viewport: WINDOWS.phone });
      await page.locator('.choosing-game > button').waitFor();
      for (const game of await page.locator('input[name=game]').all()) {
        await game.check();
        await page.locator('.choosing-game > button').click();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        const overflow = await dialog.evaluate((box) => box.scrollHeight - box.clientHeight);
        assert.ok(overflow <= 0, `${locale}, ${await game.inputValue()}: ${overflow} px`);
        await dialog.locator('.primary').click();
      }
    }
  }),
);

test(
  'the page remembers the chosen language',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await page.getByRole('heading', { name: 'What shall we play?' }).waitFor();
    await page.getByLabel('Language').selectOption('Français');
    await page.getByRole('heading', { name: 'À quoi joue-t-on ?' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'À quoi joue-t-on ?' }).waitFor();
    await page.getByLabel('Langue').selectOption('日本語');
    await page.getByRole('heading', { name: '何で遊びますか？' }).waitFor();
    assert.equal(await page.getByLabel('言語').inputValue(), 'ja');
  }),
);

test(
  'numbers and times have the format of the language',
  withServer(async (harness) => {
    const input = join(PAGE_DIR, 'text/time.ts');
    const bundle = await rollup({
      ...{ input, plugins: [typescript], preserveEntrySignatures: 'strict' },
    });
    const { output } = await bundle.generate({ format: 'es' });
    const format = async (locale: string) => {
      const page = await harness.openPage('/', { locale });
      await page.route('**/web/time.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: output[0].code }),
      );
      return page.evaluate(async () => {
        const path = '/web/time.js';
        const { formatClock, formatTimeLeft } = await import(path);
        return [
          formatClock({ kind: 'fischer', main_ms: 30_000, increment_ms: 0 }),
          formatClock({ kind: 'move', move_ms: 259_200_000 }),
          formatClock({ kind: 'move', move_ms: 86_400_000 }),
          formatTimeLeft(9900),
        ];
      });
    };
    assert.deepEqual(await format('de'), ['0,5+0', '3 Tage pro Zug', '1 Tag pro Zug', '9,9']);
    assert.deepEqual(await format('pt-PT'), [
      '0,5+0',
      '3 dias por lance',
      '1 dia por lance',
      '9,9',
    ]);
    assert.deepEqual(await format('zh'), ['0.5+0', '每步3天', '每步1天', '9.9']);
  }),
);

test(
  'the page is in English if it does not have the language or cannot load its texts',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const page = await harness.openPage('/', { locale: 'sv-SE' });
    await page.getByRole('heading', { name: 'What shall we play?' }).waitFor();
    const spanish = await harness.openPage('about:blank', { locale: 'es-MX' });
    await spanish.route('**/locales/initial/es.js', (route) => route.abort());
    await spanish.goto(page.url());
    await spanish.getByRole('heading', { name: 'What shall we play?' }).waitFor();
    assert.equal(await spanish.locator('html').getAttribute('lang'), 'en');
  }),
);

test(
  'errors from the server are shown in the language of the page',
  withServer(async (harness) => {
    const page = await harness.openPage('/m/ZZZZZZ', { locale: 'de' });
    await page
      .getByRole('heading', { name: 'Zu diesem Code gibt es gerade keine Partie.' })
      .waitFor();
    await page.locator('header .name').click();
    await page.getByRole('button', { name: 'Namen wählen' }).click();
    await page.getByLabel('Was andere sehen').fill('a\u202eb');
    await page.getByRole('button', { name: 'Namen übernehmen' }).click();
    await page.getByRole('alert').filter({ hasText: 'Dieser Name geht leider nicht.' }).waitFor();
  }),
);

/** Positions of some squares relative to the corner of the board. */
const squarePositions = (page: Page) =>
  page.evaluate(() => {
    const board = document.querySelector('.surface')?.getBoundingClientRect();
    return ['a1', 'h1', 'a8', 'e4'].flatMap((square) =>
      [...document.querySelectorAll(`.surface [data-square=${square}]`)].map((element) => {
        const { x, y } = element.getBoundingClientRect();
        return [square, Math.round(x - (board?.x ?? 0)), Math.round(y - (board?.y ?? 0))].join(' ');
      }),
    );
  });

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone')) {
  test(
    `right-to-left layout does not overflow, and the board is not mirrored: ${size}`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', { viewport, axe: true });
      const setDirection = (dir: string) =>
        page.evaluate((dir) => void (document.documentElement.dir = dir), dir);
      const checkPage = async (state: string) => {
        await expectNoHorizontalOverflow(page);
        await expectAccessible(page, state);
        await takeScreenshot(page, `rtl-${state}-${size}`);
      };
      await page.getByRole('radio', { name: 'Chess', exact: true }).check();
      await setDirection('rtl');
      await checkPage('lobby');
      const title = await page.getByRole('heading', { name: 'What shall we play?' }).boundingBox();
      // The heading is on the right, so the direction has taken effect.
      assert.ok(title && title.x + title.width > viewport.width / 2);
      await page.getByRole('button', { name: /^Play the/ }).click();
      await page.locator('.room.my-turn').waitFor();
      const positions = await squarePositions(page);
      await page.locator('.cells [data-square=e2]').click();
      await page.locator('.cells [data-square=e4]').click();
      await page.getByRole('gridcell', { name: 'e4, white pawn' }).waitFor();
      await page.locator('.room.my-turn').waitFor();
      await checkPage('match');
      await setDirection('ltr');
      assert.deepEqual(await squarePositions(page), positions);
      assert.ok(positions.length >= 8);
    }),
  );
}
