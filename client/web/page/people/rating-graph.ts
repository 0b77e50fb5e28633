// Graph of a rating by day, with a table for screen readers.

import { h, svg } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';

export type RatingPoint = [day: string, rating: number];

/** Size of the view box, which is stretched to the available space. */
const [WIDTH, HEIGHT] = [600, 160];
/** Rating differences between two grid lines. */
const STEPS = [10, 20, 50, 100, 200, 500, 1000];
/** Maximum number of steps between the lowest and the highest rating. */
const STEPS_MAX = 3;

/** Local noon of the day, which is on that day despite daylight saving time. */
const noon = (date: string) => Date.parse(`${date}T12:00`);

/** @param series in ascending order of days */
export function ratingGraph(series: RatingPoint[], title: string) {
  const [first, last] = [series[0], series.at(-1)];
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
      ...lines.map((line) => placeAt(h('span', {}, String(line)), y(line))),
    ),
    svg(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': label,
      },
      ...lines.map((line) => svg('path', { class: 'line', d: `M0 ${round(y(line))}H${WIDTH}` })),
      svg('path', { class: 'way', d: `M${points.join('L')}` }),
      // Dots are the round line caps of empty paths, so that stretching does not distort them.
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

/** Lower and upper bound of the graph, and its grid lines. */
export function ratingScale(ratings: number[]) {
  const [least, most] = [Math.min(...ratings), Math.max(...ratings)];
  const step = STEPS.find((step) => (most - least) / step <= STEPS_MAX) ?? 2000;
  const low = Math.floor((least - 1) / step) * step;
  const high = Math.ceil((most + 1) / step) * step;
  const lines = [];
  for (let line = low; line <= high; line += step) lines.push(line);
  return { low, high, lines };
}

function placeAt(element: HTMLElement, y: number) {
  element.style.top = `${(y / HEIGHT) * 100}%`;
  return element;
}

const round = (value: number) => Math.round(value * 10) / 10;
