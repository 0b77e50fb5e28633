// Our matches that are not over: those that are played now, and those by days.

import { challengedTo } from '../social/challenge.ts';
import { clockOf } from '../model/clocks.ts';
import { isByDays } from './correspondence.ts';
import { h } from '../ui/dom.ts';
import { capital, date, say } from '../text/language.ts';
import { keepAlone, keptAlone } from '../offline/offline-games.ts';
import { isMyTurn, isStoodIn } from '../model/match.ts';
import { botWord, titleOfGame } from '../text/labels.ts';
import { Section } from './match-rows.ts';
import { clockWords, timeWords } from '../text/time.ts';
import { named, pageOf } from '../social/player-links.ts';
import { watching } from '../text/phrases.ts';

import type { Listed } from '../net/protocol.ts';
import type { DaysRow } from './correspondence.ts';
import type { Played } from '../offline/offline-games.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { Row, Told } from './match-rows.ts';

export class OwnMatches {
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
    this.#mine = new Section(say('list.mine'), '', (row) => this.#goOn(row), atMost);
    // By its id: a code is not known of what one has not seen here.
    this.#days = new Section(say('list.days'), '', ({ match }) => app.go(`/m/${match}`), atMost);
    this.element = h(
      'section',
      { class: 'listing own', 'aria-label': say('list.own') },
      this.#mine.element,
      this.#days.element,
    );
  }

  /**
   * Shows how they stand now.
   * @returns which they are
   */
  update(): Set<string> {
    const mine = this.#app.mine();
    const days = this.#app.days.rows;
    // What waits for us comes first, and last what waits for somebody else to come.
    const urgency = (match: Match) => (isMyTurn(match) ? 0 : match.status === 'running' ? 1 : 2);
    mine.sort((one, other) => urgency(one) - urgency(other));
    const now = mine.filter((match) => !isByDays(match));
    // Without the server they are told of as the server tells of others.
    const alone = this.#app.connection.isAlone ? [] : keptAlone();
    this.#mine.show([
      ...now.map((match) => this.#toldOfMine(match)),
      ...alone.map((played) => this.#toldOfAlone(played)),
    ]);
    this.#days.show(days.map((row) => this.#toldOfDays(row)));
    this.element.hidden = now.length + alone.length + days.length === 0;
    return new Set([...mine, ...days].map(({ match }) => match));
  }

  /** @param row one of ours */
  #goOn(row: Row) {
    const match = this.#app.matches.get(row.match);
    // Only by asking for it one gets back the seat in which a bot plays.
    if (match && isStoodIn(match, this.#app.player?.id)) {
      void this.#app.enter({ type: 'join', match: row.match });
    } else {
      this.#app.goTo(row);
    }
  }

  #toldOfMine(match: Match): Told {
    const { status, host, you, ply } = match;
    const line = told(
      this.#app,
      { ...match, ...(match.start === undefined ? {} : { from_position: true }) },
      say(isMyTurn(match) ? 'list.turn' : 'list.go'),
      // Of other matches nobody tells how far they are.
      ply > 0 && movesWords(ply),
      this.#ticks && left(match),
      watching(match),
    );
    if (isStoodIn(match, this.#app.player?.id)) {
      const about = `${line.about} · ${say('list.standIn')}`;
      return { ...line, about, action: say('offers.seat') };
    }
    const [one = '', other = ''] = line.names;
    // One knows oneself.
    const names = you === null ? line.names : [you === 0 ? other : one];
    const pages = you === null ? line.pages : line.pages?.slice(1 - you, 2 - you);
    if (status !== 'open') return { ...line, names, pages };
    const opponent = challengedTo(match);
    const isHost = host === this.#app.player?.id;
    return {
      ...line,
      names: opponent ? [opponent] : names,
      pages: opponent ? [] : pages,
      about: `${line.about} · ${opponent ? say('list.asked') : match.code}`,
      action: say('list.show'),
      ...(isHost
        ? { callOff: () => void this.#app.ask({ type: 'leave', match: match.match }) }
        : {}),
    };
  }

  #toldOfAlone({ id, game, seats, moves }: Played): Told {
    const bots = seats.flatMap((wish) => (typeof wish === 'object' ? [wish.bot] : []));
    const about = [
      titleOfGame(this.#app.games, game),
      moves.length > 0 && movesWords(moves.length),
      say('alone.row'),
    ];
    const callOff = () => {
      keepAlone(id, null);
      this.#app.update();
    };
    return {
      row: { match: id, code: id },
      names: bots.map((level) => capital(botWord(level, this.#app.levels))),
      about: about.filter(Boolean).join(' · '),
      ...{ action: say('list.go'), callOff },
    };
  }

  #toldOfDays({ match, isMine, due, known }: DaysRow): Told {
    const { game, opponent, code } = known;
    const turn = isMine === null ? 'days.open' : isMine ? 'days.yours' : 'days.theirs';
    const about = [
      game !== undefined && titleOfGame(this.#app.games, game),
      due === null || turn === 'days.open' ? say(turn) : say(`${turn}.until`, { date: date(due) }),
    ];
    return {
      row: { match, code: code ?? match },
      names: [opponent || say(isMine === null ? 'seat.open' : 'days.match')],
      about: about.filter(Boolean).join(' · '),
      action: say(isMine ? 'list.turn' : isMine === null ? 'list.show' : 'list.go'),
    };
  }
}

/** A number stays with what it counts. */
const movesWords = (count: number) => say('list.moves', { count }).replace(' ', '\u00a0');

/** What is left of our time. */
function left(match: Match) {
  const shown = match.you === null ? null : clockOf(match, match.you, performance.now());
  return (
    match.status === 'running' &&
    shown !== null &&
    say('list.left', { time: timeWords(shown.left) })
  );
}

/** @param more what else is to be known of it */
export function told(
  app: App,
  row: Pick<Listed, 'match' | 'code' | 'game' | 'seats' | 'clock' | 'rated' | 'from_position'>,
  action: string,
  ...more: (string | false)[]
): Told {
  const { game, clock, rated, from_position } = row;
  const terms = [
    clock && clockWords(clock),
    rated && say('rated.short'),
    from_position && say('list.fromPosition'),
  ];
  const about = [titleOfGame(app.games, game), ...terms, ...more];
  const names = row.seats.map((seat) => named(seat, app.levels));
  const pages = row.seats.map(pageOf);
  return { row, names, pages, about: about.filter(Boolean).join(' · '), action };
}
