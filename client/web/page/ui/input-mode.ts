// Detects whether the user plays by touch alone. The page then draws no focus ring on the board,
// where it would look like the mark of a move.

const root = document.documentElement;

root.classList.toggle('touched', matchMedia('(pointer: coarse)').matches);
// Text input may come from an on-screen keyboard.
window.addEventListener(
  'keydown',
  ({ target }) => {
    if (!(target instanceof Element && target.closest('input, select, textarea')))
      root.classList.remove('touched');
  },
  { capture: true },
);

/** Whether the device has a touch screen and no key was pressed outside text fields. */
export const isTouchMode = () => root.classList.contains('touched');
