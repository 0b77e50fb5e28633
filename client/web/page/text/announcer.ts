// What is said, and heard, of what happens in the match that one sees.

import { translate, joinSentences } from './language.ts';
import { isAbsent, isMyTurn, incomingOffers } from '../model/match.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { phraseContextOf } from './phrase-context.ts';
import { formatDuration } from './time.ts';
import * as words from './phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** @param match as the event has left it */
export function announceEvent(app: App, match: Match, event: MatchEvent) {
  const speech = phraseContextOf(app, match);
  switch (event.type) {
    case 'seated': {
      if (event.seat === match.you) break;
      const name = words.seatName(match, event.seat, speech);
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
      app.announce(joinSentences(translate('event.begins'), words.statusText(match, speech)));
      sound('turn');
      break;
    case 'moved': {
      const goesOn = match.status === 'running' && match.turn !== null;
      const standing = goesOn ? words.statusText(match, speech) : '';
      const check = event.check && goesOn ? translate('event.check') : '';
      app.announce(
        joinSentences(words.moveSentence(match, event.seat, event.move, speech), check, standing),
      );
      sound(isMyTurn(match) ? 'turn' : 'move');
      break;
    }
    case 'offered': {
      if (event.seat === match.you) break;
      app.announce(words.offerText(match, event, words.seatName(match, event.seat, speech)));
      if (match.you !== null) sound('offer');
      break;
    }
    case 'declined': {
      // What was declined by the other; a withdrawal is seen.
      if (event.seat !== match.you || event.by === match.you) break;
      app.toast(words.declinedText(event, words.seatName(match, event.by, speech)));
      break;
    }
    case 'taken_back':
      app.announce(
        joinSentences(
          translate('event.back', { move: event.ply + 1 }),
          words.statusText(match, speech),
        ),
      );
      sound('move');
      break;
    case 'time_given':
      if (event.seat === match.you)
        app.toast(translate('event.time', { time: formatDuration(event.ms, 'long') }));
      break;
    case 'ended': {
      const { headline, why } = words.resultTexts(match, speech);
      app.announce(joinSentences(headline, why));
      sound('end');
    }
  }
}

/** What is said of what is told without a number: who comes and goes, and who wants to play again. */
export function announceChange(app: App, before: Match, after: Match) {
  const speech = phraseContextOf(app, after);
  after.seats.forEach((seat, number) => {
    const was = before.seats[number];
    if (number === after.you || !was || seat.occupant !== 'player') return;
    const name = words.seatName(after, number, speech);
    if (isAbsent(seat) && !isAbsent(was)) app.announce(translate('event.gone', { name }));
    if (!isAbsent(seat) && isAbsent(was)) app.announce(translate('event.here', { name }));
  });
  const { you, rematch } = after;
  if (you === null || !rematch) return;
  const name = words.seatName(after, 1 - you, speech);
  const asked = (match: Match) => incomingOffers(match).find(({ offer }) => offer === 'rematch');
  const offer = asked(after);
  if (offer && !asked(before)) {
    app.announce(words.offerText(after, offer, name));
    sound('offer');
  }
  if (rematch.declined[you] && before.rematch?.declined[you] === false) {
    app.toast(translate('event.noRematch', { name }));
  }
}
