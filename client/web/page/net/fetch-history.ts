// Fetches the events of a match from before the snapshot.

import type { MatchEvent } from './protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/**
 * Fetches all events of a match. The server sends those of a long ended match in several messages.
 */
export async function fetchEvents(
  { connection }: App,
  { match, status }: Pick<Match, 'match' | 'status'>,
) {
  const events: MatchEvent[] = [];
  for (;;) {
    const since = events.at(-1)?.seq ?? 0;
    const reply = await connection.request({ type: 'resync', match, since });
    const next = reply.type === 'events' ? reply.events : [];
    events.push(...next);
    const isComplete = status !== 'ended' || events.at(-1)?.type === 'ended';
    if (isComplete || next.length === 0) return events;
  }
}
