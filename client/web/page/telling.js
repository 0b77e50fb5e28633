// What is said, and heard, of what happens in the match that one sees.

import { isMyTurn } from './match.js';
import { play as sound } from './sounds.js';
import { speechOf } from './speech.js';
import * as words from './words.js';

/** @import { MatchEvent } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

/** @param {App} app @param {Match} match as the event has left it @param {MatchEvent} event */
export function tell(app, match, event) {
  const speech = speechOf(app, match);
  switch (event.type) {
    case 'seated': {
      if (event.seat === match.you) break;
      const name = words.who(match, event.seat, speech);
      app.announce(event.occupant === 'open' ? 'A seat is open again.' : `${name} sits down.`);
      break;
    }
    case 'started':
      app.announce(`The match begins. ${words.standing(match, speech)}`);
      sound('turn');
      break;
    case 'moved': {
      const goesOn = match.status === 'running' && match.turn !== null;
      const standing = goesOn ? words.standing(match, speech) : '';
      app.announce(`${words.moved(match, event.seat, event.move, speech)} ${standing}`);
      sound(isMyTurn(match) ? 'turn' : 'move');
      break;
    }
    case 'offered': {
      if (match.you === null || event.seat === match.you) break;
      app.announce(words.offered(match, event, words.who(match, event.seat, speech)));
      sound('offer');
      break;
    }
    case 'declined': {
      // What was declined by the other; a withdrawal is seen.
      if (event.seat !== match.you || event.by === match.you) break;
      app.toast(words.declined(event, words.who(match, event.by, speech)));
      break;
    }
    case 'taken_back':
      app.announce(`Taken back to move ${event.ply + 1}. ${words.standing(match, speech)}`);
      sound('move');
      break;
    case 'time_given':
      if (event.seat === match.you) app.toast(`You are given ${event.ms / 1000} seconds more.`);
      break;
    case 'ended': {
      const { headline, why } = words.ended(match, speech);
      app.announce(`${headline} ${why}`);
      sound('end');
    }
  }
}
