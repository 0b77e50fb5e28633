// What happens in a match, in sentences.

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

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** An error's text as a sentence. @param {string} text */
export const sentence = (text) => `${capital(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/**
 * @param {Occupant} seat
 * @param {Level[]} levels
 */
export function occupant(seat, levels) {
  switch (seat.occupant) {
    case 'open':
      return 'Nobody yet';
    case 'player':
      return seat.name;
    case 'bot':
      return `${levelOf(seat.level, levels)} bot${seat.for ? ` for ${seat.for.name}` : ''}`;
  }
}

/** @param {string} name @param {Level[]} levels */
export const levelOf = (name, levels) => levels.find(({ level }) => level === name)?.title ?? name;

/**
 * Whoever sits there, as the subject of a sentence.
 * @param {Match} match
 * @param {number} number
 * @param {Speech} speech
 */
export function who(match, number, speech) {
  if (match.you === number) return 'You';
  const seat = match.seats[number];
  return seat ? occupant(seat, speech.levels) : 'Somebody';
}

/** @param {Match} match @param {number} number */
export const side = (match, number) => capital(match.seats[number]?.side ?? '');

/**
 * The one sentence that tells how the match stands.
 * @param {Match} match
 * @param {Speech} speech
 */
export function standing(match, speech) {
  if (match.status === 'open') {
    if (match.you === null) return 'Waiting for a player.';
    return speech.invited ? `Waiting for ${speech.invited} to accept.` : 'Waiting for an opponent.';
  }
  if (match.status === 'ended') return ended(match, speech).headline;
  if (match.turn === null) return '';
  if (match.turn === match.you) return 'Your turn.';
  const mover = match.seats[match.turn];
  const name = who(match, match.turn, speech);
  return mover?.occupant === 'bot' ? `${name} is thinking.` : `${name} is to move.`;
}

/**
 * How a match stands that we cannot follow now.
 * @param {Match} match
 * @param {Link['state']} state what the connection is doing
 * @param {Speech} speech
 */
export function standingOver(match, state, speech) {
  if (match.status === 'ended' || state === 'open') return standing(match, speech);
  return state === 'replaced' ? 'You are in another tab.' : 'Waiting for the connection …';
}

/**
 * What the other offers.
 * @param {Match} match
 * @param {StandingOffer} offer
 * @param {string} name
 */
export function offered({ ply }, { offer, to_ply }, name) {
  if (offer === 'draw') return `${name} offers a draw.`;
  if (offer === 'rematch') return `${name} wants to play again, sides swapped.`;
  const count = ply - (to_ply ?? ply - 1);
  return `${name} asks to take back ${count === 1 ? 'the last move' : `${count} moves`}.`;
}

/** What the other offers, in a word or two. @param {Match} match @param {StandingOffer} offer */
export function offeredInShort({ ply }, { offer, to_ply }) {
  if (offer === 'draw') return 'Draw?';
  if (offer === 'rematch') return 'Again?';
  return ply - (to_ply ?? ply - 1) === 1 ? 'Take back?' : 'Take back 2?';
}

/** What we offer. @param {StandingOffer} offer @param {string} name whose answer we wait for */
export function ourOffer({ offer }, name) {
  if (offer === 'draw') return 'You offer a draw.';
  if (offer === 'rematch') return `Waiting for ${name} to accept.`;
  return 'You ask to take back.';
}

/** Half-points as people write them. @param {number} halves */
export const points = (halves) =>
  halves === 1 ? '½' : `${Math.floor(halves / 2)}${halves % 2 === 1 ? '½' : ''}`;

/** @param {{ offer: OfferKind }} declined @param {string} name who declined it */
export const declined = ({ offer }, name) =>
  offer === 'takeback' ? `${name} does not take back.` : `${name} declines the draw.`;

/**
 * Whose clock runs on while we cannot follow.
 * @param {Match} match
 * @param {Speech} speech
 */
export function clockGoesOn(match, speech) {
  if (!match.clock || match.turn === null || match.stands) return '';
  const name = who(match, match.turn, speech);
  return name === 'You' ? 'Your clock runs on.' : `The clock of ${name} runs on.`;
}

/**
 * How a match ended, and why.
 * @param {Match} match
 * @param {Speech} speech
 * @returns {{ headline: string, why: string }}
 */
export function ended(match, speech) {
  const outcome = match.outcome;
  if (!outcome) return { headline: 'It is over.', why: '' };
  const { winner, reason } = outcome;
  if (winner === null) return undecided(match, outcome, speech);
  const loser = 1 - winner;
  const headline =
    match.you === winner
      ? 'You win!'
      : match.you === loser
        ? 'You lose.'
        : `${who(match, winner, speech)} wins.`;
  const name = who(match, loser, speech);
  switch (reason) {
    case 'rules':
      return { headline, why: byRules(match, outcome, speech) };
    case 'resignation':
      return { headline, why: `${name} resigned.` };
    case 'abandonment':
      return {
        headline,
        why: match.you === loser ? 'You were away for too long.' : `${name} did not come back.`,
      };
    case 'timeout':
      return { headline, why: `${name} ran out of time.` };
    case 'aborted':
      return { headline, why: 'The match was broken off.' };
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
  const by = outcome.by === undefined ? '' : who(match, outcome.by, speech);
  switch (outcome.reason) {
    case 'rules':
      return {
        headline: 'A draw.',
        why: byRules(match, outcome, speech) || 'Nobody can win any more.',
      };
    case 'agreement':
      return { headline: 'A draw.', why: 'Both agreed on it.' };
    case 'timeout':
      return { headline: 'A draw.', why: 'Time ran out, and the other side cannot win.' };
    case 'aborted':
      return { headline: 'No result.', why: brokenOff(outcome.detail, by) };
    default:
      return { headline: 'No result.', why: '' };
  }
}

/** @param {string | undefined} detail @param {string} by whose doing it was, if it was one's */
function brokenOff(detail, by) {
  if (detail === 'no-first-move' && by) return `${by} did not begin in time.`;
  if (detail === 'declined') return 'The challenge was declined.';
  return by ? `${by} called the match off.` : 'The match was broken off.';
}

/**
 * How the rules brought about the end.
 * @param {Match} match
 * @param {Outcome} outcome
 * @param {Speech} speech
 */
function byRules({ seats }, outcome, speech) {
  const sides = seats.map(({ side }) => capital(side));
  const says = [
    outcome.line && speech.line(outcome.line),
    way(outcome, sides),
    outcome.scores && speech.scored,
  ];
  return says.filter(Boolean).join(' ');
}

/**
 * A move, for those who do not see the board.
 * @param {Match} match
 * @param {number} seat
 * @param {string} move
 * @param {Speech} speech
 */
export function moved(match, seat, move, speech) {
  const name = who(match, seat, speech);
  const isMe = name === 'You';
  if (move === 'pass') return isMe ? 'You pass.' : `${name} passes.`;
  return `${name} ${isMe ? 'play' : 'plays'} ${speech.move(move)}.`;
}

/**
 * How many others watch. Whoever follows without a seat is counted by the server, too.
 * @param {{ spectators: number, you?: number | null }} match
 */
export function watching({ spectators, you }) {
  const others = spectators - (you === null ? 1 : 0);
  if (others <= 0) return '';
  return you === null ? `${counted(others, 'other', 'others')} watching` : `${others} watching`;
}

/** So many are named; who has more finds them in the list. */
const NAMED = 3;

/**
 * Why one can open no further match.
 * @param {Match[]} hosted those that one has opened
 * @param {(game: string) => string} title
 */
export function tooMany(hosted, title) {
  const named = hosted.slice(0, NAMED).map(({ game, code }) => `${title(game)} ${code}`);
  const more = hosted.length - named.length;
  return (
    `You have ${counted(hosted.length, 'match', 'matches')} open, and cannot have more: ` +
    `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}. ` +
    'Call one off, or finish it; they stand under “Your matches”.'
  );
}

/**
 * What is said of fields of a request that mean nothing to the server.
 * @param {string[]} fields
 */
export const notUnderstood = (fields) =>
  `This server does not know what this page has asked for: ${fields.join(', ').replaceAll('_', ' ')}. ` +
  'Load the page anew.';

/** @param {number} count @param {string} one @param {string} many */
export const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;
