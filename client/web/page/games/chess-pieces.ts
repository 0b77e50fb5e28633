// Draws the chess pieces. Each piece has a distinct outline, so that players recognise it at any
// size.

import { svg } from '../ui/dom.ts';

const FOOT = 'M-28 38v-6q0-5 5-5H23q5 0 5 5v6z';
const NARROW_FOOT = 'M-23 38v-6q0-5 5-5H18q5 0 5 5v6z';

/** Filled paths of each piece, from bottom to top. */
const BODIES: Record<string, string[]> = {
  p: [
    NARROW_FOOT,
    'M-17 27C-8 20-6 10-6 0H6C6 10 8 20 17 27z',
    'M-12-2h24',
    'M0-29a13.500 13.500 0 1 1 0 27 13.500 13.500 0 0 1 0-27z',
  ],
  r: [FOOT, 'M-20 27-16-12H16L20 27z', 'M-25-36h12v8h7v-8H6v8h7v-8H25v18l-8 7H-17l-8-7z'],
  n: [
    FOOT,
    'M-21 27C-21 12-6 5-5-7C-12-4-16-1-19 3C-22 7-27 8-31 5C-36 1-35-3-32-7C-28-13-25-17-23-23C-21-28-17-31-13-32L-11-41L-3-34C18-34 28-14 24 27z',
  ],
  b: [
    FOOT,
    'M-20 27C-12 22-8 17-8 10H8C8 17 12 22 20 27z',
    'M0-33C17-19 18-3 9 10H-9C-18-3-17-19 0-33z',
    'M0-43a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11z',
  ],
  q: [
    FOOT,
    'M-25 27C-22 21-22 17-25 10L-33-18-18-4-15-29 0-8 15-29 18-4 33-18 25 10C22 17 22 21 25 27z',
    'M-34-26a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM-15-38a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM15-38a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM34-26a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z',
  ],
  k: [
    FOOT,
    'M-23 27C-20 21-20 17-23 11C-34 3-38-9-30-17C-22-25-6-22 0-10C6-22 22-25 30-17C38-9 34 3 23 11C20 17 20 21 23 27z',
    'M-3.500-43h7v6.500h6.500v7h-6.500V-12h-7v-17.500h-6.500v-7h6.500z',
  ],
};

/** Lines drawn over the filled paths. */
const LINES: Record<string, string> = {
  r: 'M-17-11H17M-19 20H19',
  n: 'M-13-22v.01M8-26C17-17 19-2 18 14',
  b: 'M-9 10H9M0-22V-8M-6-15H6',
  q: 'M-25 10C-10 5 10 5 25 10M-23 19C-10 15 10 15 23 19',
  k: 'M-23 11C-10 6 10 6 23 11M-21 19C-10 15 10 15 21 19M0-10V7',
};

/** Draws a piece of either side, centred on the origin. */
export const drawChessPiece = (kind: string) =>
  svg(
    'g',
    { class: 'chessman' },
    ...(BODIES[kind] ?? []).map((d) => svg('path', { class: 'body', d })),
    LINES[kind] && svg('path', { class: 'lines', d: LINES[kind] }),
    // CSS shows this group only for the piece set `letters`.
    svg(
      'g',
      { class: 'lettered' },
      svg('circle', { class: 'body', r: 38 }),
      svg('text', { class: 'sign', 'text-anchor': 'middle', y: 17 }, kind.toUpperCase()),
    ),
  );
