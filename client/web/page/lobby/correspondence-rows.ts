// The player's correspondence matches as rows of a list.

import { isCorrespondence } from './correspondence.ts';
import { isLiveFor } from '../model/match.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { CorrespondenceStatus } from '../model/state.ts';
import type { CachedMatchInfo } from './correspondence.ts';

export type CorrespondenceRow = CorrespondenceStatus & { known: Partial<CachedMatchInfo> };

/** Sort key: the player's turns first, open matches last. */
const urgency = ({ isMine }: CorrespondenceStatus) => (isMine ? 0 : isMine === null ? 2 : 1);

/** All matches that have not ended, the most urgent first. */
export function correspondenceRows(app: App): CorrespondenceRow[] {
  const followed = [...app.matches.values()].filter(isCorrespondence);
  const live = followed.filter((match) => isLiveFor(match, app.player?.id));
  const others = [...app.store.state.correspondence.values()];
  return [...live.map(statusOf), ...others.filter(({ match }) => !app.matches.has(match))]
    .map((row) => ({ ...row, known: app.correspondence.cachedInfo(row.match) }))
    .sort((a, b) => urgency(a) - urgency(b) || (a.due ?? 0) - (b.due ?? 0));
}

function statusOf(status: Match): CorrespondenceStatus {
  const { match, turn, you, left_ms, turn_ms = 0, clocksUpdatedAt } = status;
  if (turn === null) return { match, isMine: null, due: null };
  const left = left_ms?.[turn];
  const due =
    left === undefined ? null : Date.now() + left - turn_ms - (performance.now() - clocksUpdatedAt);
  return { match, isMine: turn === you, due };
}
