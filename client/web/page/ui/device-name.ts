// Names the device in the list of the player's sessions.

/**
 * Browser names by their marks in the user agent. The first match counts, because many user agents
 * also contain the marks of other browsers.
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

const findName = (names: Record<string, string>, userAgent: string) =>
  Object.entries(names).find(([mark]) => userAgent.includes(mark))?.[1];

export const deviceLabel = (userAgent = navigator.userAgent) =>
  [findName(BROWSERS, userAgent), findName(SYSTEMS, userAgent)].filter(Boolean).join(' · ') ||
  undefined;
