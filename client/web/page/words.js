// What happens in a match, in sentences.

import { capital, known, list, parts, say, sentences } from './language.js';
import { botWord, sideName } from './naming.js';
import { way } from './way.js';

/** @import { Level, Occupant, OfferKind, Outcome, StandingOffer } from '../protocol.js' */
/** @import { Link } from './connection.js' */
/** @import { Match } from './match.js' */

/**
 * @typedef {object} Speech
 * @property {Level[]} levels
 * @property {(move: string) => string} move how the last move is called
 * @property {(squares: string[]) => string} line what is said of the winning line
 * @property {string} [scored] what is to be known of the points at the end
 * @property {string} [invited] who has been asked to sit down
 */

/** An error's text as a sentence. @param {string} text */
const sentence = (text) => `${capital(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/**
 * What is said to whoever is refused something.
 * @param {{ code: string, message: string }} refusal
 */
export function refusalText({ code, message }) {
  const why = sentence(message);
  return known(`refusal.${code}`, { why }) ?? why;
}

/**
 * @param {Occupant} seat
 * @param {Level[]} levels
 */
export function occupant(seat, levels) {
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

/**
 * Whoever sits there, by name.
 * @param {Match} match
 * @param {number} number
 * @param {Speech} speech
 */
export function nameIn(match, number, speech) {
  const seat = match.seats[number];
  return seat ? occupant(seat, speech.levels) : say('seat.somebody');
}

/**
 * What somebody has done: said of us, or of whoever it was by name.
 * @param {'calledOff' | 'event.passes' | 'flagged' | 'left' | 'resigned' | 'runs' | 'unbegun'} what
 * @param {Match} match
 * @param {number} number
 * @param {Speech} speech
 */
const done = (what, match, number, speech) =>
  match.you === number
    ? say(`${what}.you`)
    : say(`${what}.name`, { name: nameIn(match, number, speech) });

/**
 * The one sentence that tells how the match stands.
 * @param {Match} match
 * @param {Speech} speech
 */
export function standing(match, speech) {
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
 * @param {Match} match
 * @param {Link['state']} state what the connection is doing
 * @param {Speech} speech
 */
export function standingOver(match, state, speech) {
  if (match.status === 'ended' || state === 'open') return standing(match, speech);
  return say(state === 'replaced' ? 'standing.replaced' : 'standing.offline');
}

/**
 * What the other offers.
 * @param {Match} match
 * @param {StandingOffer} offer
 * @param {string} name
 */
export const offered = (match, offer, name) =>
  say(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

/**
 * What the other offers, about the element that has their name.
 * @param {Match} match
 * @param {StandingOffer} offer
 * @param {Node} name
 */
export const offeredInParts = (match, offer, name) =>
  parts(`offers.${kindOf(offer)}`, { name, count: backBy(match, offer) });

/** @param {StandingOffer} offer */
const kindOf = ({ offer }) => (offer === 'draw' || offer === 'rematch' ? offer : 'takeback');

/** How many moves are to be taken back. @param {Match} match @param {StandingOffer} offer */
const backBy = ({ ply }, { to_ply }) => ply - (to_ply ?? ply - 1);

/** What the other offers, in a word or two. @param {Match} match @param {StandingOffer} offer */
export const offeredInShort = (match, offer) =>
  say(`offers.${kindOf(offer)}.short`, { count: backBy(match, offer) });

/** What we offer. @param {StandingOffer} offer @param {string} name whose answer we wait for */
export const ourOffer = (offer, name) => say(`offers.${kindOf(offer)}.ours`, { name });

/** Half-points as people write them. @param {number} halves */
export const points = (halves) =>
  halves === 1 ? '½' : `${Math.floor(halves / 2)}${halves % 2 === 1 ? '½' : ''}`;

/** @param {{ offer: OfferKind }} declined @param {string} name who declined it */
export const declined = ({ offer }, name) =>
  say(offer === 'takeback' ? 'offers.takeback.declined' : 'offers.draw.declined', { name });

/**
 * Whose clock runs on while we cannot follow.
 * @param {Match} match
 * @param {Speech} speech
 */
export function clockGoesOn(match, speech) {
  if (!match.clock || match.turn === null || match.stands) return '';
  return done('runs', match, match.turn, speech);
}

/**
 * How a match ended, and why.
 * @param {Match} match
 * @param {Speech} speech
 * @returns {{ headline: string, why: string }}
 */
export function ended(match, speech) {
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

/**
 * How a match ended that nobody has won.
 * @param {Match} match
 * @param {Outcome} outcome
 * @param {Speech} speech
 */
function undecided(match, outcome, speech) {
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

/**
 * Whose doing it was, if it was one's.
 * @param {Match} match
 * @param {Outcome} outcome
 * @param {Speech} speech
 */
function brokenOff(match, { detail, by }, speech) {
  if (detail === 'declined') return say('ended.declined');
  if (by === undefined) return say('ended.brokenOff');
  return done(detail === 'no-first-move' ? 'unbegun' : 'calledOff', match, by, speech);
}

/**
 * How the rules brought about the end.
 * @param {Match} match
 * @param {Outcome} outcome
 * @param {Speech} speech
 */
function byRules({ seats }, outcome, speech) {
  const sides = seats.map(({ side }) => sideName(side));
  return sentences(
    outcome.line && speech.line(outcome.line),
    way(outcome, sides),
    outcome.scores && speech.scored,
  );
}

/**
 * A move, for those who do not see the board.
 * @param {Match} match
 * @param {number} seat
 * @param {string} move
 * @param {Speech} speech
 */
export function moved(match, seat, move, speech) {
  if (move === 'pass') return done('event.passes', match, seat, speech);
  const played = speech.move(move);
  return match.you === seat
    ? say('event.plays.you', { move: played })
    : say('event.plays.name', { name: nameIn(match, seat, speech), move: played });
}

/**
 * How many others watch. Whoever follows without a seat is counted by the server, too.
 * @param {{ spectators: number, you?: number | null }} match
 */
export function watching({ spectators, you }) {
  const others = spectators - (you === null ? 1 : 0);
  if (others <= 0) return '';
  return say(you === null ? 'watching.others' : 'watching.you', { count: others });
}

/** So many are named; who has more finds them in the list. */
const NAMED = 3;

/**
 * Why one can open no further match.
 * @param {Match[]} hosted those that one has opened
 * @param {(game: string) => string} title
 */
export function tooMany(hosted, title) {
  const named = list(hosted.slice(0, NAMED).map(({ game, code }) => `${title(game)} ${code}`));
  const more = hosted.length - NAMED;
  const matches = more > 0 ? say('many.more', { matches: named, more }) : named;
  return sentences(say('many.matches', { count: hosted.length, matches }), say('many.do'));
}

/**
 * What is said of fields of a request that mean nothing to the server.
 * @param {string[]} fields
 */
export const notUnderstood = (fields) =>
  sentences(say('link.ignored', { fields: list(fields).replaceAll('_', ' ') }), say('link.anew'));
