// What has happened in a match before one came: asked for, since a snapshot tells only how it stands.

import type { MatchEvent } from './protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** All events of a match. Of a long match that is over they come in several messages. */
export async function fetchEvents(
  { connection }: App,
  { match, status }: Pick<Match, 'match' | 'status'>,
) {
  const events: MatchEvent[] = [];
  for (;;) {
    const since = events.at(-1)?.seq ?? 0;
    const told = await connection.request({ type: 'resync', match, since });
    const more = told.type === 'events' ? told.events : [];
    events.push(...more);
    const isWhole = status !== 'ended' || events.at(-1)?.type === 'ended';
    if (isWhole || more.length === 0) return events;
  }
}
