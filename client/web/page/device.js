// What this device is called among the others of its player.

/** How browsers and systems give themselves away, and what they are called. Many claim to be others, too: the
 * first that fits is meant. */
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

/** @param {Record<string, string>} names @param {string} agent */
const called = (names, agent) => Object.entries(names).find(([mark]) => agent.includes(mark))?.[1];

/** @param {string} [agent] what a browser calls itself */
export const deviceLabel = (agent = navigator.userAgent) =>
  [called(BROWSERS, agent), called(SYSTEMS, agent)].filter(Boolean).join(' · ') || undefined;
