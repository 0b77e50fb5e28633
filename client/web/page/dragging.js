// Pieces that are dragged, by mouse, finger or pen. Whoever does not move far has clicked, which is
// not told of here.

/**
 * What is done with what is dragged.
 * @typedef {object} Hand
 * @property {(square: string) => boolean} canTake whether something on this square can be dragged
 * @property {(square: string) => void} take
 * @property {(square: string, place: Place) => void} carry what was taken from this square is there now
 * @property {(from: string, to: string | null) => void} drop where it is let go, if on a square
 */

/**
 * How far from the board's upper left corner, as shares of its width and height; over which square; and
 * whether a finger is in the way.
 * @typedef {{ right: number, down: number, over: string | null, isTouched: boolean }} Place
 */

/** A click trembles by less. */
const DRAG_PX = 5;

/** @param {HTMLElement} grid whose cells are called by `data-square` @param {Hand} hand */
export function dragged(grid, hand) {
  grid.addEventListener('pointerdown', (down) => {
    const from = squareOf(down.target);
    if (!down.isPrimary || down.button !== 0 || from === null || !hand.canTake(from)) return;
    let isTaken = false;
    const over = new AbortController();
    const options = { signal: over.signal };
    const onPointer = (
      /** @type {'pointermove' | 'pointerup' | 'pointercancel'} */ type,
      /** @type {(event: PointerEvent) => void} */ does,
    ) => window.addEventListener(type, (event) => event.isPrimary && does(event), options);
    const under = (/** @type {PointerEvent} */ { clientX, clientY }) => {
      const at = document.elementFromPoint(clientX, clientY);
      return grid.contains(at) ? squareOf(at) : null;
    };
    onPointer('pointermove', (event) => {
      const { clientX, clientY, pointerType } = event;
      const far = Math.hypot(clientX - down.clientX, clientY - down.clientY) > DRAG_PX;
      if (!isTaken && far) hand.take(from);
      isTaken ||= far;
      if (!isTaken) return;
      const { left, top, width, height } = grid.getBoundingClientRect();
      const place = { right: (clientX - left) / width, down: (clientY - top) / height };
      hand.carry(from, { ...place, over: under(event), isTouched: pointerType === 'touch' });
    });
    onPointer('pointerup', (event) => {
      over.abort();
      if (isTaken) hand.drop(from, under(event));
    });
    onPointer('pointercancel', () => {
      over.abort();
      if (isTaken) hand.drop(from, null);
    });
  });
}

/** @param {EventTarget | null} target */
export const squareOf = (target) =>
  (target instanceof Element && target.closest('[data-square]')?.getAttribute('data-square')) ||
  null;
