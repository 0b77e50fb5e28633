//! Checks that hints, analyses and bot thinking belong to the stored match and were sent only to
//! clients that may receive them.

use plyhouse_matches::{EventKind, Match, Occupant, Stage};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::MatchRecord;

use super::{FinalStateCheck, ViolationKind};
use crate::checker::observations::{ReceivedAnalysis, ReceivedHint};

impl FinalStateCheck<'_> {
    pub(super) fn check_engine_output(&mut self) {
        let reading = self.observations;
        let mut faults = Vec::new();
        for hint in &reading.hints {
            let record = self.stored.matches.get(&hint.id);
            faults.extend(record.and_then(|record| check_hint(record, hint)));
        }
        for received in &reading.analyses {
            let state = self.final_match(received.id);
            faults.extend(state.and_then(|state| check_analysis(&state, received)));
        }
        for (id, ply) in &reading.thinking_plies {
            let Some(state) = self.final_match(*id) else {
                continue;
            };
            // The seats alternate, so the ply determines the seat that moves. Bots keep their
            // seats, so the final occupant is the bot that moved.
            let first = state.initial_position().turn();
            let seat = if ply.0.is_multiple_of(2) {
                first
            } else {
                first.other()
            };
            if !matches!(state.occupant(seat), Occupant::Bot(_)) {
                let about =
                    format!("{id}: {seat:?} is no bot, but its thinking was sent at ply {ply}");
                faults.push((ViolationKind::UnrequestedEvent, about));
            }
        }
        self.tally.received_hints = reading.hints.len();
        self.tally.analysis_updates = reading.analyses.len();
        self.tally.thinking_plies = reading.thinking_plies.len();
        for (kind, about) in faults {
            self.report(kind, about);
        }
    }

    /// Returns the final state of a match. Returns `None` if the stored match is damaged, which
    /// another check reports.
    fn final_match(&self, id: MatchId) -> Option<Match> {
        let record = self.stored.matches.get(&id)?;
        Match::replay(record.creation.clone(), &record.events).ok()
    }
}

/// Checks that a received hint is stored and legal. Also checks that the client received the
/// `Hinted` event before the hint.
fn check_hint(record: &MatchRecord, hint: &ReceivedHint) -> Option<(ViolationKind, String)> {
    let mut state = Match::new(record.creation.clone()).ok()?;
    let mut first = None;
    for event in &record.events {
        if let EventKind::Hinted { seat, ply } = &event.kind
            && *ply == hint.ply
            && state.occupant(*seat).player() == hint.player
        {
            let is_legal = state.position().legal_moves().contains(&hint.m);
            first = first.or(Some((state.seq().0 + 1, is_legal)));
        }
        state.fold(event).ok()?;
    }
    match first {
        None => Some((ViolationKind::LostWrite, format!("{hint:?} is not stored"))),
        Some((seq, _)) if hint.last_seq.is_some_and(|after| after < seq) => Some((
            ViolationKind::ReplyBeforeEvent,
            format!("{hint:?} was sent before its event {seq}"),
        )),
        Some((_, false)) => Some((
            ViolationKind::InvalidReply,
            format!("{hint:?} is not legal"),
        )),
        Some((_, true)) => None,
    }
}

/// Checks that an analysis covers an ended match, contains the moves of the match and was sent to a
/// participant.
fn check_analysis(state: &Match, received: &ReceivedAnalysis) -> Option<(ViolationKind, String)> {
    if !matches!(state.stage(), Stage::Ended { .. }) {
        return Some((
            ViolationKind::EarlySpectatorUpdate,
            format!("{received:?} is of a running match"),
        ));
    }
    let is_participant = |player: PlayerId| {
        state.seat_holders().any(|holder| holder == player)
            || (state.seat_holders().next().is_none() && state.creation().host == player)
    };
    if !received.player.is_some_and(is_participant) {
        return Some((ViolationKind::PrivateMatchLeak, format!("{received:?}")));
    }
    let moves: Vec<&str> = state.moves().collect();
    let is_played = received.plies.iter().all(|(ply, m)| {
        let at = usize::try_from(ply.0).expect("a small number");
        moves.get(at) == Some(&m.as_str())
    });
    let is_so = is_played && received.total_plies == moves.len() as u64;
    (!is_so).then(|| {
        (
            ViolationKind::Contradiction,
            format!("{received:?}, {moves:?} are stored"),
        )
    })
}
