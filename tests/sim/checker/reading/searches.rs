//! What searches think, and who is told of it.

use plyhouse_protocol::{
    Analysis, ClientMessage, ErrorCode, Hint, MatchId, PlayerId, Ply, Thinking, WireError,
};

use super::{ConnectionId, Kind, Reading, Waiting};

/// Somebody was told the best move.
#[derive(Debug)]
pub(in crate::checker) struct HintTold {
    pub(in crate::checker) player: Option<PlayerId>,
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) ply: Ply,
    pub(in crate::checker) m: String,
    /// The last event of the match that had been told by then, if the connection followed it.
    pub(in crate::checker) after: Option<u64>,
}

/// Somebody was told what is thought of an ended match.
#[derive(Debug)]
pub(in crate::checker) struct AnalysisTold {
    pub(in crate::checker) player: Option<PlayerId>,
    pub(in crate::checker) id: MatchId,
    /// Of how many plies.
    pub(in crate::checker) of: u64,
    pub(in crate::checker) plies: Vec<(Ply, String)>,
}

/// A match that a connection is told of.
#[derive(Debug)]
pub(super) struct Analysing {
    id: MatchId,
    since_us: u128,
    /// So many plies were told.
    done: u64,
}

impl Reading {
    /// A connection is promised what is thought of a match.
    pub(super) fn analyses(&mut self, on: ConnectionId, id: MatchId) {
        let new = Analysing {
            id,
            since_us: self.at_us,
            done: 0,
        };
        if let Some(old) = self.connection(on).analysing.replace(new) {
            let about = format!("{on:?} is promised {id} and is being told {old:?}");
            self.fault(Kind::BadAnswer, about);
        }
    }

    /// The next part, which goes on where the one before has ended, from the last ply to the first.
    pub(super) fn told_analysis(&mut self, on: ConnectionId, part: &Analysis) {
        let id = part.match_id;
        let connection = self.connection(on);
        let player = connection.player;
        let now = connection.analysing.as_mut().filter(|now| now.id == id);
        let before = now.as_ref().map(|now| now.done);
        let is_last = part.plies_done == part.plies_total;
        if let Some(now) = now {
            now.done = part.plies_done;
        }
        if is_last {
            connection.analysing = None;
        }
        let plies = part.plies.iter().map(|ply| ply.ply.0);
        let expected = before.map(|before| {
            (part.plies_total - part.plies_done.min(part.plies_total)..part.plies_total - before)
                .rev()
        });
        let is_next = expected.is_some_and(|expected| expected.eq(plies));
        if !is_next || part.accuracy.is_some() != is_last {
            let about = format!("{on:?} is told {part:?} after {before:?}");
            self.fault(Kind::BadAnswer, about);
        }
        let plies = part.plies.iter().map(|ply| (ply.ply, ply.m.clone()));
        self.analyses.push(AnalysisTold {
            player,
            id,
            of: part.plies_total,
            plies: plies.collect(),
        });
    }

    /// Something has failed that no request waits for: an analysis, if it names the match.
    pub(super) fn told_trouble(&mut self, on: ConnectionId, error: &WireError) {
        let analysing = &mut self.connection(on).analysing;
        if error.code == Some(ErrorCode::Overloaded) {
            analysing.take_if(|now| error.match_id.as_deref() == Some(&now.id));
        }
    }

    /// All that was promised must have been told by now, if nothing has gone wrong since.
    pub(super) fn heard_of_searches(&mut self, on: ConnectionId) {
        let settled = self.settled_us;
        let left = self.connection(on).analysing.take();
        if let Some(left) = left.filter(|left| settled.is_some_and(|at| left.since_us < at)) {
            self.fault(Kind::Untold, format!("{on:?} is not told all of {left:?}"));
        }
    }

    pub(super) fn told_hint(&mut self, on: ConnectionId, hint: &Hint, waiting: Option<&Waiting>) {
        let asked = waiting.map(|waiting| (&waiting.message, waiting.target));
        match asked {
            Some((ClientMessage::Hint { ply, .. }, target))
                if *ply == hint.ply && target == Some(hint.match_id) => {}
            _ => self.fault(Kind::BadAnswer, format!("{on:?}: {hint:?} to {asked:?}")),
        }
        let connection = self.connection(on);
        let told = HintTold {
            player: connection.player,
            id: hint.match_id,
            ply: hint.ply,
            m: hint.m.clone(),
            after: connection.following.get(&hint.match_id).copied(),
        };
        self.hints.push(told);
    }

    /// What a bot thinks is told to those alone who follow the match as it is now.
    pub(super) fn told_thought(&mut self, on: ConnectionId, thought: &Thinking) {
        let id = thought.match_id;
        if !self.connection(on).following.contains_key(&id) {
            let about = format!("{on:?} does not follow, and is told {thought:?}");
            self.fault(Kind::BadAnswer, about);
        }
        if !self.thinking.contains(&id) {
            self.fault(Kind::FromNowhere, format!("{on:?} is told {thought:?}"));
        }
        if self.is_late(on, id) {
            self.fault(Kind::TooSoon, format!("{on:?} is told {thought:?}"));
        }
        self.thoughts.insert((id, thought.ply));
    }
}
