// What happens in a match, in sentences.

import {
  capitalize,
  tryTranslate,
  formatList,
  translateParts,
  translate,
  joinSentences,
} from './language.ts';
import { botName, sideName } from './labels.ts';
import { endReasonText } from './end-reason.ts';

import type { Level, Occupant, OfferKind, Outcome, OfferState } from '../net/protocol.ts';
import type { ConnectionStatus } from '../net/connection.ts';
import type { Match } from '../model/match.ts';

export interface PhraseContext {
  levels: Level[];
  /** how the last move is called */
  describeMove: (move: string) => string;
  /** what is said of the winning line */
  describeWinningLine: (squares: string[]) => string;
  /** what is to be known of the points at the end */
  scoringNote?: string;
  /** who has been asked to sit down */
  challengedOpponent?: string;
}

/** An error's text as a sentence. */
const sentence = (text: string) => `${capitalize(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/** What is said to whoever is refused something. */
export function errorText({ code, message }: { code: string; message: string }) {
  const why = sentence(message);
  return tryTranslate(`refusal.${code}`, { why }) ?? why;
}

export function occupantName(seat: Occupant, levels: Level[]) {
  switch (seat.occupant) {
    case 'open':
      return translate('seat.open');
    case 'player':
      return seat.name;
    case 'bot': {
      const bot = capitalize(botName(seat.level, levels));
      return seat.for ? translate('bot.for', { bot, name: seat.for.name }) : bot;
    }
  }
}

/** Whoever sits there, by name. */
export function seatName(match: Match, number: number, speech: PhraseContext) {
  const seat = match.seats[number];
  return seat ? occupantName(seat, speech.levels) : translate('seat.somebody');
}

/** What somebody has done: said of us, or of whoever it was by name. */
const done = (
  what: 'calledOff' | 'event.passes' | 'flagged' | 'left' | 'resigned' | 'runs' | 'unbegun',
  match: Match,
  number: number,
  speech: PhraseContext,
) =>
  match.you === number
    ? translate(`${what}.you`)
    : translate(`${what}.name`, { name: seatName(match, number, speech) });

/** The one sentence that tells how the match stands. */
export function statusText(match: Match, speech: PhraseContext) {
  if (match.status === 'open') {
    if (match.you === null) return translate('standing.player');
    const name = speech.challengedOpponent;
    return name ? translate('standing.invited', { name }) : translate('standing.opponent');
  }
  if (match.status === 'ended') return resultTexts(match, speech).headline;
  if (match.turn === null) return '';
  if (match.turn === match.you) return translate('standing.yours');
  const mover = match.seats[match.turn];
  const name = seatName(match, match.turn, speech);
  return translate(mover?.occupant === 'bot' ? 'standing.bot' : 'standing.theirs', { name });
}

/**
 * How a match stands that we cannot follow now.
 * @param state what the connection is doing
 */
export function statusTextForConnection(
  match: Match,
  state: ConnectionStatus['state'],
  speech: PhraseContext,
) {
  if (match.status === 'ended' || state === 'open') return statusText(match, speech);
  return translate(state === 'replaced' ? 'standing.replaced' : 'standing.offline');
}

/** What the other offers. */
export const offerText = (match: Match, offer: OfferState, name: string) =>
  translate(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

/** What the other offers, about the element that has their name. */
export const offerParts = (match: Match, offer: OfferState, name: Node) =>
  translateParts(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

const kindOf = ({ offer }: OfferState) =>
  offer === 'draw' || offer === 'rematch' ? offer : 'takeback';

/** How many moves are to be taken back. */
const backBy = ({ ply }: Match, { to_ply }: OfferState) => ply - (to_ply ?? ply - 1);

/** What the other offers, in a word or two. */
export const shortOfferText = (match: Match, offer: OfferState) =>
  translate(`offers.${kindOf(offer)}.short`, { count: backBy(match, offer) });

/**
 * What we offer.
 * @param name whose answer we wait for
 */
export const ownOfferText = (offer: OfferState, name: string) =>
  translate(`offers.${kindOf(offer)}.ours`, { name });

/** Half-points as people write them. */
export const formatPoints = (halves: number) =>
  halves === 1 ? '½' : `${Math.floor(halves / 2)}${halves % 2 === 1 ? '½' : ''}`;

/** @param name who declined it */
export const declinedText = ({ offer }: { offer: OfferKind }, name: string) =>
  translate(offer === 'takeback' ? 'offers.takeback.declined' : 'offers.draw.declined', { name });

/** Whose clock runs on while we cannot follow. */
export function runningClockText(match: Match, speech: PhraseContext) {
  if (!match.clock || match.turn === null || match.stands) return '';
  return done('runs', match, match.turn, speech);
}

/** How a match ended, and why. */
export function resultTexts(
  match: Match,
  speech: PhraseContext,
): { headline: string; why: string } {
  const outcome = match.outcome;
  if (!outcome) return { headline: translate('ended.over'), why: '' };
  const { winner, reason } = outcome;
  if (winner === null) return undecided(match, outcome, speech);
  const loser = 1 - winner;
  const headline =
    match.you === winner
      ? translate('ended.won')
      : match.you === loser
        ? translate('ended.lost')
        : translate('ended.wins', { name: seatName(match, winner, speech) });
  switch (reason) {
    case 'rules':
      return { headline, why: byRules(match, outcome, speech) };
    case 'resignation':
      return { headline, why: done('resigned', match, loser, speech) };
    case 'abandonment':
      return { headline, why: done('left', match, loser, speech) };
    case 'timeout':
      return { headline, why: done('flagged', match, loser, speech) };
    case 'aborted':
      return { headline, why: translate('ended.brokenOff') };
    default:
      // A later server knows more reasons.
      return { headline, why: '' };
  }
}

/** How a match ended that nobody has won. */
function undecided(match: Match, outcome: Outcome, speech: PhraseContext) {
  switch (outcome.reason) {
    case 'rules':
      return {
        headline: translate('ended.draw'),
        why: byRules(match, outcome, speech) || translate('ended.nobody'),
      };
    case 'agreement':
      return {
        headline: translate('ended.draw'),
        why: translate(outcome.detail === 'flag' ? 'ended.flagDraw' : 'ended.agreed'),
      };
    case 'timeout':
      return { headline: translate('ended.draw'), why: translate('ended.timeDraw') };
    case 'aborted':
      return { headline: translate('ended.none'), why: brokenOff(match, outcome, speech) };
    default:
      return { headline: translate('ended.none'), why: '' };
  }
}

/** Whose doing it was, if it was one's. */
function brokenOff(match: Match, { detail, by }: Outcome, speech: PhraseContext) {
  if (detail === 'declined') return translate('ended.declined');
  if (by === undefined) return translate('ended.brokenOff');
  return done(detail === 'no-first-move' ? 'unbegun' : 'calledOff', match, by, speech);
}

/** How the rules brought about the end. */
function byRules({ seats }: Match, outcome: Outcome, speech: PhraseContext) {
  const sides = seats.map(({ side }) => sideName(side));
  return joinSentences(
    outcome.line && speech.describeWinningLine(outcome.line),
    endReasonText(outcome, sides),
    outcome.scores && speech.scoringNote,
  );
}

/** A move, for those who do not see the board. */
export function moveSentence(match: Match, seat: number, move: string, speech: PhraseContext) {
  if (move === 'pass') return done('event.passes', match, seat, speech);
  const played = speech.describeMove(move);
  return match.you === seat
    ? translate('event.plays.you', { move: played })
    : translate('event.plays.name', { name: seatName(match, seat, speech), move: played });
}

/** How many others watch. Whoever follows without a seat is counted by the server, too. */
export function spectatorCountText({
  spectators,
  you,
}: {
  spectators: number;
  you?: number | null;
}) {
  const others = spectators - (you === null ? 1 : 0);
  if (others <= 0) return '';
  return translate(you === null ? 'watching.others' : 'watching.you', { count: others });
}

/** So many are named; who has more finds them in the list. */
const NAMED = 3;

/**
 * Why one can open no further match.
 * @param hosted those that one has opened
 */
export function tooManyMatchesText(hosted: Match[], title: (game: string) => string) {
  const named = formatList(
    hosted.slice(0, NAMED).map(({ game, code }) => `${title(game)} ${code}`),
  );
  const more = hosted.length - NAMED;
  const matches = more > 0 ? translate('many.more', { matches: named, more }) : named;
  return joinSentences(
    translate('many.matches', { count: hosted.length, matches }),
    translate('many.do'),
  );
}

/** What is said of fields of a request that mean nothing to the server. */
export const ignoredFieldsText = (fields: string[]) =>
  joinSentences(
    translate('link.ignored', { fields: formatList(fields).replaceAll('_', ' ') }),
    translate('link.anew'),
  );
