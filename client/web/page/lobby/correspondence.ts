// The player's correspondence matches. The server sends only whose turn it is; this browser
// remembers the game and the opponent from the last time that it showed the match.

import { challengedOpponent } from '../social/send-challenge.ts';
import { getStored, getStoredObject, setStored } from '../ui/storage.ts';
import { translate } from '../text/language.ts';
import { isLiveFor, isMyTurn } from '../model/match.ts';
import { isMatchEvent } from '../model/state.ts';
import { isCorrespondenceClock } from '../model/clocks.ts';
import { playSound } from '../ui/sounds.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';
import { occupantName } from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';
import type { Match } from '../model/match.ts';
import type { YourTurn } from '../net/protocol.ts';

/** Description of a match in this browser's storage. */
export interface CachedMatchInfo {
  code: string;
  game: string;
  opponent: string;
}

export const isCorrespondence = ({ clock }: Pick<Match, 'clock'>) => isCorrespondenceClock(clock);

export class Correspondence {
  #app;
  #cache: Record<string, CachedMatchInfo> = getStoredObject('days');
  #storedCache = '';

  constructor(app: App) {
    this.#app = app;
    app.store.subscribe((change) => this.#onChange(change));
  }

  #onChange({ action, before, after }: Change) {
    if (action.type === 'welcome') this.#removeEnded();
    if (action.type === 'your_turn') this.#announceTurn(action);
    if (!isMatchEvent(action)) return;
    const [old, match] = [before, after].map(({ matches }) => matches.get(action.match));
    if (!old || !match || !isCorrespondence(match) || isMyTurn(old) || !isMyTurn(match)) return;
    void this.#notify(match.match, this.#titleOf(match.match, match.game));
  }

  /** Forgets the matches that have ended. The offline server lists no matches. */
  #removeEnded() {
    if (this.#app.connection.isOffline) return;
    const { correspondence } = this.#app.store.state;
    for (const match of Object.keys(this.#cache)) {
      if (!correspondence.has(match)) delete this.#cache[match];
    }
  }

  /** Remembers the matches that the page follows. */
  update() {
    for (const match of [...this.#app.matches.values()].filter(isCorrespondence)) {
      if (match.status === 'ended') delete this.#cache[match.match];
      else if (isLiveFor(match, this.#app.player?.id))
        this.#cache[match.match] = this.#cacheInfo(match);
    }
    const cache = JSON.stringify(this.#cache);
    if (cache !== this.#storedCache) setStored('days', cache);
    this.#storedCache = cache;
  }

  cachedInfo(match: string): Partial<CachedMatchInfo> {
    return this.#cache[match] ?? {};
  }

  /** The title of the tab: it mentions turns that the player has not seen. */
  title(otherwise: string) {
    return this.#app.store.state.unseenTurns.size > 0 && !otherwise.startsWith('●')
      ? `● ${translate('days.title')} – ${otherwise}`
      : otherwise;
  }

  #announceTurn({ match, game }: YourTurn) {
    const what = this.#titleOf(match, game);
    const news = translate('standing.yours');
    void this.#notify(match, what);
    const link = { href: `/m/${match}`, says: translate('news.go') };
    this.#app.toast(translate('news.of', { what, news }), link);
    playSound('turn');
  }

  /** Shows a browser notification if the page is hidden and the player wants notifications. */
  async #notify(match: string, what: string) {
    if (!document.hidden || getStored('notify') === null) return;
    const lazy = await tryLoadLazyBundle(this.#app);
    lazy?.showNotification(match, translate('standing.yours'), what, () =>
      this.#app.navigate(`/m/${match}`),
    );
  }

  /** The game and, if known, the opponent. */
  #titleOf(match: string, name: string) {
    const game = this.#app.game(name)?.title ?? name;
    const opponent = this.#cache[match]?.opponent;
    return opponent ? translate('news.against', { game, name: opponent }) : game;
  }

  #cacheInfo({ match, code, game, seats, you }: Match): CachedMatchInfo {
    const other = seats[you === null ? 0 : 1 - you];
    const isTaken = other && other.occupant !== 'open';
    const opponent = isTaken
      ? occupantName(other, this.#app.levels)
      : challengedOpponent({ match });
    return { code, game, opponent: opponent ?? '' };
  }
}
