// What has happened in a match before one came: asked for, since a snapshot tells only how it stands.

/** @import { Events, MatchEvent } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/**
 * All events of a match. Of a long match that is over they come in several messages.
 * @param {App} app
 * @param {Pick<Match, 'match' | 'status'>} match
 */
export async function askForPast({ connection }, { match, status }) {
  /** @type {MatchEvent[]} */
  const events = [];
  for (;;) {
    const since = events.at(-1)?.seq ?? 0;
    /** @type {Events} */
    const told = await connection.ask({ type: 'resync', match, since });
    events.push(...(told.events ?? []));
    const isWhole = status !== 'ended' || events.at(-1)?.type === 'ended';
    if (isWhole || !told.events?.length) return events;
  }
}
