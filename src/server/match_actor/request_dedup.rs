//! Detection of repeated requests.
//!
//! A client repeats a request whose answer was lost, possibly through another server. The journal
//! stores the ID of the request with the resulting event, so a new owner of the match recognises
//! the request too.
//!
//! A refused request stays refused. The network between servers may deliver a request twice, and
//! the second copy must not succeed after the client has received the refusal.

use std::collections::VecDeque;

use plyhouse_matches::{Event, GlobalRequestId};
use plyhouse_protocol::{Seq, WireError};

/// Maximum number of requests in each list. The limit equals the maximum number of forwarded
/// requests that a replica has in progress.
const REQUESTS_MAX: usize = 64;

/// Recently decided requests of clients.
#[derive(Debug, Default)]
pub(super) struct RequestDedup {
    /// Granted requests, each with the number of the event that it caused.
    granted: VecDeque<(GlobalRequestId, Seq)>,
    /// Refused requests, each with its error.
    refused: VecDeque<(GlobalRequestId, Box<WireError>)>,
    /// The last write that may have failed or succeeded. The tuple contains the request ID, the
    /// number of the last event before the write, and the written events.
    unresolved: Option<(GlobalRequestId, Seq, Vec<Event>)>,
}

impl RequestDedup {
    /// Rebuilds the list of granted requests from all events of a match.
    pub(super) fn reload(&mut self, events: &[Event]) {
        self.granted.clear();
        self.add_events(Seq(0), events);
        if let Some((request, after, written)) = self.unresolved.take() {
            let index = usize::try_from(after.0).unwrap_or(usize::MAX);
            if events
                .get(index..)
                .is_some_and(|stored| stored.starts_with(&written))
            {
                push_bounded(&mut self.granted, (request, after.next()));
            }
        }
    }

    /// Records a write of a request's events that may have failed or succeeded.
    pub(super) fn set_unresolved(
        &mut self,
        request: GlobalRequestId,
        after: Seq,
        events: &[Event],
    ) {
        self.unresolved = Some((request, after, events.to_vec()));
    }

    /// Adds the requests that caused these events. `after` is the number of the last event before
    /// `events`.
    pub(super) fn add_events(&mut self, after: Seq, events: &[Event]) {
        for (event, number) in events.iter().zip(after.0 + 1..) {
            if let Some(request) = &event.request {
                push_bounded(&mut self.granted, (**request, Seq(number)));
            }
        }
    }

    /// Returns the number of the event that this request caused, if the request was granted.
    pub(super) fn find_granted(&self, request: GlobalRequestId) -> Option<Seq> {
        let mut granted = self.granted.iter();
        let found = granted.find(|(known, _)| *known == request);
        found.map(|(_, seq)| *seq)
    }

    pub(super) fn add_refused(&mut self, request: GlobalRequestId, why: Box<WireError>) {
        push_bounded(&mut self.refused, (request, why));
    }

    /// Returns this request's error if the request was refused.
    pub(super) fn refusal(&self, request: GlobalRequestId) -> Option<&WireError> {
        let mut refused = self.refused.iter();
        let found = refused.find(|(known, _)| *known == request);
        found.map(|(_, why)| &**why)
    }
}

fn push_bounded<T>(requests: &mut VecDeque<T>, request: T) {
    if requests.len() == REQUESTS_MAX {
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
            request: request.map(|number| Box::new(GlobalRequestId(Uuid::nil(), 7, number))),
            ..kind.at(0)
        }
    }

    #[test]
    fn granted_request_is_found_until_evicted() {
        let mut dedup = RequestDedup::default();
        dedup.add_events(Seq(4), &[event(Some(1)), event(None), event(Some(2))]);
        let find_number = |done: &RequestDedup, number| {
            done.find_granted(GlobalRequestId(Uuid::nil(), 7, number))
        };
        assert_eq!(find_number(&dedup, 1), Some(Seq(5)));
        assert_eq!(find_number(&dedup, 2), Some(Seq(7)));
        assert_eq!(find_number(&dedup, 3), None);
        assert_eq!(dedup.find_granted(GlobalRequestId(Uuid::nil(), 8, 1)), None);
        let more_events: Vec<_> = (3..=65).map(|number| event(Some(number))).collect();
        dedup.add_events(Seq(7), &more_events);
        assert_eq!(find_number(&dedup, 1), None);
        assert_eq!(find_number(&dedup, 65), Some(Seq(70)));
    }

    #[test]
    fn unresolved_write_is_granted_if_the_journal_contains_it() {
        let request = GlobalRequestId(Uuid::nil(), 7, 1);
        let mut dedup = RequestDedup::default();
        dedup.set_unresolved(request, Seq(1), &[event(None)]);
        dedup.reload(&[event(Some(8)), event(None)]);
        assert_eq!(dedup.find_granted(request), Some(Seq(2)));
        dedup.set_unresolved(request, Seq(1), &[event(None)]);
        dedup.reload(&[event(None), event(Some(8))]);
        assert_eq!(dedup.find_granted(request), None);
        dedup.set_unresolved(request, Seq(2), &[event(None)]);
        dedup.reload(&[event(None)]);
        assert_eq!(dedup.find_granted(request), None);
    }

    #[test]
    fn refused_request_stays_refused_until_evicted() {
        let request = |number| GlobalRequestId(Uuid::nil(), 7, number);
        let error = || Box::new(WireError::new(ErrorCode::TooSoon, "not yet"));
        let mut dedup = RequestDedup::default();
        dedup.add_refused(request(1), error());
        dedup.reload(&[event(Some(2))]);
        assert_eq!(dedup.refusal(request(1)), Some(&*error()));
        assert_eq!(dedup.refusal(request(2)), None);
        assert_eq!(dedup.find_granted(request(1)), None);
        (3..=66).for_each(|number| dedup.add_refused(request(number), error()));
        assert_eq!(dedup.refusal(request(1)), None);
        assert_eq!(dedup.refusal(request(66)), Some(&*error()));
    }
}
