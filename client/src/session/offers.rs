//! What the players of a match may offer each other, by the words that are typed.

use plyhouse_protocol::{
    Challenge, ClientMessage, FollowedMatch, Hint, MatchId, MatchStatus, Offer, OfferKind, Ply,
    SeatNumber, Snapshot, Thinking,
};

use super::PlaySession;
use crate::clock::clock_text;
use crate::harmless::sanitize;
use crate::view::{self, FAINT, STRONG, format_utc_minute, paint};

/// How much time `more time` gives, in seconds.
const GIVEN_S: u64 = 15;

impl PlaySession {
    /// Does what the word says, if it is one of these.
    pub(super) fn offer_word(&mut self, now: &Snapshot, word: &str) -> bool {
        let mut words = word.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("draw"), None, _) => {
                self.offer(now, Offer::Draw { ply: now.ply });
            }
            (Some("takeback" | "undo"), None, _) => {
                let (ply, to_ply) = (now.ply, None);
                self.offer(now, Offer::Takeback { ply, to_ply });
            }
            (Some("takeback" | "undo"), Some(count @ ("1" | "2")), None) => {
                let count = if count == "1" { 1 } else { 2 };
                let to_ply = Some(Ply(now.ply.0.saturating_sub(count)));
                self.offer(
                    now,
                    Offer::Takeback {
                        ply: now.ply,
                        to_ply,
                    },
                );
            }
            (Some("rematch"), None, _) => self.want_rematch(now),
            (Some("decline"), None, _) => self.decline(now),
            (Some("abort"), None, _) => {
                let target = now.match_id.into();
                self.ask_at_table(now, ClientMessage::Abort { target });
            }
            (Some("hint"), None, _) => {
                let (target, ply) = (now.match_id.into(), now.ply);
                self.ask_at_table(now, ClientMessage::Hint { target, ply });
            }
            (Some("leave"), None, _) => self.hand_over(now),
            (Some("more"), Some("time"), None) => self.give_time(now, GIVEN_S),
            (Some("more"), Some("time"), Some(seconds)) => match seconds.parse() {
                Ok(seconds) => self.give_time(now, seconds),
                Err(_) => {
                    self.print_error("`more time 30` gives 30 seconds; 5 to 60 can be given.")
                }
            },
            _ => return false,
        }
        true
    }

    /// Shows the best move, if it is still the one that was asked for.
    pub(super) fn hinted(&mut self, hint: &Hint) {
        if hint.re.is_none() || hint.re != self.pending_request_id() {
            return;
        }
        self.pending_request = None;
        let Some(table) = self.match_state() else {
            return;
        };
        if (table.snapshot.match_id, table.snapshot.ply) != (hint.match_id, hint.ply) {
            return;
        }
        let line = hint.san.as_ref().unwrap_or(&hint.pv);
        let best = paint(STRONG, &sanitize(line.first().unwrap_or(&hint.m)));
        // A line of the move alone would say nothing more.
        let line = match line.len() {
            0 | 1 => String::new(),
            _ => format!(": {}", sanitize(&line.join(" "))),
        };
        let win = 100.0 * hint.evaluation.win_probability.get();
        let of = view::side_text(&table.snapshot, SeatNumber(0));
        self.print(format!("Best is {best}{line}  ({of} wins {win:.0}%)"));
    }

    /// Shows what a bot thinks.
    pub(super) fn thinks(&mut self, thought: &Thinking) {
        let Some(table) = self.match_state() else {
            return;
        };
        if (table.snapshot.match_id, table.snapshot.ply) != (thought.match_id, thought.ply) {
            return;
        }
        let line = sanitize(&thought.san.as_ref().unwrap_or(&thought.pv).join(" "));
        let win = 100.0 * thought.evaluation.win_probability.get();
        let of = view::side_text(&table.snapshot, SeatNumber(0));
        let (depth, nodes) = (thought.depth, thought.nodes);
        let text = format!("… {depth} ahead, {nodes} positions: {line}  ({of} wins {win:.0}%)");
        self.print(paint(FAINT, &text));
    }

    /// Leaves the seat to the stand-in at once. Without one the seat is only held.
    fn hand_over(&mut self, now: &Snapshot) {
        if now.status == MatchStatus::Open {
            return self.farewell();
        }
        if now.stand_in.is_none() {
            return self
                .print_error("No bot stands in here; `quit` leaves, and your seat is held.");
        }
        let target = now.match_id.into();
        self.ask_at_table(now, ClientMessage::Leave { target });
    }

    fn give_time(&mut self, now: &Snapshot, seconds: u64) {
        let (target, ms) = (now.match_id.into(), seconds.saturating_mul(1000));
        self.ask_at_table(now, ClientMessage::GiveTime { target, ms });
    }

    fn offer(&mut self, now: &Snapshot, offer: Offer) {
        let target = now.match_id.into();
        self.ask_at_table(now, ClientMessage::Offer { target, offer });
    }

    /// Asks for what only a player of a running match may.
    fn ask_at_table(&mut self, now: &Snapshot, message: ClientMessage) {
        let reason = match (now.status, now.you) {
            (_, None) => "You only look on.",
            (MatchStatus::Open, _) => "The match has not begun: a seat is still open.",
            (MatchStatus::Ended, _) => "The match is over; `rematch` plays again, `quit` leaves.",
            (MatchStatus::Running, _) if self.pending_request.is_some() => "One moment …",
            (MatchStatus::Running, _) => return self.send_request(message),
        };
        self.print_error(reason);
    }

    /// Declines what the other offers, or else a challenge, or else withdraws one's own.
    fn decline(&mut self, now: &Snapshot) {
        if self.pending_request.is_some() {
            return self.print_error("One moment …");
        }
        if let Some(offer) = self.to_decline(now) {
            let target = now.match_id.into();
            return self.send_request(ClientMessage::Decline { target, offer });
        }
        let Some(challenge) = self.challenges.pop() else {
            return self.print_error("Nothing is offered.");
        };
        self.send_request(ClientMessage::Decline {
            target: challenge.match_id.into(),
            offer: OfferKind::Challenge,
        });
    }

    /// The offer that `decline` means: the latest of the other's, or else of one's own.
    fn to_decline(&self, now: &Snapshot) -> Option<OfferKind> {
        let you = now.you?;
        if let Some(rematch) = &now.rematch {
            let theirs = rematch.offers.get(you.other().index()) == Some(&true);
            let own = rematch.offers.get(you.index()) == Some(&true);
            if theirs || own {
                return Some(OfferKind::Rematch);
            }
        }
        let latest = |is_own: bool| {
            let mut offers = now.offers.iter().rev();
            offers.find(|offer| (offer.seat == you) == is_own)
        };
        let offer = latest(false).or_else(|| latest(true));
        offer.map(|offer| offer.offer)
    }

    /// Takes in that somebody wants to play the player.
    pub(super) fn challenged(&mut self, challenge: Challenge) {
        let game = self.game_summary(&challenge.game);
        let title = sanitize(game.map_or(&challenge.game, |game| &game.title));
        let clock = challenge.clock.as_ref().map(clock_text);
        let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
        let from = sanitize(&challenge.challenger.name);
        let command = format!(
            "ply join {}{}",
            sanitize(&challenge.code),
            self.server_option
        );
        let command = paint(STRONG, &command);
        self.print(format!(
            "{from} wants to play {title}{clock} with you: {command}"
        ));
        self.challenges.push(challenge);
    }

    /// Takes in that it is the player's turn elsewhere.
    pub(super) fn your_turn(&mut self, id: MatchId, game: &str, due_ms: u64) {
        let title = sanitize(self.game_summary(game).map_or(game, |game| &game.title));
        let (until, command) = (format_utc_minute(due_ms), self.go_to(id));
        self.print(format!(
            "It is your turn in another match of {title}, until {until}: {command}"
        ));
    }

    /// Tells of a match of days that the player has, whose turn it is and until when.
    pub(super) fn plays_over_days(&mut self, row: &FollowedMatch) {
        let Some(days) = &row.correspondence else {
            return;
        };
        let what = match (days.turn, row.you) {
            (None, _) => "A match of days waits for somebody",
            (Some(turn), Some(you)) if turn == you => "It is your turn in a match of days",
            (Some(_), Some(_)) => "It is the other's turn in a match of days",
            (Some(_), None) => "A match of days is played",
        };
        let until = days
            .deadline_ms
            .map(|due_ms| format!(", until {}", format_utc_minute(due_ms)));
        let (until, command) = (until.unwrap_or_default(), self.go_to(row.match_id));
        self.print(format!("{what}{until}: {command}"));
    }

    /// The command by which a match is gone to.
    fn go_to(&self, id: MatchId) -> String {
        paint(STRONG, &format!("ply join {id}{}", self.server_option))
    }

    /// Whether a bot keeps a seat of the match for this player.
    pub(super) fn is_stood_in(&self, now: &Snapshot) -> bool {
        let welcome = self.welcome.as_ref();
        welcome.is_some_and(|welcome| view::has_stand_in(now, welcome.player.id))
    }

    /// Tells of the matches in which a bot plays on for the player, and how one comes back.
    pub(super) fn say_stood_in(&mut self) {
        let stood_in = self
            .own_matches
            .iter()
            .filter(|mine| self.is_stood_in(mine));
        let texts: Vec<String> = stood_in
            .map(|now| {
                let name = view::headline(now, self.game_summary(&now.game));
                let command = format!("ply join {}{}", sanitize(&now.code), self.server_option);
                format!(
                    "A bot plays on for you in {name}. Come back with {}",
                    paint(STRONG, &command)
                )
            })
            .collect();
        texts.into_iter().for_each(|text| self.print(text));
    }
}
