// Pieces stand out from what they stand on, in both themes and on every board.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { closeBrowser, withServer } from './support.ts';

after(closeBrowser);

/** What WCAG asks of what has to be told apart (2.2, criterion 1.4.11). */
const LEAST = 3;

for (const theme of ['light', 'dark'] as const) {
  test(
    `pieces stand out from their squares: ${theme}`,
    withServer(async (house) => {
      const page = await house.openPage('/', { colorScheme: theme });
      await page.locator('.games .picture').nth(6).waitFor();
      const measured = await page.evaluate(async () => {
        const canvas = new OffscreenCanvas(1, 1);
        const context = canvas.getContext('2d', {
          willReadFrequently: true,
        }) as OffscreenCanvasRenderingContext2D;
        /** How light these colours are, one over the other. */
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
          const [one, other] = [luminance(ground), luminance(ground, colour)].sort((a, b) => b - a);
          return ((one ?? 0) + 0.05) / ((other ?? 0) + 0.05);
        };
        const least: Record<string, number> = {};
        for (const board of ['sea', 'wood', 'slate']) {
          document.documentElement.dataset.board = board;
          // Colours change little by little.
          await new Promise((drawn) => requestAnimationFrame(drawn));
          for (const moving of document.getAnimations()) moving.finish();
          for (const picture of document.querySelectorAll('.games .picture')) {
            const under = picture.querySelectorAll('.square, .tile, .wood, .depth');
            const grounds = new Set([...under].map((element) => getComputedStyle(element).fill));
            for (const piece of picture.querySelectorAll('.piece')) {
              const game = piece.getAttribute('class') ?? '';
              const shape = piece.querySelector('.body, .disc, .stone, .stroke');
              if (!shape) throw new Error(`${game} is drawn in another way`);
              const { fill, stroke } = getComputedStyle(shape);
              const drawn = [fill, stroke].filter((colour) => colour !== 'none');
              for (const ground of grounds) {
                const best = Math.max(...drawn.map((colour) => contrast(ground, colour)));
                const where = `${game} on ${ground} (${board})`;
                least[where] = Math.min(least[where] ?? Infinity, best);
              }
            }
          }
        }
        return least;
      });
      // Seven games, two sides each, three boards: fewer would mean that something was not found.
      assert.ok(Object.keys(measured).length >= 42, JSON.stringify(measured));
      const faint = Object.entries(measured).filter(([, contrast]) => contrast < LEAST);
      assert.deepEqual(faint, []);
    }),
  );
}
