// The page in other languages than English, and in a script that runs from right to left.

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

/** What is said where. */
const SPOKEN = {
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

/** Text that only English has: whole words of several Latin letters. */
const ENGLISH = /\b(the|your|you|match|move|play|game|opponent|board|time|with)\b/i;

/** What is to be seen, and what is read out. */
const allTexts = (page: Page) =>
  page.evaluate(() => {
    const told = [...document.querySelectorAll('[aria-label], [title]')].flatMap((element) => [
      element.getAttribute('aria-label') ?? '',
      element.getAttribute('title') ?? '',
    ]);
    return [document.title, document.body.innerText, ...told].join('\n');
  });

/** What systems set, and `Intl` refuses. */
const MALFORMED = ['en-US@posix', 'de-DE@euro', 'fr_FR.UTF-8', 'de-', 'pt-BR@latin'];

/** The page has loaded, in the language that this tag begins with. */
async function loadsIn(page: Page, tag: string) {
  await page.locator('main button').first().waitFor();
  const [base = ''] = tag.split(/[^a-z]/);
  assert.equal(await page.locator('html').getAttribute('data-language'), base, tag);
}

test(
  'the page loads where the browser’s language is malformed',
  withServer(async (house) => {
    for (const tag of MALFORMED) {
      const page = await house.openPage('about:blank', { locale: 'es' });
      await page.addInitScript((tag) => {
        Object.defineProperty(navigator, 'languages', { get: () => [tag, 'es'] });
      }, tag);
      await page.goto('/');
      await loadsIn(page, tag);
    }
  }),
);

test(
  'the page loads where a malformed language was chosen',
  withServer(async (house) => {
    const page = await house.openPage('/', { locale: 'es' });
    for (const tag of MALFORMED) {
      await page.evaluate((tag) => localStorage.setItem('plyhouse.language', tag), tag);
      await page.reload();
      await loadsIn(page, tag);
    }
  }),
);

for (const [locale, words] of Object.entries(SPOKEN)) {
  const usual = words.lang === 'de' ? 'phone' : 'desktop';
  for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), usual)) {
    test(
      `a match in ${words.lang}: ${size}`,
      withServer(async (house) => {
        const options = { locale, viewport, reducedMotion: 'reduce' as const };
        const page = await house.openPage('/', { ...options, axe: true });
        const loaded: string[] = [];
        page.on('request', (request) => loaded.push(request.url()));
        await page.reload();
        const look = async (state: string) => {
          await expectNoHorizontalOverflow(page);
          await expectAccessible(page, state);
          assert.doesNotMatch(await allTexts(page), ENGLISH, state);
          await takeScreenshot(page, `${words.lang}-${state}-${size}`);
        };
        await page.getByRole('heading', { name: words.title }).waitFor();
        assert.equal(await page.locator('html').getAttribute('lang'), words.lang);
        const start = page.getByRole('button', { name: words.bot, exact: true });
        await start.waitFor();
        await look('lobby');
        await page.locator('input[name=game][value=tic-tac-toe]').check();
        await start.click();
        await page.locator('.room.my-turn .standing', { hasText: words.turn }).waitFor();
        await page.getByRole('gridcell', { name: words.cell }).click();
        await page.locator('.moves button').nth(1).waitFor();
        await page.locator('.room.my-turn').waitFor();
        await look('match');
        await page.locator('.heading button').click();
        await page.getByRole('dialog', { name: words.rules }).waitFor();
        await look('rules');
        await page.getByRole('button', { name: words.close }).click();
        await page.getByRole('button', { name: words.resign }).click();
        await page.getByRole('button', { name: words.sure, exact: true }).click();
        await page.getByRole('heading', { name: words.lost }).waitFor();
        await look('end');
        await page.getByRole('link', { name: words.lobby }).click();
        await page.getByRole('heading', { name: words.title }).waitFor();
        // Of all languages one is loaded.
        const languages = loaded.filter((url) => url.includes('/locales/'));
        const names = new Set(languages.map((url) => url.split('/').at(-1)));
        assert.equal(names.size, 1, languages.join());
      }),
    );
  }
}

test(
  'the rules of each game fit in a screen in every language',
  withServer(async (house) => {
    for (const locale of selectVariants(Object.keys(LANGUAGES), 'de', 'ja')) {
      const page = await house.openPage('/', { locale, viewport: WINDOWS.phone });
      await page.locator('.choosing-game > button').waitFor();
      for (const game of await page.locator('input[name=game]').all()) {
        await game.check();
        await page.locator('.choosing-game > button').click();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        const hidden = await dialog.evaluate((box) => box.scrollHeight - box.clientHeight);
        assert.ok(hidden <= 0, `${locale}, ${await game.inputValue()}: ${hidden} px`);
        await dialog.locator('.primary').click();
      }
    }
  }),
);

test(
  'another language is chosen, and remembered',
  withServer(async (house) => {
    const page = await house.openPage();
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
  'numbers and times are written as the language has them',
  withServer(async (house) => {
    const input = join(PAGE_DIR, 'text/time.ts');
    const bundle = await rollup({
      ...{ input, plugins: [typescript], preserveEntrySignatures: 'strict' },
    });
    const { output } = await bundle.generate({ format: 'es' });
    const told = async (locale: string) => {
      const page = await house.openPage('/', { locale });
      await page.route('**/web/time.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: output[0].code }),
      );
      return page.evaluate(async () => {
        const path = '/web/time.js';
        const { clockWords, timeWords } = await import(path);
        return [
          clockWords({ kind: 'fischer', main_ms: 30_000, increment_ms: 0 }),
          clockWords({ kind: 'move', move_ms: 259_200_000 }),
          clockWords({ kind: 'move', move_ms: 86_400_000 }),
          timeWords(9900),
        ];
      });
    };
    assert.deepEqual(await told('de'), ['0,5+0', '3 Tage pro Zug', '1 Tag pro Zug', '9,9']);
    assert.deepEqual(await told('pt-PT'), ['0,5+0', '3 dias por lance', '1 dia por lance', '9,9']);
    assert.deepEqual(await told('zh'), ['0.5+0', '每步3天', '每步1天', '9.9']);
  }),
);

test(
  'where a language is not spoken, or does not come, it is English',
  withServer(async (house) => {
    house.expectsFailures = true;
    const page = await house.openPage('/', { locale: 'sv-SE' });
    await page.getByRole('heading', { name: 'What shall we play?' }).waitFor();
    const other = await house.openPage('about:blank', { locale: 'es-MX' });
    await other.route('**/locales/initial/es.js', (route) => route.abort());
    await other.goto(page.url());
    await other.getByRole('heading', { name: 'What shall we play?' }).waitFor();
    assert.equal(await other.locator('html').getAttribute('lang'), 'en');
  }),
);

test(
  'what the server refuses is told in the language of the page',
  withServer(async (house) => {
    const page = await house.openPage('/m/ZZZZZZ', { locale: 'de' });
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

/** Where the squares of the board are to be seen, from its corner. */
const squares = (page: Page) =>
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
    `from right to left nothing sticks out, and the board is not mirrored: ${size}`,
    withServer(async (house) => {
      const page = await house.openPage('/', { viewport, axe: true });
      const turn = (dir: string) =>
        page.evaluate((dir) => void (document.documentElement.dir = dir), dir);
      const look = async (state: string) => {
        await expectNoHorizontalOverflow(page);
        await expectAccessible(page, state);
        await takeScreenshot(page, `rtl-${state}-${size}`);
      };
      await page.getByRole('radio', { name: 'Chess', exact: true }).check();
      await turn('rtl');
      await look('lobby');
      const title = await page.getByRole('heading', { name: 'What shall we play?' }).boundingBox();
      // The text does run from the right, so there is something to be tested.
      assert.ok(title && title.x + title.width > viewport.width / 2);
      await page.getByRole('button', { name: /^Play the/ }).click();
      await page.locator('.room.my-turn').waitFor();
      const there = await squares(page);
      await page.locator('.cells [data-square=e2]').click();
      await page.locator('.cells [data-square=e4]').click();
      await page.getByRole('gridcell', { name: 'e4, white pawn' }).waitFor();
      await page.locator('.room.my-turn').waitFor();
      await look('match');
      await turn('ltr');
      assert.deepEqual(await squares(page), there);
      assert.ok(there.length >= 8);
    }),
  );
}
