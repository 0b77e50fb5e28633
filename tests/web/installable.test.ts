// The page as an installable app: its manifest and its icons. To redraw the icons from icon.svg:
// `UPDATE_ICONS=1 node --import ./tests/web/typescript.mjs --test tests/web/installable.test.ts`.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { closeBrowser, withServer, getBrowser } from './support.ts';

after(closeBrowser);

const iconsUrl = new URL('../../client/web/page/icons/', import.meta.url);
const SVG = readFileSync(new URL('icon.svg', iconsUrl), 'utf8');
const BACKGROUND = '#1f6b66';

/**
 * The picture takes the share `scale` of an icon's width. Systems may crop a maskable icon to a
 * circle of 80% of its width.
 */
const ICONS = [
  { name: 'icon-192.png', size: 192, background: 'transparent', scale: 1 },
  { name: 'icon-512.png', size: 512, background: 'transparent', scale: 1 },
  { name: 'icon-maskable-512.png', size: 512, background: BACKGROUND, scale: 0.8 },
  { name: 'apple-touch-icon.png', size: 180, background: BACKGROUND, scale: 1 },
];

async function drawIcon({ size, background, scale }: (typeof ICONS)[number]): Promise<Buffer> {
  const browser = await getBrowser();
  const tab = await browser.newPage({ viewport: { width: size, height: size } });
  const [width, margin] = [size * scale, (size * (1 - scale)) / 2];
  await tab.setContent(
    `<style>body { margin: 0; background: ${background} } svg { display: block; width: ${width}px; ` +
      `padding: ${margin}px }</style>${SVG}`,
  );
  const png = await tab.screenshot({ omitBackground: true });
  await tab.close();
  return png;
}

/** Share of the pixels that differ visibly between two images; 1 if their sizes differ. */
async function difference(...images: Buffer[]) {
  const browser = await getBrowser();
  const tab = await browser.newPage();
  const share = await tab.evaluate(
    async (all) => {
      const [first, second] = await Promise.all(
        all.map(async (base64) => {
          const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes]));
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height).data;
        }),
      );
      if (!first || !second || first.length !== second.length) return 1;
      const differing = first.filter((value, at) => Math.abs(value - (second[at] ?? 0)) > 32);
      return differing.length / first.length;
    },
    images.map((image) => image.toString('base64')),
  );
  await tab.close();
  return share;
}

for (const icon of ICONS) {
  test(`${icon.name} matches icon.svg`, async () => {
    const file = new URL(icon.name, iconsUrl);
    const png = await drawIcon(icon);
    if (process.env.UPDATE_ICONS) writeFileSync(fileURLToPath(file), png);
    const share = await difference(png, readFileSync(file));
    assert.ok(share < 0.005, `${share}`);
  });
}

test(
  'the page can be installed',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { serviceWorkers: 'allow' });
    const browser = await page.context().newCDPSession(page);
    const { errors, data = '{}' } = await browser.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const { icons, id, start_url, display, name } = JSON.parse(data);
    assert.deepEqual([id, start_url, display, name], ['/', '/', 'standalone', 'Plyhouse']);
    assert.equal(icons.length, 4);
    const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors');
    // The browser contexts of tests are incognito.
    const errorIds = installabilityErrors.map(({ errorId }) => errorId);
    assert.deepEqual(
      errorIds.filter((id) => id !== 'in-incognito'),
      [],
    );
    // Every icon has the type and size that the manifest states.
    const link = page.locator('link[rel=manifest]');
    const base = new URL((await link.getAttribute('href')) ?? '', page.url());
    for (const { src, sizes, type } of icons) {
      const response = await page.request.get(new URL(src, base).href);
      assert.equal(response.headers()['content-type'], type, src);
      if (type !== 'image/png') continue;
      const picture = await response.body();
      assert.equal(`${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`, sizes, src);
    }
  }),
);

test(
  'a second visit requests only the document from the server',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { serviceWorkers: 'allow' });
    const waitForLoad = async () => {
      await page.getByRole('button', { name: /^Play the/ }).waitFor();
      // The page prefetches this chunk last.
      await page.waitForFunction(() =>
        performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/match.js')),
      );
      await page.waitForLoadState('networkidle');
    };
    await waitForLoad();
    const loadedFiles = () =>
      page.evaluate(() => {
        const entries = performance.getEntriesByType('resource');
        const files = entries as PerformanceResourceTiming[];
        const requested = files.filter(({ transferSize }) => transferSize > 0);
        return {
          count: files.length,
          requested: requested.map(({ name }) => new URL(name).pathname),
        };
      });
    const first = await loadedFiles();
    assert.ok(first.requested.length >= 5, first.requested.join());
    await page.goto('/');
    await waitForLoad();
    const { count, requested } = await loadedFiles();
    assert.equal(count, first.count);
    assert.deepEqual(requested, []);
  }),
);
