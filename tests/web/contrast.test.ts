// Tests the contrast between pieces and squares, in both themes and on every board.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { closeBrowser, withServer } from './support.ts';

after(closeBrowser);

/** Minimum contrast of graphical objects (WCAG 2.2, criterion 1.4.11). */
const MIN_CONTRAST = 3;

for (const theme of ['light', 'dark'] as const) {
  test(
    `pieces stand out from their squares: ${theme}`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', { colorScheme: theme });
      await page.locator('.games .picture').nth(6).waitFor();
      const measured = await page.evaluate(async () => {
        const canvas = new OffscreenCanvas(1, 1);
        const context = canvas.getContext('2d', {
          willReadFrequently: true,
        }) as OffscreenCanvasRenderingContext2D;
        /** Relative luminance of the colours, each drawn over the previous one. */
        const luminance = (...colours: string[]) => {
          for (const colour of colours) {
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
          }
          const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map(
            (value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4),
          );
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const contrast = (ground: string, colour: string) => {
          const [lighter, darker] = [luminance(ground), luminance(ground, colour)].sort(
            (a, b) => b - a,
          );
          return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
        };
        const minimums: Record<string, number> = {};
        for (const board of ['sea', 'wood', 'slate']) {
          document.documentElement.dataset.board = board;
          // Colours change by transitions.
          await new Promise((resolve) => requestAnimationFrame(resolve));
          for (const animation of document.getAnimations()) animation.finish();
          for (const picture of document.querySelectorAll('.games .picture')) {
            const backgrounds = picture.querySelectorAll('.square, .tile, .wood, .depth');
            const grounds = new Set(
              [...backgrounds].map((element) => getComputedStyle(element).fill),
            );
            for (const piece of picture.querySelectorAll('.piece')) {
              const name = piece.getAttribute('class') ?? '';
              const shape = piece.querySelector('.body, .disc, .stone, .stroke');
              if (!shape) throw new Error(`${name} has no known shape`);
              const { fill, stroke } = getComputedStyle(shape);
              const colours = [fill, stroke].filter((colour) => colour !== 'none');
              for (const ground of grounds) {
                const best = Math.max(...colours.map((colour) => contrast(ground, colour)));
                const where = `${name} on ${ground} (${board})`;
                minimums[where] = Math.min(minimums[where] ?? Infinity, best);
              }
            }
          }
        }
        return minimums;
      });
      // Seven games with two sides and three boards give at least 42 results.
      assert.ok(Object.keys(measured).length >= 42, JSON.stringify(measured));
      const failures = Object.entries(measured).filter(([, contrast]) => contrast < MIN_CONTRAST);
      assert.deepEqual(failures, []);
    }),
  );
}
