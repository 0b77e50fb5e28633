// Drag and drop of pieces by mouse, touch or pen. A short movement counts as a click.

export interface DragCallbacks {
  canDrag: (square: string) => boolean;
  onDragStart: (square: string) => void;
  onDragMove: (from: string, position: DragPosition) => void;
  /** `to` is `null` outside the squares */
  onDrop: (from: string, to: string | null) => void;
}

/**
 * Pointer position relative to the upper left corner, as fractions of the board's width and height.
 */
export interface DragPosition {
  xFraction: number;
  yFraction: number;
  overSquare: string | null;
  isTouch: boolean;
}

/** Minimum movement that starts a drag. */
const DRAG_PX = 5;

/** @param grid has cells with `data-square` */
export function enableDragging(grid: HTMLElement, callbacks: DragCallbacks) {
  grid.addEventListener('pointerdown', (down) => {
    const from = squareOfTarget(down.target);
    if (!down.isPrimary || down.button !== 0 || from === null || !callbacks.canDrag(from)) return;
    let isDragging = false;
    const end = new AbortController();
    const options = { signal: end.signal };
    const onPointer = (
      type: 'pointermove' | 'pointerup' | 'pointercancel',
      listener: (event: PointerEvent) => void,
    ) => window.addEventListener(type, (event) => event.isPrimary && listener(event), options);
    const squareAt = ({ clientX, clientY }: PointerEvent) => {
      const element = document.elementFromPoint(clientX, clientY);
      return grid.contains(element) ? squareOfTarget(element) : null;
    };
    onPointer('pointermove', (event) => {
      const { clientX, clientY, pointerType } = event;
      const isFar = Math.hypot(clientX - down.clientX, clientY - down.clientY) > DRAG_PX;
      if (!isDragging && isFar) callbacks.onDragStart(from);
      isDragging ||= isFar;
      if (!isDragging) return;
      const { left, top, width, height } = grid.getBoundingClientRect();
      callbacks.onDragMove(from, {
        xFraction: (clientX - left) / width,
        yFraction: (clientY - top) / height,
        overSquare: squareAt(event),
        isTouch: pointerType === 'touch',
      });
    });
    onPointer('pointerup', (event) => {
      end.abort();
      if (isDragging) callbacks.onDrop(from, squareAt(event));
    });
    onPointer('pointercancel', () => {
      end.abort();
      if (isDragging) callbacks.onDrop(from, null);
    });
  });
}

export const squareOfTarget = (target: EventTarget | null) =>
  (target instanceof Element && target.closest('[data-square]')?.getAttribute('data-square')) ||
  null;
