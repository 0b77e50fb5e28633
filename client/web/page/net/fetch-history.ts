// What has happened in a match before one came: asked for, since a snapshot tells only how it stands.

import type { Events, MatchEvent } from '../../protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** All events of a match. Of a long match that is over they come in several messages. */
export async function askForPast(
  { connection }: App,
  { match, status }: Pick<Match, 'match' | 'status'>,
) {
  const events: MatchEvent[] = [];
  for (;;) {
    const since = events.at(-1)?.seq ?? 0;
    const told: Events = await connection.ask({ type: 'resync', match, since });
    events.push(...(told.events ?? []));
    const isWhole = status !== 'ended' || events.at(-1)?.type === 'ended';
    if (isWhole || !told.events?.length) return events;
  }
}
