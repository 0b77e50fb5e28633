//! What was told of what searches think is of the match as it is kept, and is told to whom it may be.

use plyhouse_matches::{EventKind, Match, Occupant, Stage};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::MatchRecord;

use super::{Keeping, Kind};
use crate::checker::reading::{AnalysisTold, HintTold};

impl Keeping<'_> {
    pub(super) fn searches(&mut self) {
        let reading = self.reading;
        let mut faults = Vec::new();
        for hint in &reading.hints {
            let record = self.kept.matches.get(&hint.id);
            faults.extend(record.and_then(|record| of_hint(record, hint)));
        }
        for told in &reading.analyses {
            let state = self.replayed(told.id);
            faults.extend(state.and_then(|state| of_analysis(&state, told)));
        }
        for (id, ply) in &reading.thoughts {
            let Some(state) = self.replayed(*id) else {
                continue;
            };
            // Bots of a match stay where they are, and seats take turns.
            let first = state.initial_position().turn();
            let seat = if ply.0.is_multiple_of(2) {
                first
            } else {
                first.other()
            };
            if !matches!(state.occupant(seat), Occupant::Bot(_)) {
                let about = format!("{id}: {seat:?}, no bot, was heard to think at {ply}");
                faults.push((Kind::FromNowhere, about));
            }
        }
        self.tally.hints = reading.hints.len();
        self.tally.analyses = reading.analyses.len();
        self.tally.thoughts = reading.thoughts.len();
        for (kind, about) in faults {
            self.fault(kind, about);
        }
    }

    /// A match as it stands in the end; nothing if its record is damaged, which is told elsewhere.
    fn replayed(&self, id: MatchId) -> Option<Match> {
        let record = self.kept.matches.get(&id)?;
        Match::replay(record.creation.clone(), &record.events).ok()
    }
}

/// A hint is kept, and was told after its event.
fn of_hint(record: &MatchRecord, hint: &HintTold) -> Option<(Kind, String)> {
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
        None => Some((Kind::Lost, format!("{hint:?} is not kept"))),
        Some((seq, _)) if hint.after.is_some_and(|after| after < seq) => {
            Some((Kind::TooEarly, format!("{hint:?}, which is {seq}")))
        }
        Some((_, false)) => Some((Kind::BadAnswer, format!("{hint:?} is not legal"))),
        Some((_, true)) => None,
    }
}

/// An analysis is of an ended match as it was played, and of whoever has played it.
fn of_analysis(state: &Match, told: &AnalysisTold) -> Option<(Kind, String)> {
    if !matches!(state.stage(), Stage::Ended { .. }) {
        return Some((Kind::TooSoon, format!("{told:?} of a match that goes on")));
    }
    let is_of = |player: PlayerId| {
        state.seat_holders().any(|holder| holder == player)
            || (state.seat_holders().next().is_none() && state.creation().host == player)
    };
    if !told.player.is_some_and(is_of) {
        return Some((Kind::NotTheirs, format!("{told:?}")));
    }
    let moves: Vec<&str> = state.moves().collect();
    let is_played = told.plies.iter().all(|(ply, m)| {
        let at = usize::try_from(ply.0).expect("a small number");
        moves.get(at) == Some(&m.as_str())
    });
    let is_so = is_played && told.of == moves.len() as u64;
    (!is_so).then(|| (Kind::Contradiction, format!("{told:?}, {moves:?} is kept")))
}
