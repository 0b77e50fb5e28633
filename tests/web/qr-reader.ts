// What a camera makes of a QR code: of the size that a link to pair by has, undamaged, in one block.

import assert from 'node:assert/strict';

import type { Locator } from '../../client/web/node_modules/playwright-core/types/types.ts';

/** Version 3: 29 modules wide. */
const SIZE = 29;
const BORDER = 4;
/** The middle of its one alignment pattern. */
const ALIGNMENT = 22;
/** What format information is combined with, so that it is never all light. */
const FORMAT_MASK = 0b101010000010010;
const BYTES = 0b0100;

/** Which modules are turned over, by each of the masks. */
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

/** Whether a module is no data. */
function isFrame(x: number, y: number) {
  const [left, top, right, bottom] = [x < 9, y < 9, x >= SIZE - 8, y >= SIZE - 8];
  const isCorner = (left && top) || (right && top) || (left && bottom);
  const isAlignment = Math.abs(x - ALIGNMENT) <= 2 && Math.abs(y - ALIGNMENT) <= 2;
  return isCorner || isAlignment || x === 6 || y === 6;
}

/** The number that these bits are. */
const number = (bits: Iterable<boolean>) =>
  [...bits].reduce((value, bit) => value * 2 + Number(bit), 0);

/** The text in a picture, by its pixels on the screen. */
export async function readQrCode(picture: Locator) {
  const dark = await pixels(picture);
  const at = (x: number, y: number) => {
    const bit = dark[y * SIZE + x];
    assert.ok(bit !== undefined, `${x} ${y}`);
    return bit;
  };
  const format = [0, 1, 2, 3, 4, 5, 7, 8].map((x) => at(x, 8));
  format.push(...[7, 5, 4, 3, 2, 1, 0].map((y) => at(8, y)));
  const mask = MASKS[((number(format) ^ FORMAT_MASK) >> 10) & 7];
  assert.ok(mask);
  const bits: boolean[] = [];
  // In pairs of columns from the right, up and down by turns, around the column of the timing pattern.
  for (let right = SIZE - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5;
    for (let step = 0; step < SIZE; step++) {
      const y = isUp ? SIZE - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (!isFrame(x, y)) bits.push(at(x, y) !== (mask(x, y) === 0));
      }
    }
  }
  const take = (count: number) => number(bits.splice(0, count));
  assert.equal(take(4), BYTES);
  const bytes = Array.from({ length: take(8) }, () => take(8));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Whether each module is dark, row by row. */
async function pixels(picture: Locator): Promise<boolean[]> {
  const png = await picture.screenshot();
  return picture.page().evaluate(
    async ([base64, size, border]) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
      context.drawImage(image, 0, 0);
      const module = image.width / (size + 2 * border);
      return Array.from({ length: size * size }, (_, at) => {
        const x = Math.floor((border + (at % size) + 0.5) * module);
        const y = Math.floor((border + Math.floor(at / size) + 0.5) * module);
        const [red = 255] = context.getImageData(x, y, 1, 1).data;
        return red < 128;
      });
    },
    [png.toString('base64'), SIZE, BORDER] as const,
  );
}
