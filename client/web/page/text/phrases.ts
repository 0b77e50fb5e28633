// Phrases for the status, the events and the result of a match.

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
  /** describes the last move */
  describeMove: (move: string) => string;
  describeWinningLine: (squares: string[]) => string;
  /** explains the final score */
  scoringNote?: string;
  /** name of the player who has been challenged */
  challengedOpponent?: string;
}

/** Converts an error message to a sentence. */
const toSentence = (text: string) => `${capitalize(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/** Text for the user about an `error` message. */
export function errorText({ code, message }: { code: string; message: string }) {
  const why = toSentence(message);
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

export function seatName(match: Match, seat: number, context: PhraseContext) {
  const occupant = match.seats[seat];
  return occupant ? occupantName(occupant, context.levels) : translate('seat.somebody');
}

/** Says what a player has done, in the second person or with their name. */
const actionText = (
  key: 'calledOff' | 'event.passes' | 'flagged' | 'left' | 'resigned' | 'runs' | 'unbegun',
  match: Match,
  seat: number,
  context: PhraseContext,
) =>
  match.you === seat
    ? translate(`${key}.you`)
    : translate(`${key}.name`, { name: seatName(match, seat, context) });

/** Status of the match in one sentence. */
export function statusText(match: Match, context: PhraseContext) {
  if (match.status === 'open') {
    if (match.you === null) return translate('standing.player');
    const name = context.challengedOpponent;
    return name ? translate('standing.invited', { name }) : translate('standing.opponent');
  }
  if (match.status === 'ended') return resultTexts(match, context).headline;
  if (match.turn === null) return '';
  if (match.turn === match.you) return translate('standing.yours');
  const mover = match.seats[match.turn];
  const name = seatName(match, match.turn, context);
  return translate(mover?.occupant === 'bot' ? 'standing.bot' : 'standing.theirs', { name });
}

/** Status of the match, or of the connection if it is not open. */
export function statusTextForConnection(
  match: Match,
  state: ConnectionStatus['state'],
  context: PhraseContext,
) {
  if (match.status === 'ended' || state === 'open') return statusText(match, context);
  return translate(state === 'replaced' ? 'standing.replaced' : 'standing.offline');
}

/** Text of the opponent's offer. */
export const offerText = (match: Match, offer: OfferState, name: string) =>
  translate(`offers.${offerKey(offer)}`, { name, count: takebackPlies(match, offer) });

/** Text of the opponent's offer with an element for the name. */
export const offerParts = (match: Match, offer: OfferState, name: Node) =>
  translateParts(`offers.${offerKey(offer)}`, { name, count: takebackPlies(match, offer) });

const offerKey = ({ offer }: OfferState) =>
  offer === 'draw' || offer === 'rematch' ? offer : 'takeback';

/** Number of plies that a takeback undoes. */
const takebackPlies = ({ ply }: Match, { to_ply }: OfferState) => ply - (to_ply ?? ply - 1);

/** The opponent's offer in a word or two. */
export const shortOfferText = (match: Match, offer: OfferState) =>
  translate(`offers.${offerKey(offer)}.short`, { count: takebackPlies(match, offer) });

/**
 * Text of the user's own offer.
 * @param name name of the opponent
 */
export const ownOfferText = (offer: OfferState, name: string) =>
  translate(`offers.${offerKey(offer)}.ours`, { name });

/** Formats half-points such as `1½`. */
export const formatPoints = (halves: number) =>
  halves === 1 ? '½' : `${Math.floor(halves / 2)}${halves % 2 === 1 ? '½' : ''}`;

/** @param name name of the player who has declined */
export const declinedText = ({ offer }: { offer: OfferKind }, name: string) =>
  translate(offer === 'takeback' ? 'offers.takeback.declined' : 'offers.draw.declined', { name });

/** Says whose clock runs while the page is not connected. */
export function runningClockText(match: Match, context: PhraseContext) {
  if (!match.clock || match.turn === null || match.stands) return '';
  return actionText('runs', match, match.turn, context);
}

/** Result of the match and its reason. */
export function resultTexts(
  match: Match,
  context: PhraseContext,
): { headline: string; why: string } {
  const { outcome } = match;
  if (!outcome) return { headline: translate('ended.over'), why: '' };
  const { winner, reason } = outcome;
  if (winner === null) return noWinnerTexts(match, outcome, context);
  const loser = 1 - winner;
  const headline =
    match.you === winner
      ? translate('ended.won')
      : match.you === loser
        ? translate('ended.lost')
        : translate('ended.wins', { name: seatName(match, winner, context) });
  switch (reason) {
    case 'rules':
      return { headline, why: rulesReason(match, outcome, context) };
    case 'resignation':
      return { headline, why: actionText('resigned', match, loser, context) };
    case 'abandonment':
      return { headline, why: actionText('left', match, loser, context) };
    case 'timeout':
      return { headline, why: actionText('flagged', match, loser, context) };
    case 'aborted':
      return { headline, why: translate('ended.brokenOff') };
    default:
      // A later server may send other reasons.
      return { headline, why: '' };
  }
}

/** Result of a match without a winner. */
function noWinnerTexts(match: Match, outcome: Outcome, context: PhraseContext) {
  switch (outcome.reason) {
    case 'rules':
      return {
        headline: translate('ended.draw'),
        why: rulesReason(match, outcome, context) || translate('ended.nobody'),
      };
    case 'agreement':
      return {
        headline: translate('ended.draw'),
        why: translate(outcome.detail === 'flag' ? 'ended.flagDraw' : 'ended.agreed'),
      };
    case 'timeout':
      return { headline: translate('ended.draw'), why: translate('ended.timeDraw') };
    case 'aborted':
      return { headline: translate('ended.none'), why: abortReason(match, outcome, context) };
    default:
      return { headline: translate('ended.none'), why: '' };
  }
}

/** Says why the match was aborted, or who aborted it. */
function abortReason(match: Match, { detail, by }: Outcome, context: PhraseContext) {
  if (detail === 'declined') return translate('ended.declined');
  if (by === undefined) return translate('ended.brokenOff');
  return actionText(detail === 'no-first-move' ? 'unbegun' : 'calledOff', match, by, context);
}

/** Explains an end by the rules. */
function rulesReason({ seats }: Match, outcome: Outcome, context: PhraseContext) {
  const sides = seats.map(({ side }) => sideName(side));
  return joinSentences(
    outcome.line && context.describeWinningLine(outcome.line),
    endReasonText(outcome, sides),
    outcome.scores && context.scoringNote,
  );
}

/** Announces a move to screen readers. */
export function moveSentence(match: Match, seat: number, move: string, context: PhraseContext) {
  if (move === 'pass') return actionText('event.passes', match, seat, context);
  const played = context.describeMove(move);
  return match.you === seat
    ? translate('event.plays.you', { move: played })
    : translate('event.plays.name', { name: seatName(match, seat, context), move: played });
}

/** Number of other spectators. The server also counts the user, if they have no seat. */
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

/** Maximum number of matches that the error text names. */
const NAMED_MAX = 3;

/**
 * Explains why the user can open no further match.
 * @param hosted the matches that the user has opened
 */
export function tooManyMatchesText(hosted: Match[], title: (game: string) => string) {
  const named = formatList(
    hosted.slice(0, NAMED_MAX).map(({ game, code }) => `${title(game)} ${code}`),
  );
  const more = hosted.length - NAMED_MAX;
  const matches = more > 0 ? translate('many.more', { matches: named, more }) : named;
  return joinSentences(
    translate('many.matches', { count: hosted.length, matches }),
    translate('many.do'),
  );
}

/** Reports fields of a request that the server does not know. */
export const ignoredFieldsText = (fields: string[]) =>
  joinSentences(
    translate('link.ignored', { fields: formatList(fields).replaceAll('_', ' ') }),
    translate('link.anew'),
  );
