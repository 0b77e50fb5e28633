// The page as an app: its manifest, and its icons, which are drawn from one picture. To draw them anew:
// `UPDATE_ICONS=1 node --import ./tests/web/typescript.mjs --test tests/web/installable.test.ts`.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { closeBrowser, withServer, getBrowser } from './support.ts';

after(closeBrowser);

const page = new URL('../../client/web/page/icons/', import.meta.url);
const SVG = readFileSync(new URL('icon.svg', page), 'utf8');
/** The ground of the picture. */
const GROUND = '#1f6b66';

/**
 * How large each is, on which ground, and how much of it the picture fills: of one that is cut out, all that
 * matters has to be within a circle of four fifths.
 */
const ICONS = [
  { name: 'icon-192.png', size: 192, ground: 'transparent', fills: 1 },
  { name: 'icon-512.png', size: 512, ground: 'transparent', fills: 1 },
  { name: 'icon-maskable-512.png', size: 512, ground: GROUND, fills: 0.8 },
  { name: 'apple-touch-icon.png', size: 180, ground: GROUND, fills: 1 },
];

async function draw({ size, ground, fills }: (typeof ICONS)[number]): Promise<Buffer> {
  const browser = await getBrowser();
  const tab = await browser.newPage({ viewport: { width: size, height: size } });
  const [width, margin] = [size * fills, (size * (1 - fills)) / 2];
  await tab.setContent(
    `<style>body { margin: 0; background: ${ground} } svg { display: block; width: ${width}px; ` +
      `padding: ${margin}px }</style>${SVG}`,
  );
  const drawn = await tab.screenshot({ omitBackground: true });
  await tab.close();
  return drawn;
}

/** The share of the pixels in which two pictures differ to the eye; 1 if they are not of one size. */
async function difference(...pictures: Buffer[]) {
  const browser = await getBrowser();
  const tab = await browser.newPage();
  const share = await tab.evaluate(
    async (all) => {
      const [one, other] = await Promise.all(
        all.map(async (base64) => {
          const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes]));
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height).data;
        }),
      );
      if (!one || !other || one.length !== other.length) return 1;
      return one.filter((value, at) => Math.abs(value - (other[at] ?? 0)) > 32).length / one.length;
    },
    pictures.map((picture) => picture.toString('base64')),
  );
  await tab.close();
  return share;
}

for (const icon of ICONS) {
  test(`${icon.name} is drawn from the picture`, async () => {
    const file = new URL(icon.name, page);
    const drawn = await draw(icon);
    if (process.env.UPDATE_ICONS) writeFileSync(fileURLToPath(file), drawn);
    const share = await difference(drawn, readFileSync(file));
    assert.ok(share < 0.005, `${share}`);
  });
}

test(
  'the page can be installed',
  withServer(async (house) => {
    const visitor = await house.openPage('/', { serviceWorkers: 'allow' });
    const browser = await visitor.context().newCDPSession(visitor);
    const { errors, data = '{}' } = await browser.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const { icons, id, start_url, display, name } = JSON.parse(data);
    assert.deepEqual([id, start_url, display, name], ['/', '/', 'standalone', 'Plyhouse']);
    assert.equal(icons.length, 4);
    const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors');
    // A browser of a test keeps nothing, and so installs nothing.
    const troubles = installabilityErrors.map(({ errorId }) => errorId);
    assert.deepEqual(
      troubles.filter((trouble) => trouble !== 'in-incognito'),
      [],
    );
    // Every icon is there, and as large as the manifest says.
    const link = visitor.locator('link[rel=manifest]');
    const base = new URL((await link.getAttribute('href')) ?? '', visitor.url());
    for (const { src, sizes, type } of icons) {
      const answer = await visitor.request.get(new URL(src, base).href);
      assert.equal(answer.headers()['content-type'], type, src);
      if (type !== 'image/png') continue;
      const picture = await answer.body();
      assert.equal(`${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`, sizes, src);
    }
  }),
);

test(
  'who comes again asks for the page alone',
  withServer(async (house) => {
    const visitor = await house.openPage('/', { serviceWorkers: 'allow' });
    const arrived = async () => {
      await visitor.getByRole('button', { name: /^Play the/ }).waitFor();
      // What is fetched for later comes last.
      await visitor.waitForFunction(() =>
        performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/match.js')),
      );
      await visitor.waitForLoadState('networkidle');
    };
    await arrived();
    const loaded = () =>
      visitor.evaluate(() => {
        const entries = performance.getEntriesByType('resource');
        const files = entries as PerformanceResourceTiming[];
        const asked = files.filter(({ transferSize }) => transferSize > 0);
        return { all: files.length, asked: asked.map(({ name }) => new URL(name).pathname) };
      });
    const first = await loaded();
    assert.ok(first.asked.length >= 5, first.asked.join());
    await visitor.goto('/');
    await arrived();
    const { all, asked } = await loaded();
    assert.equal(all, first.all);
    assert.deepEqual(asked, []);
  }),
);
