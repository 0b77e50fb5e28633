// Reads a QR code from a screenshot. It supports only version 3 in one block, which a pairing link
// needs, and corrects no errors.

import assert from 'node:assert/strict';

import type { Locator } from '../../client/web/node_modules/playwright-core/types/types.ts';

/** Width of version 3 in modules. */
const SIZE = 29;
const BORDER = 4;
/** Centre of the only alignment pattern. */
const ALIGNMENT = 22;
/** XOR mask of the format information. */
const FORMAT_MASK = 0b101010000010010;
/** Mode of a segment of bytes. */
const BYTE_MODE = 0b0100;

/** Mask patterns: a module is inverted where the value is 0. */
const MASKS: ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/**
 * Whether a module belongs to a fixed pattern or to the format information, and so holds no data.
 */
function isFunctionModule(x: number, y: number) {
  const [left, top, right, bottom] = [x < 9, y < 9, x >= SIZE - 8, y >= SIZE - 8];
  const isCorner = (left && top) || (right && top) || (left && bottom);
  const isAlignment = Math.abs(x - ALIGNMENT) <= 2 && Math.abs(y - ALIGNMENT) <= 2;
  return isCorner || isAlignment || x === 6 || y === 6;
}

/** Converts bits to a number, the highest bit first. */
const toNumber = (bits: Iterable<boolean>) =>
  [...bits].reduce((value, bit) => value * 2 + Number(bit), 0);

/** Decodes the text of a QR code from its pixels on the screen. */
export async function readQrCode(picture: Locator) {
  const modules = await readModules(picture);
  const isDark = (x: number, y: number) => {
    const dark = modules[y * SIZE + x];
    assert.ok(dark !== undefined, `${x} ${y}`);
    return dark;
  };
  const format = [0, 1, 2, 3, 4, 5, 7, 8].map((x) => isDark(x, 8));
  format.push(...[7, 5, 4, 3, 2, 1, 0].map((y) => isDark(8, y)));
  const mask = MASKS[((toNumber(format) ^ FORMAT_MASK) >> 10) & 7];
  assert.ok(mask);
  const bits: boolean[] = [];
  // Data fills pairs of columns from the right, alternately upwards and downwards, and skips the
  // timing column.
  for (let right = SIZE - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5;
    for (let step = 0; step < SIZE; step++) {
      const y = isUp ? SIZE - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (!isFunctionModule(x, y)) bits.push(isDark(x, y) !== (mask(x, y) === 0));
      }
    }
  }
  const take = (count: number) => toNumber(bits.splice(0, count));
  assert.equal(take(4), BYTE_MODE);
  const bytes = Array.from({ length: take(8) }, () => take(8));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Whether each module is dark, row by row. */
async function readModules(picture: Locator): Promise<boolean[]> {
  const png = await picture.screenshot();
  return picture.page().evaluate(
    async ([base64, size, border]) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
      context.drawImage(image, 0, 0);
      const moduleSize = image.width / (size + 2 * border);
      return Array.from({ length: size * size }, (_, index) => {
        const x = Math.floor((border + (index % size) + 0.5) * moduleSize);
        const y = Math.floor((border + Math.floor(index / size) + 0.5) * moduleSize);
        const [red = 255] = context.getImageData(x, y, 1, 1).data;
        return red < 128;
      });
    },
    [png.toString('base64'), SIZE, BORDER] as const,
  );
}
