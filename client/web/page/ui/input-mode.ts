// Whether one plays by touch alone. What has the focus is marked for those who use a keyboard; where there is none
// the mark, and what could come to stand there, would look like a move.

const root = document.documentElement;

root.classList.toggle('touched', matchMedia('(pointer: coarse)').matches);
// Whoever writes a name on the glass has no keyboard.
window.addEventListener(
  'keydown',
  ({ target }) => {
    if (!(target instanceof Element && target.closest('input, select, textarea')))
      root.classList.remove('touched');
  },
  { capture: true },
);

/** Whether no key has been pressed on a device that is touched. */
export const isTouchMode = () => root.classList.contains('touched');
