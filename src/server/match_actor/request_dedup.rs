//! What clients' requests have come to: one whose answer was lost is asked again, maybe of another server
//! than before. The event that came of it has its id, in the journal, too, so whoever takes a match over
//! knows of it. One that was refused stays so: the way between servers may deliver it once more, when it would
//! be granted, after whoever asked was told that it is not.

use std::collections::VecDeque;

use plyhouse_matches::{Event, RequestId};
use plyhouse_protocol::{Seq, WireError};

/// How many requests are remembered. A copy of a match has no more of them under way at a time.
const DONE_MAX: usize = 64;

/// The requests of clients that were decided on last.
#[derive(Debug, Default)]
pub(super) struct RequestDedup {
    /// Those that were granted, each with the event that it has become.
    granted: VecDeque<(RequestId, Seq)>,
    /// Those that were not, and why.
    refused: VecDeque<(RequestId, Box<WireError>)>,
    /// The last whose events were written with an unknown end: which, after which event, and what.
    unknown: Option<(RequestId, Seq, Vec<Event>)>,
}

impl RequestDedup {
    /// Begins again with the requests that have become events of a whole match.
    pub(super) fn begin_again(&mut self, events: &[Event]) {
        self.granted.clear();
        self.add(Seq(0), events);
        if let Some((request, after, written)) = self.unknown.take() {
            let place = usize::try_from(after.0).unwrap_or(usize::MAX);
            if events
                .get(place..)
                .is_some_and(|known| known.starts_with(&written))
            {
                push(&mut self.granted, (request, after.next()));
            }
        }
    }

    /// Takes note that nobody knows whether these events of a request have been written.
    pub(super) fn is_unknown(&mut self, request: RequestId, after: Seq, events: &[Event]) {
        self.unknown = Some((request, after, events.to_vec()));
    }

    /// Takes note of events of which `after` is the one before.
    pub(super) fn add(&mut self, after: Seq, events: &[Event]) {
        for (event, number) in events.iter().zip(after.0 + 1..) {
            if let Some(request) = &event.request {
                push(&mut self.granted, (**request, Seq(number)));
            }
        }
    }

    /// The event that this request has become.
    pub(super) fn find(&self, request: RequestId) -> Option<Seq> {
        let mut granted = self.granted.iter();
        let found = granted.find(|(known, _)| *known == request);
        found.map(|(_, seq)| *seq)
    }

    /// Takes note that a request is refused.
    pub(super) fn refuse(&mut self, request: RequestId, why: Box<WireError>) {
        push(&mut self.refused, (request, why));
    }

    /// Why this request was refused, if it was.
    pub(super) fn why_refused(&self, request: RequestId) -> Option<&WireError> {
        let mut refused = self.refused.iter();
        let found = refused.find(|(known, _)| *known == request);
        found.map(|(_, why)| &**why)
    }
}

fn push<T>(requests: &mut VecDeque<T>, request: T) {
    if requests.len() == DONE_MAX {
        requests.pop_front();
    }
    requests.push_back(request);
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::game::Seat;
    use plyhouse_matches::{EventKind, Offer};
    use plyhouse_protocol::ErrorCode;
    use uuid::Uuid;

    use super::*;

    fn event(request: Option<u64>) -> Event {
        let kind = EventKind::Declined {
            seat: Seat::First,
            offer: Offer::Draw,
            by: Seat::Second,
        };
        Event {
            request: request.map(|number| Box::new(RequestId(Uuid::nil(), 7, number))),
            ..kind.at(0)
        }
    }

    #[test]
    fn a_request_is_found_by_its_event_until_there_are_too_many() {
        let mut done = RequestDedup::default();
        done.add(Seq(4), &[event(Some(1)), event(None), event(Some(2))]);
        let find = |done: &RequestDedup, number| done.find(RequestId(Uuid::nil(), 7, number));
        assert_eq!(find(&done, 1), Some(Seq(5)));
        assert_eq!(find(&done, 2), Some(Seq(7)));
        assert_eq!(find(&done, 3), None);
        assert_eq!(done.find(RequestId(Uuid::nil(), 8, 1)), None);
        let more: Vec<_> = (3..=65).map(|number| event(Some(number))).collect();
        done.add(Seq(7), &more);
        assert_eq!(find(&done, 1), None);
        assert_eq!(find(&done, 65), Some(Seq(70)));
    }

    #[test]
    fn what_was_written_with_an_unknown_end_is_found_if_it_was() {
        let request = RequestId(Uuid::nil(), 7, 1);
        let mut done = RequestDedup::default();
        done.is_unknown(request, Seq(1), &[event(None)]);
        done.begin_again(&[event(Some(8)), event(None)]);
        assert_eq!(done.find(request), Some(Seq(2)));
        done.is_unknown(request, Seq(1), &[event(None)]);
        done.begin_again(&[event(None), event(Some(8))]);
        assert_eq!(done.find(request), None);
        done.is_unknown(request, Seq(2), &[event(None)]);
        done.begin_again(&[event(None)]);
        assert_eq!(done.find(request), None);
    }

    #[test]
    fn what_was_refused_stays_so_until_there_are_too_many() {
        let request = |number| RequestId(Uuid::nil(), 7, number);
        let why = || Box::new(WireError::new(ErrorCode::TooSoon, "not yet"));
        let mut done = RequestDedup::default();
        done.refuse(request(1), why());
        done.begin_again(&[event(Some(2))]);
        assert_eq!(done.why_refused(request(1)), Some(&*why()));
        assert_eq!(done.why_refused(request(2)), None);
        assert_eq!(done.find(request(1)), None);
        (3..=66).for_each(|number| done.refuse(request(number), why()));
        assert_eq!(done.why_refused(request(1)), None);
        assert_eq!(done.why_refused(request(66)), Some(&*why()));
    }
}
