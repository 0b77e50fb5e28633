// Announces the events of the shown match to screen readers, with toasts and with sounds.

import { translate, joinSentences } from './language.ts';
import { isAbsent, isMyTurn, incomingOffers } from '../model/match.ts';
import { playSound } from '../ui/sounds.ts';
import { phraseContextOf } from './phrase-context.ts';
import { formatDuration } from './time.ts';
import * as phrases from './phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** @param match the match after the event */
export function announceEvent(app: App, match: Match, event: MatchEvent) {
  const context = phraseContextOf(app, match);
  switch (event.type) {
    case 'seated': {
      if (event.seat === match.you) break;
      const name = phrases.seatName(match, event.seat, context);
      if (event.occupant === 'bot' && event.for?.player === app.player?.id) {
        app.toast(translate('event.bot'));
        break;
      }
      app.announce(
        event.occupant === 'open' ? translate('event.open') : translate('event.sits', { name }),
      );
      break;
    }
    case 'started':
      app.announce(joinSentences(translate('event.begins'), phrases.statusText(match, context)));
      playSound('turn');
      break;
    case 'moved': {
      const isRunning = match.status === 'running' && match.turn !== null;
      const status = isRunning ? phrases.statusText(match, context) : '';
      const check = event.check && isRunning ? translate('event.check') : '';
      app.announce(
        joinSentences(phrases.moveSentence(match, event.seat, event.move, context), check, status),
      );
      playSound(isMyTurn(match) ? 'turn' : 'move');
      break;
    }
    case 'offered': {
      if (event.seat === match.you) break;
      app.announce(phrases.offerText(match, event, phrases.seatName(match, event.seat, context)));
      if (match.you !== null) playSound('offer');
      break;
    }
    case 'declined': {
      // Announces only that the opponent declines an offer of the player. A withdrawal is visible.
      if (event.seat !== match.you || event.by === match.you) break;
      app.toast(phrases.declinedText(event, phrases.seatName(match, event.by, context)));
      break;
    }
    case 'taken_back':
      app.announce(
        joinSentences(
          translate('event.back', { move: event.ply + 1 }),
          phrases.statusText(match, context),
        ),
      );
      playSound('move');
      break;
    case 'time_given':
      if (event.seat === match.you)
        app.toast(translate('event.time', { time: formatDuration(event.ms, 'long') }));
      break;
    case 'ended': {
      const { headline, why } = phrases.resultTexts(match, context);
      app.announce(joinSentences(headline, why));
      playSound('end');
    }
  }
}

/** Announces changes that have no event in the log: absences and rematch offers. */
export function announceChange(app: App, before: Match, after: Match) {
  const context = phraseContextOf(app, after);
  after.seats.forEach((occupant, seat) => {
    const previous = before.seats[seat];
    if (seat === after.you || !previous || occupant.occupant !== 'player') return;
    const name = phrases.seatName(after, seat, context);
    if (isAbsent(occupant) && !isAbsent(previous)) app.announce(translate('event.gone', { name }));
    if (!isAbsent(occupant) && isAbsent(previous)) app.announce(translate('event.here', { name }));
  });
  const { you, rematch } = after;
  if (you === null || !rematch) return;
  const name = phrases.seatName(after, 1 - you, context);
  const rematchOffer = (match: Match) =>
    incomingOffers(match).find(({ offer }) => offer === 'rematch');
  const offer = rematchOffer(after);
  if (offer && !rematchOffer(before)) {
    app.announce(phrases.offerText(after, offer, name));
    playSound('offer');
  }
  if (rematch.declined[you] && before.rematch?.declined[you] === false) {
    app.toast(translate('event.noRematch', { name }));
  }
}
