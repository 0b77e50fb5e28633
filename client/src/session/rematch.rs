//! Rematches: offers after the end of a match, and the transition to the next match.

use std::time::Duration;

use plyhouse_protocol::{
    AnalysisAccess, ClientMessage, MatchId, MatchStatus, Offer, RematchState, Snapshot,
};

use super::{Effect, PlaySession, REQUEST_PENDING_NOTICE};
use crate::exit::Failure;
use crate::sanitize::sanitize;
use crate::view::{self, FAINT, STRONG, paint};

/// Maximum time that a spectator waits for a rematch.
const REMATCH_TIMEOUT: Duration = Duration::from_mins(10);

/// Returns the id of the rematch that follows this match, if a rematch has begun.
pub(super) fn next_match_id(snapshot: &Snapshot) -> Option<MatchId> {
    let next = snapshot.rematch.as_ref()?.next.as_ref()?;
    Some(next.match_id)
}

impl PlaySession {
    /// Waits for a rematch after the end of the match. If the wait ends without a rematch, the run
    /// ends with `result`.
    pub(super) fn wait_for_rematch(&mut self, result: Result<(), Failure>) {
        self.final_result = Some(result);
        self.pending_request = None;
        let (again, leave) = (paint(STRONG, "rematch"), paint(STRONG, "quit"));
        self.print(format!("Type {again} to play again or {leave} to leave."));
        if let Some(command) = self.analyse_command() {
            let text = format!("To find mistakes, run `{command}`.");
            self.print(paint(FAINT, &text));
        }
    }

    /// Returns the command that analyses the match. Returns `None` if the match has no moves or the
    /// server does not offer analysis to players.
    fn analyse_command(&self) -> Option<String> {
        let analysis_access = self.welcome.as_ref()?.analysis?;
        let snapshot = self.snapshot()?;
        let can_analyse = matches!(
            analysis_access,
            AnalysisAccess::Players | AnalysisAccess::Anyone
        );
        let code = sanitize(&snapshot.code);
        (can_analyse && !snapshot.moves.is_empty())
            .then(|| format!("ply analyse {code}{}", self.options.server_option))
    }

    /// Waits, as a spectator, for a rematch after the end of the match.
    pub(super) fn watch_for_rematch(&mut self, snapshot: &Snapshot) {
        self.final_result = Some(Ok(()));
        self.effects.push(Effect::StopWithin(REMATCH_TIMEOUT));
        self.follow_rematch(snapshot);
    }

    /// Watches the rematch if the rematch exists. Otherwise ends the run if both players have left.
    fn follow_rematch(&mut self, snapshot: &Snapshot) {
        let Some(rematch) = &snapshot.rematch else {
            return;
        };
        if let Some(next) = &rematch.next {
            let target = next.match_id.into();
            self.send_request(ClientMessage::Watch { target });
        } else if rematch.present == [false, false]
            && let Some(result) = self.final_result.take()
        {
            self.end(result);
        }
    }

    /// Offers a rematch, or accepts the opponent's offer.
    pub(super) fn offer_rematch(&mut self, snapshot: &Snapshot) {
        if snapshot.status != MatchStatus::Ended || snapshot.you.is_none() {
            return self.print_error("Only players can offer a rematch, and only after the match.");
        }
        if self.pending_request.is_some() {
            return self.print_error(REQUEST_PENDING_NOTICE);
        }
        let (target, offer) = (snapshot.match_id.into(), Offer::Rematch);
        self.send_request(ClientMessage::Offer { target, offer });
    }

    /// Updates the rematch offers and prints the changes.
    pub(super) fn on_rematch(&mut self, id: MatchId, rematch: RematchState) {
        let Some(match_state) = self.match_state_mut(id) else {
            return;
        };
        let previous = match_state.replace_rematch(rematch.clone());
        let snapshot = match_state.snapshot.clone();
        let was_set = |of: fn(&RematchState) -> [bool; 2], seat: usize| {
            previous.as_ref().is_some_and(|before| of(before)[seat])
        };
        let Some(you) = snapshot.you else {
            if self.final_result.is_some() {
                self.follow_rematch(&snapshot);
            }
            return;
        };
        let (me, other) = (you.index(), you.other().index());
        let who = view::seat_subject(&snapshot, you.other());
        if let Some(next) = &rematch.next {
            let is_new = previous.is_none_or(|before| before.next.is_none());
            if is_new {
                let text = format!("Rematch accepted: {}", sanitize(&next.code));
                self.print(paint(FAINT, &text));
            }
            return;
        }
        if rematch.offers[other] && !was_set(|rematch| rematch.offers, other) {
            let (again, decline) = (paint(STRONG, "rematch"), paint(STRONG, "decline"));
            self.print(format!(
                "{who} offers a rematch: type {again} to accept, or {decline}."
            ));
        }
        if rematch.offers[me] && !was_set(|rematch| rematch.offers, me) {
            self.print(format!("You offer {who} a rematch."));
        }
        if rematch.declined[me] && !was_set(|rematch| rematch.declined, me) {
            self.print(format!("{who} declines the rematch."));
        }
        let was_other_present = previous.as_ref().is_none_or(|before| before.present[other]);
        if !rematch.present[other] && was_other_present {
            self.print(format!("{who} has left."));
        }
    }
}
