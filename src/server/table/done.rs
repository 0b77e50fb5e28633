//! What clients' requests have come to: one whose answer was lost is asked again, maybe of another server
//! than before. The event that came of it has its id, in the journal, too, so whoever takes a match over
//! knows of it.

use std::collections::VecDeque;

use plyhouse_matches::{Event, RequestId};
use plyhouse_protocol::Seq;

/// How many requests are remembered. A copy of a match has no more of them under way at a time.
const DONE_MAX: usize = 64;

/// The requests of clients that were granted last, each with the event that it has become.
#[derive(Debug, Default)]
pub(super) struct Done(VecDeque<(RequestId, Seq)>);

impl Done {
    /// The requests that have become events of a whole match.
    pub(super) fn of(events: &[Event]) -> Self {
        let mut done = Self::default();
        done.add(Seq(0), events);
        done
    }

    /// Takes note of events of which `after` is the one before.
    pub(super) fn add(&mut self, after: Seq, events: &[Event]) {
        for (event, number) in events.iter().zip(after.0 + 1..) {
            if let Some(request) = &event.request {
                if self.0.len() == DONE_MAX {
                    self.0.pop_front();
                }
                self.0.push_back((**request, Seq(number)));
            }
        }
    }

    /// The event that this request has become.
    pub(super) fn find(&self, request: RequestId) -> Option<Seq> {
        let mut done = self.0.iter();
        let found = done.find(|(known, _)| *known == request);
        found.map(|(_, seq)| *seq)
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::game::Seat;
    use plyhouse_matches::{EventKind, Offer};
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
        let mut done = Done::default();
        done.add(Seq(4), &[event(Some(1)), event(None), event(Some(2))]);
        let find = |done: &Done, number| done.find(RequestId(Uuid::nil(), 7, number));
        assert_eq!(find(&done, 1), Some(Seq(5)));
        assert_eq!(find(&done, 2), Some(Seq(7)));
        assert_eq!(find(&done, 3), None);
        assert_eq!(done.find(RequestId(Uuid::nil(), 8, 1)), None);
        let more: Vec<_> = (3..=65).map(|number| event(Some(number))).collect();
        done.add(Seq(7), &more);
        assert_eq!(find(&done, 1), None);
        assert_eq!(find(&done, 65), Some(Seq(70)));
    }
}
