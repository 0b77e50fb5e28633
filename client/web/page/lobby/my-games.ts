// Lists of the player's unfinished games: live and correspondence.

import { correspondenceRows } from './correspondence-rows.ts';
import { challengedOpponent } from '../social/send-challenge.ts';
import { clockReading } from '../model/clocks.ts';
import { isCorrespondence } from './correspondence.ts';
import { h } from '../ui/dom.ts';
import { capitalize, formatDateTime, translate } from '../text/language.ts';
import { saveOfflineGame, loadOfflineGames } from '../offline/offline-games.ts';
import { isMyTurn, hasStandIn } from '../model/match.ts';
import { botName, gameTitle } from '../text/labels.ts';
import { MatchListSection } from './match-rows.ts';
import { formatClock, formatTimeLeft } from '../text/time.ts';
import { nameWithRating, seatProfilePath } from '../social/player-links.ts';
import { spectatorCountText } from '../text/phrases.ts';

import type { ListedMatch } from '../net/protocol.ts';
import type { CorrespondenceRow } from './correspondence-rows.ts';
import type { OfflineGame } from '../offline/offline-games.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { MatchRef, MatchRow } from './match-rows.ts';

export class MyGames {
  #app;
  #liveSection;
  #correspondenceSection;
  #showsTimeLeft;
  element;

  /**
   * @param options `atMost` limits the rows of each list until the user expands it. With `ticks`,
   * rows show the player's remaining time, and the caller updates them every second.
   */
  constructor(app: App, { atMost, ticks = false }: { atMost?: number; ticks?: boolean } = {}) {
    this.#app = app;
    this.#showsTimeLeft = ticks;
    this.#liveSection = new MatchListSection(
      translate('list.mine'),
      '',
      (row) => this.#openMatch(row),
      atMost,
    );
    // The path has the id, because this browser may not know the code.
    this.#correspondenceSection = new MatchListSection(
      translate('list.days'),
      '',
      ({ match }) => app.navigate(`/m/${match}`),
      atMost,
    );
    this.element = h(
      'section',
      { class: 'listing own', 'aria-label': translate('list.own') },
      this.#liveSection.element,
      this.#correspondenceSection.element,
    );
  }

  /**
   * Redraws the lists.
   * @returns ids of the listed matches
   */
  update(): Set<string> {
    const mine = this.#app.myMatches();
    const correspondence = correspondenceRows(this.#app);
    // The player's turn comes first, open matches last.
    const urgency = (match: Match) => (isMyTurn(match) ? 0 : match.status === 'running' ? 1 : 2);
    mine.sort((a, b) => urgency(a) - urgency(b));
    const live = mine.filter((match) => !isCorrespondence(match));
    // In offline mode `mine` contains the offline games.
    const offline = this.#app.connection.isOffline ? [] : loadOfflineGames();
    this.#liveSection.show([
      ...live.map((match) => this.#liveRow(match)),
      ...offline.map((game) => this.#offlineRow(game)),
    ]);
    this.#correspondenceSection.show(correspondence.map((row) => this.#correspondenceRow(row)));
    this.element.hidden = live.length + offline.length + correspondence.length === 0;
    return new Set([...mine, ...correspondence].map(({ match }) => match));
  }

  #openMatch(row: MatchRef) {
    const match = this.#app.matches.get(row.match);
    // The player takes the seat back from the stand-in bot by joining again.
    if (match && hasStandIn(match, this.#app.player?.id)) {
      void this.#app.enterMatch({ type: 'join', match: row.match });
    } else {
      this.#app.goToMatch(row);
    }
  }

  #liveRow(match: Match): MatchRow {
    const { status, host, you, ply } = match;
    const row = toMatchRow(
      this.#app,
      { ...match, ...(match.start === undefined ? {} : { from_position: true }) },
      translate(isMyTurn(match) ? 'list.turn' : 'list.go'),
      ply > 0 && moveCountText(ply),
      this.#showsTimeLeft && timeLeftText(match),
      spectatorCountText(match),
    );
    if (hasStandIn(match, this.#app.player?.id)) {
      const about = `${row.about} · ${translate('list.standIn')}`;
      return { ...row, about, action: translate('offers.seat') };
    }
    // The player's own name is left out.
    const names = you === null ? row.names : row.names.slice(1 - you, 2 - you);
    const profileLinks =
      you === null ? row.profileLinks : row.profileLinks?.slice(1 - you, 2 - you);
    if (status !== 'open') return { ...row, names, profileLinks };
    const opponent = challengedOpponent(match);
    const isHost = host === this.#app.player?.id;
    return {
      ...row,
      names: opponent ? [opponent] : names,
      profileLinks: opponent ? [] : profileLinks,
      about: `${row.about} · ${opponent ? translate('list.asked') : match.code}`,
      action: translate('list.show'),
      ...(isHost
        ? { onCancel: () => void this.#app.request({ type: 'leave', match: match.match }) }
        : {}),
    };
  }

  #offlineRow({ id, game, seats, moves }: OfflineGame): MatchRow {
    const bots = seats.flatMap((seat) => (typeof seat === 'object' ? [seat.bot] : []));
    const about = [
      gameTitle(this.#app.games, game),
      moves.length > 0 && moveCountText(moves.length),
      translate('alone.row'),
    ];
    const onCancel = () => {
      saveOfflineGame(id, null);
      this.#app.update();
    };
    return {
      ref: { match: id, code: id },
      names: bots.map((level) => capitalize(botName(level, this.#app.levels))),
      about: about.filter(Boolean).join(' · '),
      action: translate('list.go'),
      onCancel,
    };
  }

  #correspondenceRow({ match, isMine, due, known }: CorrespondenceRow): MatchRow {
    const { game, opponent, code } = known;
    const turn = isMine === null ? 'days.open' : isMine ? 'days.yours' : 'days.theirs';
    const about = [
      game !== undefined && gameTitle(this.#app.games, game),
      due === null || turn === 'days.open'
        ? translate(turn)
        : translate(`${turn}.until`, { date: formatDateTime(due) }),
    ];
    return {
      ref: { match, code: code ?? match },
      names: [opponent || translate(isMine === null ? 'seat.open' : 'days.match')],
      about: about.filter(Boolean).join(' · '),
      action: translate(isMine ? 'list.turn' : isMine === null ? 'list.show' : 'list.go'),
    };
  }
}

/** Joins the number and its noun with a no-break space. */
const moveCountText = (count: number) => translate('list.moves', { count }).replace(' ', '\u00a0');

/** The player's remaining time; `false` unless the match runs with a clock. */
function timeLeftText(match: Match) {
  const reading = match.you === null ? null : clockReading(match, match.you, performance.now());
  return (
    match.status === 'running' &&
    reading !== null &&
    translate('list.left', { time: formatTimeLeft(reading.left) })
  );
}

/** @param more further texts of the row */
export function toMatchRow(
  app: App,
  row: Pick<ListedMatch, 'match' | 'code' | 'game' | 'seats' | 'clock' | 'rated' | 'from_position'>,
  action: string,
  ...more: (string | false)[]
): MatchRow {
  const { game, clock, rated, from_position } = row;
  const terms = [
    clock && formatClock(clock),
    rated && translate('rated.short'),
    from_position && translate('list.fromPosition'),
  ];
  const about = [gameTitle(app.games, game), ...terms, ...more];
  const names = row.seats.map((seat) => nameWithRating(seat, app.levels));
  const profileLinks = row.seats.map(seatProfilePath);
  return { ref: row, names, profileLinks, about: about.filter(Boolean).join(' · '), action };
}
