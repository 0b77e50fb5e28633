// How a rating has gone, day by day: drawn, and beside it as a table for those who do not see it.

import { h, svg } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';

export type RatingPoint = [day: string, rating: number];

/** In its own units: it is stretched to the room that it has. */
const [WIDTH, HEIGHT] = [600, 160];
/** Lines across, at most. */
const LINES = 4;
/** What lies between two lines. */
const STEPS = [10, 20, 50, 100, 200, 500, 1000];

/** Midday of a day: by any clock it is that day. */
const noon = (date: string) => Date.parse(`${date}T12:00`);

/**
 * @param series by days, the first first
 * @param title of what
 */
export function ratingGraph(series: RatingPoint[], title: string) {
  const [first, last] = [series[0], series.at(-1)];
  // A day makes no way.
  if (!first || !last || series.length < 2) return null;
  const { low, high, lines } = ratingScale(series.map(([, rating]) => rating));
  const [from, to] = [noon(first[0]), noon(last[0])];
  const x = (date: string) => ((noon(date) - from) / (to - from)) * WIDTH;
  const y = (rating: number) => ((high - rating) / (high - low)) * HEIGHT;
  const points = series.map(([date, rating]) => `${round(x(date))} ${round(y(rating))}`);
  const label = translate('rating.graph', {
    title,
    from: String(first[1]),
    to: String(last[1]),
    count: series.length,
  });
  return h(
    'figure',
    { class: 'rating-graph' },
    h(
      'div',
      { class: 'scale', 'aria-hidden': true },
      ...lines.map((line) => at(h('span', {}, String(line)), y(line))),
    ),
    svg(
      'svg',
      {
        ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
        ...{ role: 'img', 'aria-label': label },
      },
      ...lines.map((line) => svg('path', { class: 'line', d: `M0 ${round(y(line))}H${WIDTH}` })),
      svg('path', { class: 'way', d: `M${points.join('L')}` }),
      // Round ends of ways that lead nowhere: as round as they are, however the picture is stretched.
      svg('path', { class: 'points', d: points.map((point) => `M${point}h0`).join('') }),
    ),
    h(
      'div',
      { class: 'dates', 'aria-hidden': true },
      h('span', {}, formatDate(from)),
      h('span', {}, formatDate(to)),
    ),
    table(series, title),
  );
}

function table(series: RatingPoint[], title: string) {
  const row = ([date, rating]: RatingPoint) =>
    h('tr', {}, h('th', { scope: 'row' }, formatDate(noon(date))), h('td', {}, String(rating)));
  return h(
    'div',
    { class: 'unseen' },
    h(
      'table',
      {},
      h('caption', {}, title),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, translate('rating.day')),
          h('th', { scope: 'col' }, translate('rating.label')),
        ),
      ),
      h('tbody', {}, ...series.map(row)),
    ),
  );
}

/** The least and the most that is drawn, and where lines go across. */
export function ratingScale(ratings: number[]) {
  const [least, most] = [Math.min(...ratings), Math.max(...ratings)];
  const step = STEPS.find((step) => (most - least) / step <= LINES - 1) ?? 2000;
  const low = Math.floor((least - 1) / step) * step;
  const high = Math.ceil((most + 1) / step) * step;
  const lines = [];
  for (let line = low; line <= high; line += step) lines.push(line);
  return { low, high, lines };
}

function at(element: HTMLElement, y: number) {
  element.style.top = `${(y / HEIGHT) * 100}%`;
  return element;
}

const round = (value: number) => Math.round(value * 10) / 10;
