// What happens in a match, in sentences.

import { capital, known, list, parts, say, sentences } from './language.ts';
import { botWord, sideName } from './labels.ts';
import { way } from './end-reason.ts';

import type { Level, Occupant, OfferKind, Outcome, StandingOffer } from '../net/protocol.ts';
import type { Link } from '../net/connection.ts';
import type { Match } from '../model/match.ts';

export interface Speech {
  levels: Level[];
  /** how the last move is called */
  move: (move: string) => string;
  /** what is said of the winning line */
  line: (squares: string[]) => string;
  /** what is to be known of the points at the end */
  scored?: string;
  /** who has been asked to sit down */
  invited?: string;
}

/** An error's text as a sentence. */
const sentence = (text: string) => `${capital(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/** What is said to whoever is refused something. */
export function refusalText({ code, message }: { code: string; message: string }) {
  const why = sentence(message);
  return known(`refusal.${code}`, { why }) ?? why;
}

export function occupant(seat: Occupant, levels: Level[]) {
  switch (seat.occupant) {
    case 'open':
      return say('seat.open');
    case 'player':
      return seat.name;
    case 'bot': {
      const bot = capital(botWord(seat.level, levels));
      return seat.for ? say('bot.for', { bot, name: seat.for.name }) : bot;
    }
  }
}

/** Whoever sits there, by name. */
export function nameIn(match: Match, number: number, speech: Speech) {
  const seat = match.seats[number];
  return seat ? occupant(seat, speech.levels) : say('seat.somebody');
}

/** What somebody has done: said of us, or of whoever it was by name. */
const done = (
  what: 'calledOff' | 'event.passes' | 'flagged' | 'left' | 'resigned' | 'runs' | 'unbegun',
  match: Match,
  number: number,
  speech: Speech,
) =>
  match.you === number
    ? say(`${what}.you`)
    : say(`${what}.name`, { name: nameIn(match, number, speech) });

/** The one sentence that tells how the match stands. */
export function standing(match: Match, speech: Speech) {
  if (match.status === 'open') {
    if (match.you === null) return say('standing.player');
    const name = speech.invited;
    return name ? say('standing.invited', { name }) : say('standing.opponent');
  }
  if (match.status === 'ended') return ended(match, speech).headline;
  if (match.turn === null) return '';
  if (match.turn === match.you) return say('standing.yours');
  const mover = match.seats[match.turn];
  const name = nameIn(match, match.turn, speech);
  return say(mover?.occupant === 'bot' ? 'standing.bot' : 'standing.theirs', { name });
}

/**
 * How a match stands that we cannot follow now.
 * @param state what the connection is doing
 */
export function standingOver(match: Match, state: Link['state'], speech: Speech) {
  if (match.status === 'ended' || state === 'open') return standing(match, speech);
  return say(state === 'replaced' ? 'standing.replaced' : 'standing.offline');
}

/** What the other offers. */
export const offered = (match: Match, offer: StandingOffer, name: string) =>
  say(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

/** What the other offers, about the element that has their name. */
export const offeredInParts = (match: Match, offer: StandingOffer, name: Node) =>
  parts(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

const kindOf = ({ offer }: StandingOffer) =>
  offer === 'draw' || offer === 'rematch' ? offer : 'takeback';

/** How many moves are to be taken back. */
const backBy = ({ ply }: Match, { to_ply }: StandingOffer) => ply - (to_ply ?? ply - 1);

/** What the other offers, in a word or two. */
export const offeredInShort = (match: Match, offer: StandingOffer) =>
  say(`offers.${kindOf(offer)}.short`, { count: backBy(match, offer) });

/**
 * What we offer.
 * @param name whose answer we wait for
 */
export const ourOffer = (offer: StandingOffer, name: string) =>
  say(`offers.${kindOf(offer)}.ours`, { name });

/** Half-points as people write them. */
export const points = (halves: number) =>
  halves === 1 ? '½' : `${Math.floor(halves / 2)}${halves % 2 === 1 ? '½' : ''}`;

/** @param name who declined it */
export const declined = ({ offer }: { offer: OfferKind }, name: string) =>
  say(offer === 'takeback' ? 'offers.takeback.declined' : 'offers.draw.declined', { name });

/** Whose clock runs on while we cannot follow. */
export function clockGoesOn(match: Match, speech: Speech) {
  if (!match.clock || match.turn === null || match.stands) return '';
  return done('runs', match, match.turn, speech);
}

/** How a match ended, and why. */
export function ended(match: Match, speech: Speech): { headline: string; why: string } {
  const outcome = match.outcome;
  if (!outcome) return { headline: say('ended.over'), why: '' };
  const { winner, reason } = outcome;
  if (winner === null) return undecided(match, outcome, speech);
  const loser = 1 - winner;
  const headline =
    match.you === winner
      ? say('ended.won')
      : match.you === loser
        ? say('ended.lost')
        : say('ended.wins', { name: nameIn(match, winner, speech) });
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
      return { headline, why: say('ended.brokenOff') };
    default:
      // A later server knows more reasons.
      return { headline, why: '' };
  }
}

/** How a match ended that nobody has won. */
function undecided(match: Match, outcome: Outcome, speech: Speech) {
  switch (outcome.reason) {
    case 'rules':
      return {
        headline: say('ended.draw'),
        why: byRules(match, outcome, speech) || say('ended.nobody'),
      };
    case 'agreement':
      return {
        headline: say('ended.draw'),
        why: say(outcome.detail === 'flag' ? 'ended.flagDraw' : 'ended.agreed'),
      };
    case 'timeout':
      return { headline: say('ended.draw'), why: say('ended.timeDraw') };
    case 'aborted':
      return { headline: say('ended.none'), why: brokenOff(match, outcome, speech) };
    default:
      return { headline: say('ended.none'), why: '' };
  }
}

/** Whose doing it was, if it was one's. */
function brokenOff(match: Match, { detail, by }: Outcome, speech: Speech) {
  if (detail === 'declined') return say('ended.declined');
  if (by === undefined) return say('ended.brokenOff');
  return done(detail === 'no-first-move' ? 'unbegun' : 'calledOff', match, by, speech);
}

/** How the rules brought about the end. */
function byRules({ seats }: Match, outcome: Outcome, speech: Speech) {
  const sides = seats.map(({ side }) => sideName(side));
  return sentences(
    outcome.line && speech.line(outcome.line),
    way(outcome, sides),
    outcome.scores && speech.scored,
  );
}

/** A move, for those who do not see the board. */
export function moved(match: Match, seat: number, move: string, speech: Speech) {
  if (move === 'pass') return done('event.passes', match, seat, speech);
  const played = speech.move(move);
  return match.you === seat
    ? say('event.plays.you', { move: played })
    : say('event.plays.name', { name: nameIn(match, seat, speech), move: played });
}

/** How many others watch. Whoever follows without a seat is counted by the server, too. */
export function watching({ spectators, you }: { spectators: number; you?: number | null }) {
  const others = spectators - (you === null ? 1 : 0);
  if (others <= 0) return '';
  return say(you === null ? 'watching.others' : 'watching.you', { count: others });
}

/** So many are named; who has more finds them in the list. */
const NAMED = 3;

/**
 * Why one can open no further match.
 * @param hosted those that one has opened
 */
export function tooMany(hosted: Match[], title: (game: string) => string) {
  const named = list(hosted.slice(0, NAMED).map(({ game, code }) => `${title(game)} ${code}`));
  const more = hosted.length - NAMED;
  const matches = more > 0 ? say('many.more', { matches: named, more }) : named;
  return sentences(say('many.matches', { count: hosted.length, matches }), say('many.do'));
}

/** What is said of fields of a request that mean nothing to the server. */
export const notUnderstood = (fields: string[]) =>
  sentences(say('link.ignored', { fields: list(fields).replaceAll('_', ' ') }), say('link.anew'));
