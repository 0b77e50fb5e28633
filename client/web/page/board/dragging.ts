// Pieces that are dragged, by mouse, finger or pen. Whoever does not move far has clicked, which is
// not told of here.

/** What is done with what is dragged. */
export interface Hand {
  /** whether something on this square can be dragged */
  canTake: (square: string) => boolean;
  take: (square: string) => void;
  /** what was taken from this square is there now */
  carry: (square: string, place: Place) => void;
  /** where it is let go, if on a square */
  drop: (from: string, to: string | null) => void;
}

/**
 * How far from the board's upper left corner, as shares of its width and height; over which square; and
 * whether a finger is in the way.
 */
export interface Place {
  right: number;
  down: number;
  over: string | null;
  isTouched: boolean;
}

/** A click trembles by less. */
const DRAG_PX = 5;

/** @param grid whose cells are called by `data-square` */
export function dragged(grid: HTMLElement, hand: Hand) {
  grid.addEventListener('pointerdown', (down) => {
    const from = squareOf(down.target);
    if (!down.isPrimary || down.button !== 0 || from === null || !hand.canTake(from)) return;
    let isTaken = false;
    const over = new AbortController();
    const options = { signal: over.signal };
    const onPointer = (
      type: 'pointermove' | 'pointerup' | 'pointercancel',
      does: (event: PointerEvent) => void,
    ) => window.addEventListener(type, (event) => event.isPrimary && does(event), options);
    const under = ({ clientX, clientY }: PointerEvent) => {
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

export const squareOf = (target: EventTarget | null) =>
  (target instanceof Element && target.closest('[data-square]')?.getAttribute('data-square')) ||
  null;
