//! Checks of received hints, analyses and bot thinking.

use plyhouse_protocol::{
    Analysis, ClientMessage, ErrorCode, Hint, MatchId, PlayerId, Ply, Thinking, WireError,
};

use super::{ConnectionId, Observations, PendingRequest, ViolationKind};

/// Received hint.
#[derive(Debug)]
pub(crate) struct ReceivedHint {
    pub(crate) player: Option<PlayerId>,
    pub(crate) id: MatchId,
    pub(crate) ply: Ply,
    pub(crate) m: String,
    /// Number of the last event that the connection had received before the hint. `None` if the
    /// connection did not follow the match.
    pub(crate) last_seq: Option<u64>,
}

/// Received part of an analysis.
#[derive(Debug)]
pub(crate) struct ReceivedAnalysis {
    pub(crate) player: Option<PlayerId>,
    pub(crate) id: MatchId,
    /// Number of plies in the match.
    pub(crate) total_plies: u64,
    pub(crate) plies: Vec<(Ply, String)>,
}

/// Analysis that a connection is receiving.
#[derive(Debug)]
pub(super) struct PendingAnalysis {
    id: MatchId,
    since_us: u128,
    /// Number of plies received so far.
    received_plies: u64,
}

impl Observations {
    /// Records that the server has accepted an analysis request.
    pub(super) fn begin_analysis(&mut self, on: ConnectionId, id: MatchId) {
        let new = PendingAnalysis {
            id,
            since_us: self.at_us,
            received_plies: 0,
        };
        if let Some(old) = self.connection(on).pending_analysis.replace(new) {
            let about =
                format!("{on:?} was promised an analysis of {id} while it still receives {old:?}");
            self.report(ViolationKind::InvalidReply, about);
        }
    }

    /// Checks a part of an analysis. The parts go from the last ply to the first, and each part
    /// continues where the previous one ended.
    pub(super) fn check_analysis(&mut self, on: ConnectionId, part: &Analysis) {
        let id = part.match_id;
        let connection = self.connection(on);
        let player = connection.player;
        let pending = connection
            .pending_analysis
            .as_mut()
            .filter(|now| now.id == id);
        let before = pending.as_ref().map(|now| now.received_plies);
        let is_last = part.plies_done == part.plies_total;
        if let Some(now) = pending {
            now.received_plies = part.plies_done;
        }
        if is_last {
            connection.pending_analysis = None;
        }
        let plies = part.plies.iter().map(|ply| ply.ply.0);
        let expected = before.map(|before| {
            (part.plies_total - part.plies_done.min(part.plies_total)..part.plies_total - before)
                .rev()
        });
        let is_next = expected.is_some_and(|expected| expected.eq(plies));
        if !is_next || part.accuracy.is_some() != is_last {
            let about = format!("{on:?} received {part:?} after {before:?}");
            self.report(ViolationKind::InvalidReply, about);
        }
        let plies = part.plies.iter().map(|ply| (ply.ply, ply.m.clone()));
        self.analyses.push(ReceivedAnalysis {
            player,
            id,
            total_plies: part.plies_total,
            plies: plies.collect(),
        });
    }

    /// Records an error that belongs to no request. An `overloaded` error that names a match ends
    /// the analysis of that match.
    pub(super) fn record_unsolicited_error(&mut self, on: ConnectionId, error: &WireError) {
        let analysing = &mut self.connection(on).pending_analysis;
        if error.code == Some(ErrorCode::Overloaded) {
            analysing.take_if(|now| error.match_id.as_deref() == Some(&now.id));
        }
    }

    /// Reports an analysis that is still incomplete although it began before the cluster settled.
    pub(super) fn check_pending_analysis(&mut self, on: ConnectionId) {
        let settled = self.settled_us;
        let left = self.connection(on).pending_analysis.take();
        if let Some(left) = left.filter(|left| settled.is_some_and(|at| left.since_us < at)) {
            self.report(
                ViolationKind::MissingUpdate,
                format!("{on:?} did not receive all of {left:?}"),
            );
        }
    }

    pub(super) fn check_hint(
        &mut self,
        on: ConnectionId,
        hint: &Hint,
        waiting: Option<&PendingRequest>,
    ) {
        let request = waiting.map(|waiting| (&waiting.message, waiting.target));
        match request {
            Some((ClientMessage::Hint { ply, .. }, target))
                if *ply == hint.ply && target == Some(hint.match_id) => {}
            _ => self.report(
                ViolationKind::InvalidReply,
                format!("{on:?}: {hint:?} as the reply to {request:?}"),
            ),
        }
        let connection = self.connection(on);
        let received = ReceivedHint {
            player: connection.player,
            id: hint.match_id,
            ply: hint.ply,
            m: hint.m.clone(),
            last_seq: connection.followed_seqs.get(&hint.match_id).copied(),
        };
        self.hints.push(received);
    }

    /// Checks that the match shows bot thinking, and that the receiving client follows the match
    /// without a spectator delay.
    pub(super) fn check_thinking(&mut self, on: ConnectionId, thinking: &Thinking) {
        let id = thinking.match_id;
        if !self.connection(on).followed_seqs.contains_key(&id) {
            let about = format!("{on:?} received without following the match: {thinking:?}");
            self.report(ViolationKind::InvalidReply, about);
        }
        if !self.thinking_matches.contains(&id) {
            self.report(
                ViolationKind::UnrequestedEvent,
                format!("{on:?} received without the option enabled: {thinking:?}"),
            );
        }
        if self.is_delayed_for(on, id) {
            self.report(
                ViolationKind::EarlySpectatorUpdate,
                format!("{on:?} received before the spectator delay passed: {thinking:?}"),
            );
        }
        self.thinking_plies.insert((id, thinking.ply));
    }
}
