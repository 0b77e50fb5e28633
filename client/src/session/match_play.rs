//! Play during a match: prints the events of the match and executes the user's commands.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, EndReason, Event, MatchId, MatchStatus, Occupant, SeatNumber, Snapshot,
};

use super::help::help_text;
use super::rematch::next_match_id;
use super::{Effect, Goal, LEAVE_TIMEOUT, PlaySession, REQUEST_PENDING_NOTICE, Stage};
use crate::conventions::Conventions;
use crate::exit::Failure;
use crate::identity_store::SeatNote;
use crate::match_state::{ApplyResult, MatchState};
use crate::sanitize::sanitize;
use crate::view;
use crate::view::{FAINT, STRONG, paint};

/// Maximum length of a move that the client sends, in characters. Every valid move is far shorter.
const MOVE_CHARS_MAX: usize = 32;

impl PlaySession {
    /// Enters a match as player or spectator, or updates the current match from a new snapshot.
    pub(super) fn enter_match(&mut self, snapshot: Snapshot) {
        let current =
            (self.match_state()).filter(|table| table.snapshot.match_id == snapshot.match_id);
        let previous = current.map(|table| (table.snapshot.seq, table.snapshot.you));
        let has_ended = snapshot.status == MatchStatus::Ended;
        let had_seat = matches!(previous, Some((_, Some(_))));
        if snapshot.you.is_none() && !has_ended && self.has_stand_in(&snapshot) {
            self.print("A bot was playing for you. Taking your seat back …");
            let target = snapshot.match_id.into();
            self.stage = Stage::InMatch(Box::new(MatchState::received_at(snapshot, self.now)));
            return self.send_request(ClientMessage::Join { target, seat: None });
        }
        if snapshot.you.is_none() && had_seat && !has_ended {
            let what = "you no longer have a seat in this match; it continues without you";
            return self.end(Err(Failure::Failed(what.to_owned())));
        }
        if snapshot.you.is_none() && has_ended && matches!(self.goal, Goal::Join(_)) {
            let what = "the match is over, and you were not one of its players";
            return self.end(Err(Failure::Refused(what.to_owned())));
        }
        if snapshot.you.is_some() {
            self.effects.push(Effect::AddSeatNote(SeatNote {
                id: snapshot.match_id,
                code: snapshot.code.clone(),
                game: snapshot.game.clone(),
            }));
        }
        let unchanged = previous.is_some_and(|(seq, _)| seq == snapshot.seq);
        self.stage = Stage::InMatch(Box::new(MatchState::received_at(snapshot, self.now)));
        if unchanged {
            let next = self.snapshot().and_then(next_match_id);
            if let Some(result) = self.result_after_rating.take() {
                let now = self.snapshot().cloned();
                return now.map_or((), |now| self.end_after_rating(&now, result));
            }
            return match next.filter(|_| self.final_result.is_some()) {
                // The rematch began while the player was disconnected, so the client requests its
                // snapshot now.
                Some(next) => self.send_request(ClientMessage::Watch {
                    target: next.into(),
                }),
                None => self.print_turn(),
            };
        }
        if previous.is_none() {
            if self.final_result.take().is_some() {
                self.effects.push(Effect::CancelStop);
            }
            self.print_match_header();
        }
        let Some(match_state) = self.match_state() else {
            return;
        };
        match match_state.snapshot.status {
            MatchStatus::Open if previous.is_none() => self.print_invitation(),
            MatchStatus::Open => {}
            MatchStatus::Running => {
                self.print_board();
                self.print_turn();
            }
            MatchStatus::Ended => self.finish_match(true),
        }
    }

    /// Restores the current match after a reconnect, and sends an unanswered request again if
    /// necessary.
    pub(super) fn restore_after_reconnect(&mut self) {
        let Some(id) = self.match_state().map(|table| table.snapshot.match_id) else {
            return;
        };
        let pending = self.take_pending_message();
        let mut own_matches = self.own_matches.iter();
        let Some(snapshot) = own_matches.find(|mine| mine.match_id == id).cloned() else {
            // The server has sent no snapshot of this match after `welcome`, so the client requests
            // it. After `welcome`, the server sends no snapshots of ended matches or of matches
            // that the user only watches.
            return self.send_request(ClientMessage::Watch { target: id.into() });
        };
        let (ply, status) = (snapshot.ply, snapshot.status);
        self.enter_match(snapshot);
        match pending {
            // If the ply has changed, the server may already have played the pending move. The
            // client therefore does not send the move again.
            Some(ClientMessage::Move { ply: sent_ply, .. }) if sent_ply != ply => {}
            // An offer is sent again, because repeating an open offer has no effect.
            Some(
                unanswered @ (ClientMessage::Move { .. }
                | ClientMessage::Resign { .. }
                | ClientMessage::Offer { .. }),
            ) if status == MatchStatus::Running => {
                self.send_request(unanswered);
            }
            Some(unanswered @ ClientMessage::Leave { .. }) => self.send_request(unanswered),
            Some(_) | None => {}
        }
    }

    /// Applies an event to its match. Prints the event if it belongs to the current match.
    pub(super) fn on_event(&mut self, event: &Event) {
        let id = event.match_id();
        if let Some(own_match) = self.own_matches.iter_mut().find(|mine| mine.match_id == id) {
            let mut match_state = MatchState::new(own_match.clone());
            match_state.apply(event);
            *own_match = match_state.snapshot;
            if matches!(event, Event::Ended { .. }) {
                self.effects.push(Effect::RemoveSeatNote(id));
            }
        }
        let received_at = self.now;
        let Some(match_state) = self.match_state_mut(id) else {
            return;
        };
        match match_state.apply_at(event, received_at) {
            ApplyResult::Duplicate => return,
            ApplyResult::Gap => {
                let since = match_state.snapshot.seq;
                return self.send_untracked(ClientMessage::Resync {
                    target: id.into(),
                    since,
                });
            }
            ApplyResult::Applied => {}
        }
        let snapshot = match_state.snapshot.clone();
        match event {
            Event::Seated { seat, .. } => self.print(view::seated_text(&snapshot, *seat)),
            Event::Started { .. } => {
                self.print("The match begins.");
                self.print_board();
                self.print_turn();
            }
            Event::Moved { seat, m, san, .. } => {
                self.print(view::move_text(&snapshot, *seat, san.as_ref().unwrap_or(m)));
                // The board is not printed after the last move or before a bot's reply to the
                // user's move, because another event follows soon.
                let bot_replies_next =
                    snapshot.you == Some(*seat) && is_bot_seat(&snapshot, snapshot.turn);
                if snapshot.turn.is_some() && !bot_replies_next {
                    self.print_board();
                    self.print_turn();
                }
            }
            Event::TakenBack { .. } => {
                self.print("Takeback accepted.");
                self.print_board();
                self.print_turn();
            }
            Event::Offered { offer, .. } => self.print(view::offer_text(&snapshot, offer)),
            Event::Declined {
                seat, offer, by, ..
            } => self.print(view::declined_offer_text(&snapshot, *seat, *offer, *by)),
            Event::TimeGiven { seat, ms, .. } => {
                let who = view::seat_subject(&snapshot, seat.other());
                let to = view::seat_subject(&snapshot, *seat);
                let time = view::duration_text(Duration::from_millis(*ms));
                self.print(format!("{who} gives {to} {time} more time."));
            }
            Event::Hinted { seat, .. } => {
                let who = view::seat_subject(&snapshot, *seat);
                self.print(format!("{who} has asked for a hint."));
            }
            Event::Ended { outcome, .. } => {
                self.finish_match(outcome.reason == Some(EndReason::Rules))
            }
        }
    }

    /// Updates the presence of players and spectators, and prints the changes.
    pub(super) fn on_presence(
        &mut self,
        id: MatchId,
        seats: [Option<bool>; 2],
        absence_remaining_ms: [Option<u64>; 2],
        spectators: u64,
    ) {
        let received_at = self.now;
        let Some(match_state) = self.match_state_mut(id) else {
            return;
        };
        match_state.set_absences(absence_remaining_ms, received_at);
        let absences = match_state.remaining_absences(received_at);
        let previous_spectators = match_state.snapshot.spectators;
        let changed = match_state.update_presence(seats, spectators);
        let snapshot = match_state.snapshot.clone();
        let is_other = |seat: &SeatNumber| snapshot.you != Some(*seat);
        for seat in changed.into_iter().filter(is_other) {
            // Older servers do not send the remaining absence time. The client then prints the
            // complete absence limit.
            let remaining = absences.get(seat.index()).copied().flatten();
            let remaining = remaining.or_else(|| self.absence_limit());
            self.print(view::presence_text(&snapshot, seat, remaining));
        }
        if spectators != previous_spectators && snapshot.you.is_some() {
            let count = match spectators {
                0 => "No spectators are watching.".to_owned(),
                1 => "1 spectator is watching.".to_owned(),
                more => format!("{more} spectators are watching."),
            };
            self.print(paint(FAINT, &count));
        }
    }

    /// Executes a line that the user has typed during the match.
    pub(super) fn run_command(&mut self, line: &str) {
        let Some(snapshot) = self.snapshot().cloned() else {
            return;
        };
        let conventions = Conventions::for_game(&snapshot.game);
        match line.to_ascii_lowercase().as_str() {
            "" if snapshot.status == MatchStatus::Open => self.print_invitation(),
            "" => self.print_turn(),
            "help" | "?" => self.print(help_text(&snapshot, self.options.is_board_visible)),
            "board" => {
                self.print_board();
                self.print_turn();
            }
            "moves" => {
                let legal: Vec<String> = snapshot.legal.iter().map(|m| sanitize(m)).collect();
                self.print(if legal.is_empty() {
                    "There are no legal moves now.".to_owned()
                } else {
                    legal.join(" ")
                });
            }
            "played" if snapshot.moves.is_empty() => self.print("No moves have been played yet."),
            "played" => self.print(view::move_list(&snapshot)),
            "resign" if snapshot.you.is_some() && snapshot.status == MatchStatus::Running => {
                self.send_request(ClientMessage::Resign {
                    target: snapshot.match_id.into(),
                });
            }
            "resign" => {
                self.print_error("You can resign only while you play; type `quit` to leave.")
            }
            word if word.starts_with("say ") => {
                self.send_chat(&snapshot, line["say ".len()..].trim())
            }
            word => {
                if !self.run_bot_command(&snapshot, word)
                    && !self.run_offer_command(&snapshot, word)
                {
                    let m = conventions.normalize_move(line, &snapshot.legal);
                    self.play_move(&snapshot, m);
                }
            }
        }
    }

    fn play_move(&mut self, snapshot: &Snapshot, m: String) {
        let reason = match (snapshot.status, snapshot.you) {
            (_, None) => "You are only watching.".to_owned(),
            (MatchStatus::Open, _) => "The match has not started: a seat is still open.".to_owned(),
            (MatchStatus::Ended, _) => "The match is over.".to_owned(),
            (MatchStatus::Running, _) if snapshot.turn != snapshot.you => {
                format!("It is not your turn: {}", view::turn_text(snapshot))
            }
            (MatchStatus::Running, _) if self.pending_request.is_some() => {
                REQUEST_PENDING_NOTICE.to_owned()
            }
            (MatchStatus::Running, _) if m.chars().count() > MOVE_CHARS_MAX => {
                "That is too long for a move; type `help` for help.".to_owned()
            }
            (MatchStatus::Running, _) => {
                return self.send_request(ClientMessage::Move {
                    target: snapshot.match_id.into(),
                    ply: snapshot.ply,
                    m,
                    takebacks: Some(snapshot.takebacks),
                });
            }
        };
        self.print_error(&reason);
    }

    /// Ends the run. If the match is open, the player gives up the seat. If the match is running,
    /// prints how long the server holds the seat and how to return.
    pub(super) fn leave_and_end(&mut self) {
        let own_match = self.snapshot().filter(|snapshot| snapshot.you.is_some());
        match own_match.cloned() {
            Some(snapshot) if snapshot.status == MatchStatus::Running && !self.can_resume => {
                self.print("You left the match and cannot rejoin: your identity was not saved.");
                self.end(Err(Failure::Stopped));
            }
            Some(snapshot) if snapshot.status == MatchStatus::Running => {
                let then = match &snapshot.stand_in {
                    Some(_) => ", then a bot plays for you",
                    None => "",
                };
                let held = self.absence_limit().map_or_else(String::new, |patience| {
                    format!(
                        " Your seat is held for {}{then}.",
                        view::duration_text(patience)
                    )
                });
                let command = paint(STRONG, &self.join_command(&snapshot.code));
                self.print(format!(
                    "You left the match.{held}\nTo rejoin:\n\n    {command}\n"
                ));
                self.end(Err(Failure::Stopped));
            }
            Some(snapshot) if snapshot.status == MatchStatus::Open => {
                self.print("You left the match.");
                self.effects.push(Effect::RemoveSeatNote(snapshot.match_id));
                self.send_request(ClientMessage::Leave {
                    target: snapshot.match_id.into(),
                });
                self.effects.push(Effect::StopWithin(LEAVE_TIMEOUT));
            }
            Some(_) | None => self.end(Err(Failure::Stopped)),
        }
    }

    /// Ends the run after the player has left the seat. If the match is running, prints a message
    /// saying that a bot continues to play for the player.
    pub(super) fn on_seat_left(&mut self) {
        let running = |now: &&Snapshot| now.status == MatchStatus::Running;
        if let Some(running) = self.snapshot().filter(running) {
            let command = paint(STRONG, &self.join_command(&running.code));
            self.print(format!(
                "A bot plays for you now. To rejoin:\n\n    {command}\n"
            ));
        }
        self.end(Err(Failure::Stopped));
    }

    /// Returns the command that joins the match with this code or id.
    pub(super) fn join_command(&self, target: &str) -> String {
        let (target, option) = (sanitize(target), &self.options.server_option);
        format!("ply join {target}{option}")
    }

    /// Returns how long the server holds the player's seat during an absence. Returns `None` if the
    /// limit is unknown, or if the match is a correspondence match.
    fn absence_limit(&self) -> Option<Duration> {
        let snapshot = self.snapshot()?;
        let clock = snapshot.clock;
        if clock.is_some_and(|clock| clock.is_correspondence()) {
            return None;
        }
        let welcome = self.welcome.as_ref();
        let default_limit_ms = welcome.map(|welcome| welcome.limits.abandon_after_ms);
        let limit_ms = snapshot.absence_limit_ms.or(default_limit_ms);
        limit_ms.map(Duration::from_millis)
    }

    fn finish_match(&mut self, with_board: bool) {
        let Some(match_state) = self.match_state() else {
            return;
        };
        let (snapshot, has_begun) = (match_state.snapshot.clone(), match_state.has_begun);
        self.effects.push(Effect::RemoveSeatNote(snapshot.match_id));
        if with_board {
            self.print_board();
        }
        let pending = self.pending_request.as_ref();
        let is_leave = |message: &ClientMessage| matches!(message, ClientMessage::Leave { .. });
        if pending.is_some_and(|pending| is_leave(&pending.request.message)) {
            return self.end(Err(Failure::Stopped));
        }
        let outcome = snapshot.outcome.as_ref();
        if let Some(outcome) = outcome {
            self.print(view::outcome_text(&snapshot, outcome));
        }
        let aborted = outcome.is_some_and(|outcome| outcome.reason == Some(EndReason::Aborted));
        // If the match was aborted, `ply` exits with an error code for a player, but successfully
        // for a spectator.
        let result = match aborted && snapshot.you.is_some() {
            true => Err(Failure::Stopped),
            false => Ok(()),
        };
        if self.options.interactive && snapshot.you.is_some() && (has_begun || !aborted) {
            return self.wait_for_rematch(result);
        }
        if self.options.follows_rematches && snapshot.you.is_none() {
            return self.watch_for_rematch(&snapshot);
        }
        self.end_after_rating(&snapshot, result);
    }

    fn print_match_header(&mut self) {
        let Some(snapshot) = self.snapshot() else {
            return;
        };
        let title = view::match_title(snapshot, self.game_summary(&snapshot.game));
        let series = view::series_score(snapshot);
        let has_custom_position = snapshot.initial_position.is_some();
        self.print(title);
        if has_custom_position {
            self.print("It starts from a custom position.");
        }
        if let Some(series) = series {
            self.print(series);
        }
    }

    fn print_board(&mut self) {
        let Some(snapshot) = self.snapshot() else {
            return;
        };
        if self.options.is_board_visible {
            return;
        }
        let text = view::render_match(
            snapshot,
            self.game_summary(&snapshot.game),
            self.columns,
            self.elapsed_since_clock_update(),
        );
        self.print(text);
    }

    pub(super) fn print_turn(&mut self) {
        let Some(snapshot) = self.snapshot() else {
            return;
        };
        let text = match snapshot.status {
            MatchStatus::Open => "Waiting for an opponent …".to_owned(),
            // A spectator needs no message when it is a bot's turn. The board marks the turn, and
            // the bot moves soon.
            _ if snapshot.you.is_none() && is_bot_seat(snapshot, snapshot.turn) => String::new(),
            MatchStatus::Running | MatchStatus::Ended => view::turn_text(snapshot),
        };
        if !text.is_empty() && !self.options.is_board_visible {
            self.print(text);
        }
        self.print_input_example();
    }

    /// Returns the time since the last clock update from the server.
    pub(super) fn elapsed_since_clock_update(&self) -> Duration {
        let updated_at = self.match_state().map(|table| table.clock_updated_at);
        self.now.saturating_sub(updated_at.unwrap_or(self.now))
    }

    /// Prints an example of what to type. The example is printed only once, on the player's first
    /// turn.
    fn print_input_example(&mut self) {
        let Some(match_state) = self.match_state().filter(|table| table.is_my_turn()) else {
            return;
        };
        let snapshot = &match_state.snapshot;
        let legal_move = snapshot.legal.first().map_or("", String::as_str);
        let example = Conventions::for_game(&snapshot.game).example_move();
        let example = sanitize(example.unwrap_or(legal_move));
        if self.options.interactive && !std::mem::replace(&mut self.is_help_shown, true) {
            let text = format!("Type {example}; `help` for more.");
            self.print(paint(FAINT, &text));
        }
    }
}

fn is_bot_seat(snapshot: &Snapshot, seat: Option<SeatNumber>) -> bool {
    seat.and_then(|seat| snapshot.seats.get(seat.index()))
        .is_some_and(|state| matches!(state.occupant, Occupant::Bot { .. }))
}
