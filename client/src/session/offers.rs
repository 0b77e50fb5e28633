//! Commands for offers and other requests between the players of a match.

use plyhouse_protocol::{
    Challenge, ClientMessage, FollowedMatch, Hint, MatchId, MatchStatus, Offer, OfferKind, Ply,
    SeatNumber, Snapshot, Thinking,
};

use super::{PlaySession, REQUEST_PENDING_NOTICE};
use crate::sanitize::sanitize;
use crate::view::{self, FAINT, STRONG, format_utc_minute, paint};

/// Default number of seconds that the `more time` command adds to the opponent's clock.
const DEFAULT_GIVE_TIME_S: u64 = 15;

impl PlaySession {
    /// Executes an offer command. Returns false if `command` is not an offer command.
    pub(super) fn run_offer_command(&mut self, snapshot: &Snapshot, command: &str) -> bool {
        let mut words = command.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("draw"), None, _) => {
                self.send_offer(snapshot, Offer::Draw { ply: snapshot.ply });
            }
            (Some("takeback" | "undo"), None, _) => {
                let (ply, to_ply) = (snapshot.ply, None);
                self.send_offer(snapshot, Offer::Takeback { ply, to_ply });
            }
            (Some("takeback" | "undo"), Some(count @ ("1" | "2")), None) => {
                let count = if count == "1" { 1 } else { 2 };
                let to_ply = Some(Ply(snapshot.ply.0.saturating_sub(count)));
                let ply = snapshot.ply;
                self.send_offer(snapshot, Offer::Takeback { ply, to_ply });
            }
            (Some("rematch"), None, _) => self.offer_rematch(snapshot),
            (Some("decline"), None, _) => self.decline_latest(snapshot),
            (Some("abort"), None, _) => {
                let target = snapshot.match_id.into();
                self.send_player_request(snapshot, ClientMessage::Abort { target });
            }
            (Some("hint"), None, _) => {
                let (target, ply) = (snapshot.match_id.into(), snapshot.ply);
                self.send_player_request(snapshot, ClientMessage::Hint { target, ply });
            }
            (Some("leave"), None, _) => self.hand_seat_to_stand_in(snapshot),
            (Some("more"), Some("time"), None) => self.give_time(snapshot, DEFAULT_GIVE_TIME_S),
            (Some("more"), Some("time"), Some(seconds)) => match seconds.parse() {
                Ok(seconds) => self.give_time(snapshot, seconds),
                Err(_) => self
                    .print_error("Type `more time` with 5 to 60 seconds, such as `more time 30`."),
            },
            _ => return false,
        }
        true
    }

    /// Prints the requested hint, unless the position has changed.
    pub(super) fn on_hint(&mut self, hint: &Hint) {
        if hint.re.is_none() || hint.re != self.pending_request_id() {
            return;
        }
        self.pending_request = None;
        let Some(snapshot) = self.snapshot_at(hint.match_id, hint.ply) else {
            return;
        };
        let line = hint.san.as_ref().unwrap_or(&hint.pv);
        let best = paint(STRONG, &sanitize(line.first().unwrap_or(&hint.m)));
        // If the principal variation contains only the best move, it is omitted, because the best
        // move is printed anyway.
        let line = match line.len() {
            0 | 1 => String::new(),
            _ => format!(", line: {}", sanitize(&line.join(" "))),
        };
        let win = 100.0 * hint.evaluation.win_probability.get();
        let of = view::side_text(snapshot, SeatNumber(0));
        self.print(format!(
            "Best move: {best}{line}  (win chance of {of}: {win:.0}%)"
        ));
    }

    /// Prints the search progress of a bot, unless the position has changed.
    pub(super) fn on_thinking(&mut self, thinking: &Thinking) {
        let Some(snapshot) = self.snapshot_at(thinking.match_id, thinking.ply) else {
            return;
        };
        let line = sanitize(&thinking.san.as_ref().unwrap_or(&thinking.pv).join(" "));
        let win = 100.0 * thinking.evaluation.win_probability.get();
        let of = view::side_text(snapshot, SeatNumber(0));
        let (depth, nodes) = (thinking.depth, thinking.nodes);
        let text =
            format!("… depth {depth}, {nodes} nodes: {line}  (win chance of {of}: {win:.0}%)");
        self.print(paint(FAINT, &text));
    }

    /// Returns the snapshot of the current match, if it is this match at this ply.
    fn snapshot_at(&self, id: MatchId, ply: Ply) -> Option<&Snapshot> {
        let snapshot = self.snapshot();
        snapshot.filter(|now| (now.match_id, now.ply) == (id, ply))
    }

    /// Asks the server to let the stand-in bot take over the player's seat immediately. Prints an
    /// error if the match has no stand-in bot. If the match is still open, leaves it instead.
    fn hand_seat_to_stand_in(&mut self, snapshot: &Snapshot) {
        if snapshot.status == MatchStatus::Open {
            return self.leave_and_end();
        }
        if snapshot.stand_in.is_none() {
            return self.print_error(
                "This match has no stand-in bot; `quit` leaves and keeps your seat for a while.",
            );
        }
        let target = snapshot.match_id.into();
        self.send_player_request(snapshot, ClientMessage::Leave { target });
    }

    fn give_time(&mut self, snapshot: &Snapshot, seconds: u64) {
        let (target, ms) = (snapshot.match_id.into(), seconds.saturating_mul(1000));
        self.send_player_request(snapshot, ClientMessage::GiveTime { target, ms });
    }

    fn send_offer(&mut self, snapshot: &Snapshot, offer: Offer) {
        let target = snapshot.match_id.into();
        self.send_player_request(snapshot, ClientMessage::Offer { target, offer });
    }

    /// Sends a request that requires a seat in a running match. Prints an error if the request
    /// cannot be sent now.
    fn send_player_request(&mut self, snapshot: &Snapshot, message: ClientMessage) {
        let reason = match (snapshot.status, snapshot.you) {
            (_, None) => "You are only watching.",
            (MatchStatus::Open, _) => "The match has not started: a seat is still open.",
            (MatchStatus::Ended, _) => {
                "The match is over; type `rematch` to play again or `quit` to leave."
            }
            (MatchStatus::Running, _) if self.pending_request.is_some() => REQUEST_PENDING_NOTICE,
            (MatchStatus::Running, _) => return self.send_request(message),
        };
        self.print_error(reason);
    }

    /// Declines the opponent's offer, or withdraws the player's own offer. If there is no offer,
    /// declines the challenge that was received last.
    fn decline_latest(&mut self, snapshot: &Snapshot) {
        if self.pending_request.is_some() {
            return self.print_error(REQUEST_PENDING_NOTICE);
        }
        if let Some(offer) = self.offer_to_decline(snapshot) {
            let target = snapshot.match_id.into();
            return self.send_request(ClientMessage::Decline { target, offer });
        }
        let Some(challenge) = self.challenges.pop() else {
            return self.print_error("No offer to decline.");
        };
        self.send_request(ClientMessage::Decline {
            target: challenge.match_id.into(),
            offer: OfferKind::Challenge,
        });
    }

    /// Returns the offer that `decline` refers to. A rematch offer has the highest priority.
    /// Otherwise the opponent's newest offer has priority over the player's own newest offer.
    fn offer_to_decline(&self, snapshot: &Snapshot) -> Option<OfferKind> {
        let you = snapshot.you?;
        if let Some(rematch) = &snapshot.rematch {
            let theirs = rematch.offers.get(you.other().index()) == Some(&true);
            let own = rematch.offers.get(you.index()) == Some(&true);
            if theirs || own {
                return Some(OfferKind::Rematch);
            }
        }
        let latest = |is_own: bool| {
            let mut offers = snapshot.offers.iter().rev();
            offers.find(|offer| (offer.seat == you) == is_own)
        };
        let offer = latest(false).or_else(|| latest(true));
        offer.map(|offer| offer.offer)
    }

    /// Prints a challenge that the player has received, and adds it to the list of challenges.
    pub(super) fn on_challenge(&mut self, challenge: Challenge) {
        let game = self.game_summary(&challenge.game);
        let title = sanitize(game.map_or(&challenge.game, |game| &game.title));
        let clock = challenge.clock.map(|clock| clock.to_notation());
        let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
        let from = sanitize(&challenge.challenger.name);
        let command = paint(STRONG, &self.join_command(&challenge.code));
        self.print(format!(
            "{from} challenges you to {title}{clock}: {command}"
        ));
        self.challenges.push(challenge);
    }

    /// Prints a message saying that it is the player's turn in another match.
    pub(super) fn on_your_turn(&mut self, id: MatchId, game: &str, deadline_ms: u64) {
        let title = sanitize(self.game_summary(game).map_or(game, |game| &game.title));
        let until = format_utc_minute(deadline_ms);
        let command = paint(STRONG, &self.join_command(&id.to_string()));
        self.print(format!(
            "It is your turn in another {title} match, until {until}: {command}"
        ));
    }

    /// Prints the side to move and the deadline of a correspondence match.
    pub(super) fn print_correspondence_match(&mut self, row: &FollowedMatch) {
        let Some(correspondence) = &row.correspondence else {
            return;
        };
        let what = match (correspondence.turn, row.you) {
            (None, _) => "A correspondence game is waiting for an opponent",
            (Some(turn), Some(you)) if turn == you => "It is your turn in a correspondence game",
            (Some(_), Some(_)) => "It is your opponent's turn in a correspondence game",
            (Some(_), None) => "A correspondence game is in progress",
        };
        let until = match correspondence.deadline_ms {
            Some(due_ms) => format!(", until {}", format_utc_minute(due_ms)),
            None => String::new(),
        };
        let command = paint(STRONG, &self.join_command(&row.match_id.to_string()));
        self.print(format!("{what}{until}: {command}"));
    }

    /// Returns whether a bot replaces this player in the match.
    pub(super) fn has_stand_in(&self, snapshot: &Snapshot) -> bool {
        let welcome = self.welcome.as_ref();
        welcome.is_some_and(|welcome| view::has_stand_in(snapshot, welcome.player.id))
    }

    /// Prints each match where a bot replaces the player, with the command to rejoin it.
    pub(super) fn print_stand_in_matches(&mut self) {
        let own_matches = self.own_matches.iter();
        let stand_in_matches = own_matches.filter(|mine| self.has_stand_in(mine));
        let texts = stand_in_matches.map(|snapshot| {
            let name = view::headline(snapshot, self.game_summary(&snapshot.game));
            let command = paint(STRONG, &self.join_command(&snapshot.code));
            format!("A bot is playing for you in {name}. To rejoin: {command}")
        });
        let texts: Vec<String> = texts.collect();
        texts.into_iter().for_each(|text| self.print(text));
    }
}
