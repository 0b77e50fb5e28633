// Pieces that are dragged, by mouse, finger or pen. Whoever does not move far has clicked, which is
// not told of here.

/**
 * What is done with what is dragged.
 * @typedef {object} Hand
 * @property {(square: string) => boolean} canTake whether something on this square can be dragged
 * @property {(square: string) => void} take
 * @property {(square: string, right: number, down: number) => void} carry what was taken from this
 *   square is now so far from the board's upper left corner, as shares of its width and height
 * @property {(from: string, to: string | null) => void} drop where it is let go, if on a square
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
    onPointer('pointermove', ({ clientX, clientY }) => {
      const far = Math.hypot(clientX - down.clientX, clientY - down.clientY) > DRAG_PX;
      if (!isTaken && far) hand.take(from);
      isTaken ||= far;
      if (!isTaken) return;
      const { left, top, width, height } = grid.getBoundingClientRect();
      hand.carry(from, (clientX - left) / width, (clientY - top) / height);
    });
    onPointer('pointerup', ({ clientX, clientY }) => {
      over.abort();
      if (!isTaken) return;
      const at = document.elementFromPoint(clientX, clientY);
      hand.drop(from, grid.contains(at) ? squareOf(at) : null);
    });
    onPointer('pointercancel', () => {
      over.abort();
      if (isTaken) hand.drop(from, null);
    });
  });
}

/** @param {EventTarget | null} target */
const squareOf = (target) =>
  (target instanceof Element && target.closest('[data-square]')?.getAttribute('data-square')) ||
  null;
