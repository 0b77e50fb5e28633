// Pieces that are dragged, by mouse, finger or pen. Whoever does not move far has clicked, which is
// not told of here.

/** What is done with what is dragged. */
export interface DragCallbacks {
  /** whether something on this square can be dragged */
  canDrag: (square: string) => boolean;
  onDragStart: (square: string) => void;
  /** what was taken from this square is there now */
  onDragMove: (square: string, place: DragPosition) => void;
  /** where it is let go, if on a square */
  onDrop: (from: string, to: string | null) => void;
}

/**
 * How far from the board's upper left corner, as shares of its width and height; over which square; and
 * whether a finger is in the way.
 */
export interface DragPosition {
  xFraction: number;
  yFraction: number;
  overSquare: string | null;
  isTouch: boolean;
}

/** A click trembles by less. */
const DRAG_PX = 5;

/** @param grid whose cells are called by `data-square` */
export function enableDragging(grid: HTMLElement, hand: DragCallbacks) {
  grid.addEventListener('pointerdown', (down) => {
    const from = squareOfTarget(down.target);
    if (!down.isPrimary || down.button !== 0 || from === null || !hand.canDrag(from)) return;
    let isTaken = false;
    const over = new AbortController();
    const options = { signal: over.signal };
    const onPointer = (
      type: 'pointermove' | 'pointerup' | 'pointercancel',
      does: (event: PointerEvent) => void,
    ) => window.addEventListener(type, (event) => event.isPrimary && does(event), options);
    const under = ({ clientX, clientY }: PointerEvent) => {
      const at = document.elementFromPoint(clientX, clientY);
      return grid.contains(at) ? squareOfTarget(at) : null;
    };
    onPointer('pointermove', (event) => {
      const { clientX, clientY, pointerType } = event;
      const far = Math.hypot(clientX - down.clientX, clientY - down.clientY) > DRAG_PX;
      if (!isTaken && far) hand.onDragStart(from);
      isTaken ||= far;
      if (!isTaken) return;
      const { left, top, width, height } = grid.getBoundingClientRect();
      const place = { xFraction: (clientX - left) / width, yFraction: (clientY - top) / height };
      hand.onDragMove(from, {
        ...place,
        overSquare: under(event),
        isTouch: pointerType === 'touch',
      });
    });
    onPointer('pointerup', (event) => {
      over.abort();
      if (isTaken) hand.onDrop(from, under(event));
    });
    onPointer('pointercancel', () => {
      over.abort();
      if (isTaken) hand.onDrop(from, null);
    });
  });
}

export const squareOfTarget = (target: EventTarget | null) =>
  (target instanceof Element && target.closest('[data-square]')?.getAttribute('data-square')) ||
  null;
