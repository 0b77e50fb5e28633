// Our matches that are not over: those that are played now, and those by days.

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
import type { CorrespondenceRow } from './correspondence.ts';
import type { OfflineGame } from '../offline/offline-games.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { MatchRef, MatchRow } from './match-rows.ts';

export class MyGames {
  #app;
  #mine;
  #days;
  #ticks;
  element;

  /** @param wish how many of a kind are shown before one asks for the others, and whether it is drawn anew every second, so that it can tell what is left of the time */
  constructor(
    app: App,
    { atMost = Infinity, ticks = false }: { atMost?: number; ticks?: boolean } = {},
  ) {
    this.#app = app;
    this.#ticks = ticks;
    this.#mine = new MatchListSection(translate('list.mine'), '', (row) => this.#goOn(row), atMost);
    // By its id: a code is not known of what one has not seen here.
    this.#days = new MatchListSection(
      translate('list.days'),
      '',
      ({ match }) => app.navigate(`/m/${match}`),
      atMost,
    );
    this.element = h(
      'section',
      { class: 'listing own', 'aria-label': translate('list.own') },
      this.#mine.element,
      this.#days.element,
    );
  }

  /**
   * Shows how they stand now.
   * @returns which they are
   */
  update(): Set<string> {
    const mine = this.#app.myMatches();
    const days = this.#app.correspondence.rows;
    // What waits for us comes first, and last what waits for somebody else to come.
    const urgency = (match: Match) => (isMyTurn(match) ? 0 : match.status === 'running' ? 1 : 2);
    mine.sort((one, other) => urgency(one) - urgency(other));
    const now = mine.filter((match) => !isCorrespondence(match));
    // Without the server they are told of as the server tells of others.
    const alone = this.#app.connection.isOffline ? [] : loadOfflineGames();
    this.#mine.show([
      ...now.map((match) => this.#toldOfMine(match)),
      ...alone.map((played) => this.#toldOfAlone(played)),
    ]);
    this.#days.show(days.map((row) => this.#toldOfDays(row)));
    this.element.hidden = now.length + alone.length + days.length === 0;
    return new Set([...mine, ...days].map(({ match }) => match));
  }

  /** @param row one of ours */
  #goOn(row: MatchRef) {
    const match = this.#app.matches.get(row.match);
    // Only by asking for it one gets back the seat in which a bot plays.
    if (match && hasStandIn(match, this.#app.player?.id)) {
      void this.#app.enterMatch({ type: 'join', match: row.match });
    } else {
      this.#app.goToMatch(row);
    }
  }

  #toldOfMine(match: Match): MatchRow {
    const { status, host, you, ply } = match;
    const line = toMatchRow(
      this.#app,
      { ...match, ...(match.start === undefined ? {} : { from_position: true }) },
      translate(isMyTurn(match) ? 'list.turn' : 'list.go'),
      // Of other matches nobody tells how far they are.
      ply > 0 && movesWords(ply),
      this.#ticks && left(match),
      spectatorCountText(match),
    );
    if (hasStandIn(match, this.#app.player?.id)) {
      const about = `${line.about} · ${translate('list.standIn')}`;
      return { ...line, about, action: translate('offers.seat') };
    }
    const [one = '', other = ''] = line.names;
    // One knows oneself.
    const names = you === null ? line.names : [you === 0 ? other : one];
    const pages = you === null ? line.profileLinks : line.profileLinks?.slice(1 - you, 2 - you);
    if (status !== 'open') return { ...line, names, profileLinks: pages };
    const opponent = challengedOpponent(match);
    const isHost = host === this.#app.player?.id;
    return {
      ...line,
      names: opponent ? [opponent] : names,
      profileLinks: opponent ? [] : pages,
      about: `${line.about} · ${opponent ? translate('list.asked') : match.code}`,
      action: translate('list.show'),
      ...(isHost
        ? { onCancel: () => void this.#app.request({ type: 'leave', match: match.match }) }
        : {}),
    };
  }

  #toldOfAlone({ id, game, seats, moves }: OfflineGame): MatchRow {
    const bots = seats.flatMap((wish) => (typeof wish === 'object' ? [wish.bot] : []));
    const about = [
      gameTitle(this.#app.games, game),
      moves.length > 0 && movesWords(moves.length),
      translate('alone.row'),
    ];
    const callOff = () => {
      saveOfflineGame(id, null);
      this.#app.update();
    };
    return {
      ref: { match: id, code: id },
      names: bots.map((level) => capitalize(botName(level, this.#app.levels))),
      about: about.filter(Boolean).join(' · '),
      ...{ action: translate('list.go'), onCancel: callOff },
    };
  }

  #toldOfDays({ match, isMine, due, known }: CorrespondenceRow): MatchRow {
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

/** A number stays with what it counts. */
const movesWords = (count: number) => translate('list.moves', { count }).replace(' ', '\u00a0');

/** What is left of our time. */
function left(match: Match) {
  const shown = match.you === null ? null : clockReading(match, match.you, performance.now());
  return (
    match.status === 'running' &&
    shown !== null &&
    translate('list.left', { time: formatTimeLeft(shown.left) })
  );
}

/** @param more what else is to be known of it */
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
  const pages = row.seats.map(seatProfilePath);
  return { ref: row, names, profileLinks: pages, about: about.filter(Boolean).join(' · '), action };
}
