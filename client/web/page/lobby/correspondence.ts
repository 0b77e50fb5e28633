// Our matches by days: the server tells of them in a line each, and follows none of them unasked. What
// is played there, and with whom, this browser knows from when it has seen them last.

import { challengedOpponent } from '../social/send-challenge.ts';
import { getStored, getStoredObject, setStored } from '../ui/storage.ts';
import { translate } from '../text/language.ts';
import { isLiveFor, isMyTurn } from '../model/match.ts';
import { isCorrespondenceClock } from './custom-clock.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';
import { occupantName } from '../text/phrases.ts';

import type { Message, Welcome, YourTurn } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** What is remembered of a match. */
export interface CachedMatchInfo {
  code: string;
  game: string;
  opponent: string;
}

/** How a match stands: whose turn it is, nobody's while it is open, and until when, in Unix time. */
export interface CorrespondenceStatus {
  match: string;
  isMine: boolean | null;
  due: number | null;
}

export type CorrespondenceRow = CorrespondenceStatus & { known: Partial<CachedMatchInfo> };

/** What waits for us comes first, and last what waits for somebody to come. */
const urgency = ({ isMine }: CorrespondenceStatus) => (isMine ? 0 : isMine === null ? 2 : 1);

export const isCorrespondence = ({ clock }: Pick<Match, 'clock'>) => isCorrespondenceClock(clock);

export class Correspondence {
  #app;
  /** What the server tells of those that are not followed. */
  #told: Map<string, CorrespondenceStatus> = new Map();
  #memory: Record<string, CachedMatchInfo> = recalled();
  #kept = '';
  /** Turns that one has been told of, and not looked at. */
  #news: Set<string> = new Set();

  constructor(app: App) {
    this.#app = app;
  }

  onWelcome({ following }: Welcome) {
    const rows = following.filter(({ days }) => days);
    this.#told = new Map(
      rows.map(({ match, you, turn = null, due_ms = null }) => {
        return [match, { match, isMine: turn === null ? null : turn === you, due: due_ms }];
      }),
    );
    // Names of ended matches are deleted. The page's own server lists no matches at all.
    for (const match of this.#app.connection.isOffline ? [] : Object.keys(this.#memory)) {
      if (!this.#told.has(match)) delete this.#memory[match];
    }
    this.#news = new Set([...this.#news].filter((match) => this.#told.get(match)?.isMine));
  }

  onMessage(message: Message) {
    if (message.type === 'your_turn') {
      this.#told.set(message.match, { match: message.match, isMine: true, due: message.due_ms });
      this.#tell(message);
    } else if (message.type === 'match') {
      this.#news.delete(message.match);
      if (message.status === 'ended') this.#told.delete(message.match);
    } else if (message.type === 'ended') {
      this.#told.delete(message.match);
    }
  }

  /** Remembers what is to be seen now. */
  update() {
    for (const match of this.#followed()) {
      if (match.status === 'ended') delete this.#memory[match.match];
      else if (this.#isOurs(match)) this.#memory[match.match] = this.#known(match);
    }
    const kept = JSON.stringify(this.#memory);
    if (kept !== this.#kept) setStored('days', kept);
    this.#kept = kept;
  }

  /** All that are not over, the most urgent first. */
  get rows(): CorrespondenceRow[] {
    const followed = this.#followed();
    const seen = new Set(followed.map(({ match }) => match));
    const live = followed.filter((match) => this.#isOurs(match));
    const told = [...this.#told.values()].filter(({ match }) => !seen.has(match));
    return [...live.map(standing), ...told]
      .map((row) => ({ ...row, known: this.#memory[row.match] ?? {} }))
      .sort((one, other) => urgency(one) - urgency(other) || (one.due ?? 0) - (other.due ?? 0));
  }

  /** What the page is called, which tells of turns that one has not looked at. */
  title(otherwise: string) {
    return this.#news.size > 0 && !otherwise.startsWith('●')
      ? `● ${translate('days.title')} – ${otherwise}`
      : otherwise;
  }

  #tell({ match, game: name }: YourTurn) {
    this.#news.add(match);
    const game = this.#app.game(name)?.title ?? name;
    const what = this.#called(match, game);
    const news = translate('standing.yours');
    void this.#notify(match, what);
    this.#app.toast(translate('news.of', { what, news }), {
      href: `/m/${match}`,
      says: translate('news.go'),
    });
    sound('turn');
    this.#app.update();
  }

  /** A match that is followed has gone on. */
  onMatchChanged(before: Match, after: Match) {
    if (!isCorrespondence(after) || isMyTurn(before) || !isMyTurn(after)) return;
    const { match, game: name } = after;
    const what = this.#called(match, this.#app.game(name)?.title ?? name);
    void this.#notify(match, what);
  }

  /** Tells it outside of the page, if nobody looks at it and somebody has asked for that. */
  async #notify(match: string, what: string) {
    if (!document.hidden || getStored('notify') === null) return;
    const seldom = await tryLoadLazyChunk(this.#app);
    seldom?.showNotification(match, translate('standing.yours'), what, () =>
      this.#app.navigate(`/m/${match}`),
    );
  }

  #called(match: string, game: string) {
    const opponent = this.#memory[match]?.opponent;
    return opponent ? translate('news.against', { game, name: opponent }) : game;
  }

  #followed() {
    return [...this.#app.matches.values()].filter(isCorrespondence);
  }

  #isOurs(match: Match) {
    return isLiveFor(match, this.#app.player?.id);
  }

  #known({ match, code, game, seats, you }: Match): CachedMatchInfo {
    const other = seats[you === null ? 0 : 1 - you];
    const isThere = other && other.occupant !== 'open';
    const opponent = isThere
      ? occupantName(other, this.#app.levels)
      : challengedOpponent({ match });
    return { code, game, opponent: opponent ?? '' };
  }
}

/** How a match stands that is followed. */
function standing({
  match,
  turn,
  you,
  left_ms,
  turn_ms = 0,
  clocksUpdatedAt: toldAt,
}: Match): CorrespondenceStatus {
  if (turn === null) return { match, isMine: null, due: null };
  const left = left_ms?.[turn];
  const due =
    left === undefined ? null : Date.now() + left - turn_ms - (performance.now() - toldAt);
  return { match, isMine: turn === you, due };
}

const recalled = (): Record<string, CachedMatchInfo> => getStoredObject('days');
