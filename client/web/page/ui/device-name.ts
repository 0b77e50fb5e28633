// What this device is called among the others of its player.

/**
 * How browsers and systems give themselves away, and what they are called. Many claim to be others, too: the
 * first that fits is meant.
 */
const BROWSERS = {
  Edg: 'Edge',
  OPR: 'Opera',
  Firefox: 'Firefox',
  Chrome: 'Chrome',
  Safari: 'Safari',
};
const SYSTEMS = {
  ...{ Android: 'Android', iPhone: 'iPhone', iPad: 'iPad', CrOS: 'ChromeOS' },
  ...{ Windows: 'Windows', Mac: 'Mac', Linux: 'Linux' },
};

const called = (names: Record<string, string>, agent: string) =>
  Object.entries(names).find(([mark]) => agent.includes(mark))?.[1];

/** @param agent what a browser calls itself */
export const deviceLabel = (agent: string = navigator.userAgent) =>
  [called(BROWSERS, agent), called(SYSTEMS, agent)].filter(Boolean).join(' · ') || undefined;
