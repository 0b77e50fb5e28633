// What is said, and heard, of what happens in the match that one sees.

import { say, sentences } from './language.ts';
import { isGone, isMyTurn, offersTo } from '../model/match.ts';
import { play as sound } from '../ui/sounds.ts';
import { speechOf } from './phrase-context.ts';
import { spanWords } from './time.ts';
import * as words from './phrases.ts';

import type { MatchEvent } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** @param match as the event has left it */
export function tell(app: App, match: Match, event: MatchEvent) {
  const speech = speechOf(app, match);
  switch (event.type) {
    case 'seated': {
      if (event.seat === match.you) break;
      const name = words.nameIn(match, event.seat, speech);
      if (event.occupant === 'bot' && event.for?.player === app.player?.id) {
        app.toast(say('event.bot'));
        break;
      }
      app.announce(event.occupant === 'open' ? say('event.open') : say('event.sits', { name }));
      break;
    }
    case 'started':
      app.announce(sentences(say('event.begins'), words.standing(match, speech)));
      sound('turn');
      break;
    case 'moved': {
      const goesOn = match.status === 'running' && match.turn !== null;
      const standing = goesOn ? words.standing(match, speech) : '';
      const check = event.check && goesOn ? say('event.check') : '';
      app.announce(sentences(words.moved(match, event.seat, event.move, speech), check, standing));
      sound(isMyTurn(match) ? 'turn' : 'move');
      break;
    }
    case 'offered': {
      if (event.seat === match.you) break;
      app.announce(words.offered(match, event, words.nameIn(match, event.seat, speech)));
      if (match.you !== null) sound('offer');
      break;
    }
    case 'declined': {
      // What was declined by the other; a withdrawal is seen.
      if (event.seat !== match.you || event.by === match.you) break;
      app.toast(words.declined(event, words.nameIn(match, event.by, speech)));
      break;
    }
    case 'taken_back':
      app.announce(
        sentences(say('event.back', { move: event.ply + 1 }), words.standing(match, speech)),
      );
      sound('move');
      break;
    case 'time_given':
      if (event.seat === match.you)
        app.toast(say('event.time', { time: spanWords(event.ms, 'long') }));
      break;
    case 'ended': {
      const { headline, why } = words.ended(match, speech);
      app.announce(sentences(headline, why));
      sound('end');
    }
  }
}

/** What is said of what is told without a number: who comes and goes, and who wants to play again. */
export function tellChange(app: App, before: Match, after: Match) {
  const speech = speechOf(app, after);
  after.seats.forEach((seat, number) => {
    const was = before.seats[number];
    if (number === after.you || !was || seat.occupant !== 'player') return;
    const name = words.nameIn(after, number, speech);
    if (isGone(seat) && !isGone(was)) app.announce(say('event.gone', { name }));
    if (!isGone(seat) && isGone(was)) app.announce(say('event.here', { name }));
  });
  const { you, rematch } = after;
  if (you === null || !rematch) return;
  const name = words.nameIn(after, 1 - you, speech);
  const asked = (match: Match) => offersTo(match).find(({ offer }) => offer === 'rematch');
  const offer = asked(after);
  if (offer && !asked(before)) {
    app.announce(words.offered(after, offer, name));
    sound('offer');
  }
  if (rematch.declined[you] && before.rematch?.declined[you] === false) {
    app.toast(say('event.noRematch', { name }));
  }
}
