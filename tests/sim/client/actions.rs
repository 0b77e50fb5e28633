//! Selection of a client's next action.

use std::time::Duration;

use plyhouse_protocol::{
    ChatContent, ChatPreset, ClientMessage, ClockControl, CreateRequest, LeaderboardRequest,
    MatchId, MatchStatus, Ply, SeatFill, SeatNumber, SeatRequest, SeekRequest, Seq,
    SpectatorAccess,
};

use super::{Client, Role};
use crate::fault_plan::{CORRESPONDENCE_MOVE_TIME, as_ms};
use crate::match_view::MatchView;
use crate::world::{CUSTOM_POSITIONS, GAMES};

#[derive(Debug)]
pub(super) enum ClientAction {
    Request(ClientMessage),
    /// Sends a request twice without waiting for the first reply.
    RequestTwice(ClientMessage),
    /// Sends nothing and receives messages for the given time.
    Idle(Duration),
    /// Drops the connection without a close handshake.
    DropConnection,
    /// Opens a new connection while the current one stays open.
    OpenSecondConnection,
    CloseConnection,
}

/// Status filters of watched match lists. Half of the lists have no filter.
const LIST_STATUSES: [Option<MatchStatus>; 4] = [
    None,
    None,
    Some(MatchStatus::Open),
    Some(MatchStatus::Running),
];

/// Search nodes per position in a requested analysis. This is the minimum that a request may
/// specify.
const ANALYSIS_NODES: u64 = 100;

/// Clients request hints only in this game. The search of this game finishes at once, so the hint
/// does not depend on the speed of the machine.
const HINT_GAME: &str = "tic-tac-toe";

/// Maximum number of live matches that a client plays at the same time.
const OWN_MATCHES_MAX: usize = 2;

impl Client {
    pub(super) fn choose_action(&mut self) -> ClientAction {
        if let Some(request) = self.unanswered_request.take()
            && self.rng.chance(85)
        {
            return ClientAction::Request(request);
        }
        if let Some(action) = self.respond_to_offer() {
            return action;
        }
        if std::mem::take(&mut self.needs_list_snapshot)
            && let Some(request) = self.watched_list_request()
        {
            return ClientAction::Request(request);
        }
        if std::mem::take(&mut self.has_idled) {
            return self.request_takeback_after_idle();
        }
        match self.rng.between(0..=99) {
            0..=1 => ClientAction::DropConnection,
            2 => ClientAction::OpenSecondConnection,
            3 => ClientAction::CloseConnection,
            4..=6 => self.resend_accepted_move(),
            7..=14 => self.browse_matches(),
            15..=18 => self.move_out_of_turn(),
            19..=21 => self.resign(),
            22..=24 => self.change_seat(),
            25..=36 => self.choose_offer(),
            37..=41 => {
                self.has_idled = true;
                ClientAction::Idle(self.rng.duration_ms(200..=1300))
            }
            42..=43 => self.chat_or_block(),
            44 => self.browse_ratings(),
            _ => match self.role {
                Role::Player => self.move_or_find_match(),
                Role::Spectator => self.browse_matches(),
            },
        }
    }

    pub(super) fn pick_view(&mut self, fits: impl Fn(&MatchView) -> bool) -> Option<MatchView> {
        let fitting: Vec<&MatchView> = self.views.values().filter(|view| fits(view)).collect();
        self.rng.pick(&fitting).map(|view| (*view).clone())
    }

    fn pick_match(&mut self) -> Option<MatchId> {
        let known_matches = self.context.known_matches.borrow();
        self.rng.pick(&known_matches).copied()
    }

    /// Plays a move if it is the client's turn in a match. Otherwise watches, joins, creates or
    /// seeks a match, or sends a ping.
    fn move_or_find_match(&mut self) -> ClientAction {
        if let Some(view) = self.pick_view(MatchView::is_my_turn) {
            return self.play_move(&view);
        }
        if self.rng.chance(30)
            && let Some(id) = self.correspondence_turns.pop()
        {
            let target = id.into();
            return ClientAction::Request(ClientMessage::Watch { target });
        }
        let is_mine = |view: &&MatchView| view.is_live() && view.your_seat.is_some();
        let mine = self.views.values().filter(is_mine).count();
        if mine >= OWN_MATCHES_MAX || (mine > 0 && self.rng.chance(70)) {
            return ClientAction::Request(ClientMessage::Ping);
        }
        if let Some(action) = self.respond_to_challenge() {
            return action;
        }
        let replaced_in = self.pick_view(|view| view.is_live() && view.has_stand_in);
        let replaced_in = replaced_in.map(|view| view.id);
        let other_match = self.pick_match().filter(|_| self.rng.chance(65));
        ClientAction::Request(match replaced_in.or(other_match) {
            Some(id) => ClientMessage::Join {
                target: id.into(),
                seat: None,
            },
            None if self.rng.chance(25) => self.seek_request(),
            None => self.create_request(),
        })
    }

    fn pick_game(&mut self) -> String {
        (*self.rng.pick(&GAMES).expect("GAMES is not empty")).to_owned()
    }

    /// Picks a clock or no clock. Any of the clocks may run out during the run.
    fn pick_clock(&mut self) -> Option<ClockControl> {
        let small_ms = self.rng.between(0..=6) * 50;
        Some(match self.rng.between(0..=14) {
            0..=2 => ClockControl::Fischer {
                main_ms: 1000,
                increment_ms: small_ms,
            },
            3 => ClockControl::Fischer {
                main_ms: 0,
                increment_ms: small_ms + 1,
            },
            4..=5 => ClockControl::Delay {
                main_ms: 1000,
                delay_ms: 500,
            },
            6..=7 => ClockControl::ByoYomi {
                main_ms: small_ms,
                period_ms: 1000,
                periods: self.rng.between(1..=3),
            },
            8 => ClockControl::Move { move_ms: 5000 },
            9..=11 => ClockControl::Move {
                move_ms: as_ms(CORRESPONDENCE_MOVE_TIME),
            },
            _ => return None,
        })
    }

    fn pick_stand_in(&mut self) -> Option<String> {
        self.rng.chance(40).then(|| "beginner".to_owned())
    }

    /// Picks whether a match is rated. Guests sometimes request a rated match too, and the server
    /// refuses.
    fn pick_rated(&mut self) -> bool {
        self.rng.chance(if self.has_account { 30 } else { 2 })
    }

    fn seek_request(&mut self) -> ClientMessage {
        let rated = self.pick_rated();
        let bot = self.rng.chance(50).then(|| "easy".to_owned());
        let seek = SeekRequest {
            game: self.pick_game(),
            bot: bot.filter(|_| !rated),
            bot_after_ms: Some(300),
            clock: self.pick_clock(),
            stand_in: self.pick_stand_in().filter(|_| !rated),
            rated: rated.then_some(true),
            rating_range: (rated && self.rng.chance(30)).then_some([-100, 100]),
        };
        ClientMessage::Seek(Box::new(seek))
    }

    /// Picks who may watch a match. `None` selects the server's default.
    fn pick_spectator_access(&mut self) -> Option<SpectatorAccess> {
        match self.rng.between(0..=19) {
            0..=2 => Some(SpectatorAccess::Nobody),
            3 => Some(SpectatorAccess::Code),
            4 => Some(SpectatorAccess::Anyone),
            _ => None,
        }
    }

    /// Picks a spectator delay with the given probability. Correspondence matches have no delay.
    fn pick_spectator_delay_ms(
        &mut self,
        clock: Option<ClockControl>,
        percent: u64,
    ) -> Option<u64> {
        let allows_delay = clock.is_none_or(|clock| !clock.is_correspondence());
        let delay_ms = self.rng.between(1..=15) * 100;
        (allows_delay && self.rng.chance(percent)).then_some(delay_ms)
    }

    /// Requests the profile of a player or a leaderboard.
    fn browse_ratings(&mut self) -> ClientAction {
        let known_players = self.context.known_players.borrow().clone();
        let player = self.rng.pick(&known_players).map(ToString::to_string);
        ClientAction::Request(match player.filter(|_| self.rng.chance(60)) {
            Some(player) => ClientMessage::Profile {
                name: None,
                player: Some(player),
            },
            None => ClientMessage::Leaderboard(Box::new(LeaderboardRequest {
                game: self.pick_game(),
                pool: None,
                limit: None,
                after: None,
            })),
        })
    }

    /// Returns a request that creates a rated match. Rated matches require a clock.
    fn create_rated_request(&mut self) -> ClientMessage {
        let main_ms = 1000 * self.rng.between(1..=4);
        let clock = ClockControl::Fischer {
            main_ms,
            increment_ms: 100,
        };
        let clock = Some(self.pick_clock().unwrap_or(clock));
        ClientMessage::Create(Box::new(CreateRequest {
            game: self.pick_game(),
            shuffle: Some(self.rng.chance(50)),
            clock,
            spectator_delay_ms: self.pick_spectator_delay_ms(clock, 50),
            rated: Some(true),
            ..CreateRequest::default()
        }))
    }

    fn create_request(&mut self) -> ClientMessage {
        if self.pick_rated() {
            return self.create_rated_request();
        }
        let known_players = self.context.known_players.borrow().clone();
        let other = self
            .rng
            .pick(&known_players)
            .filter(|other| Some(**other) != self.player_id);
        let invited = other.filter(|_| self.rng.chance(15));
        let bot = || SeatRequest::Bot("easy".to_owned());
        let seats = match self.rng.between(0..=9) {
            _ if invited.is_some() => None,
            0..=5 => None,
            6 => Some([SeatRequest::Open, SeatRequest::Open]),
            7 => Some([SeatRequest::Me, bot()]),
            8 => Some([bot(), SeatRequest::Me]),
            _ => Some([bot(), bot()]),
        };
        let clock = self.pick_clock();
        let game = self.pick_game();
        let start = self.rng.pick(&CUSTOM_POSITIONS).copied();
        let start = start.filter(|(of, _)| *of == game && self.rng.chance(50));
        ClientMessage::Create(Box::new(CreateRequest {
            game,
            position: start.map(|(_, position)| position.to_owned()),
            seats,
            shuffle: Some(self.rng.chance(50)),
            bot_delay_ms: Some(self.rng.between(0..=100)),
            clock,
            spectator_access: self.pick_spectator_access(),
            spectator_delay_ms: self.pick_spectator_delay_ms(clock, 25),
            stand_in: self.pick_stand_in(),
            shows_bot_thinking: self.rng.chance(40).then_some(true),
            takebacks_allowed: self.rng.chance(10).then_some(false),
            invited: invited.map(ToString::to_string),
            ..CreateRequest::default()
        }))
    }

    /// Plays a move or requests a hint. Most moves are legal and carry the current ply.
    fn play_move(&mut self, view: &MatchView) -> ClientAction {
        let mut ply = view.ply;
        let mut m = self
            .rng
            .pick(&view.legal_moves)
            .cloned()
            .unwrap_or_default();
        match self.rng.between(0..=99) {
            0..=3 => ply = Ply(ply.0 + 1),
            4..=7 => ply = Ply(ply.0.saturating_sub(1)),
            8..=10 => m = view.last_move.clone().unwrap_or(m),
            11 => m = "z9".to_owned(),
            12..=15 => m = format!(" {} ", m.to_ascii_uppercase()),
            _ => {}
        }
        let target = view.id.into();
        if view.game == HINT_GAME && self.rng.chance(10) {
            return ClientAction::Request(ClientMessage::Hint { target, ply });
        }
        let message = ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: self.rng.chance(70).then_some(view.takebacks),
        };
        if self.rng.chance(10) {
            ClientAction::RequestTwice(message)
        } else {
            ClientAction::Request(message)
        }
    }

    /// Repeats a move that the server has accepted.
    fn resend_accepted_move(&mut self) -> ClientAction {
        let accepted_move = self.rng.pick(&self.accepted_moves).cloned();
        ClientAction::Request(accepted_move.unwrap_or(ClientMessage::Ping))
    }

    /// Sends a chat message, or blocks or unblocks a player.
    fn chat_or_block(&mut self) -> ClientAction {
        if self.rng.chance(40) {
            let known_players = self.context.known_players.borrow().clone();
            let other = self.rng.pick(&known_players).copied();
            // Half of the requests end a block instead of starting one. A client that had blocked
            // all other clients would stop playing.
            let is_enabled = self.rng.chance(50);
            return ClientAction::Request(ClientMessage::Block {
                player: other.map(|other| other.to_string()),
                enabled: Some(is_enabled),
            });
        }
        let preset = self.rng.pick(ChatPreset::ALL).copied();
        match (self.pick_view(|_| true), preset) {
            (Some(view), Some(preset)) => ClientAction::Request(ClientMessage::Say {
                target: view.id.into(),
                content: ChatContent::Preset(preset),
            }),
            _ => ClientAction::Request(ClientMessage::Ping),
        }
    }

    fn browse_matches(&mut self) -> ClientAction {
        let Some(id) = self.pick_match() else {
            return ClientAction::Request(ClientMessage::Ping);
        };
        let known_seq = self.views.get(&id).map_or(Seq(0), |view| view.seq);
        let target = id.into();
        let by_code = self.rng.chance(10);
        let match_ref = self.views.get(&id).map(|view| view.match_ref(by_code));
        let ended = self.pick_view(|view| view.status == MatchStatus::Ended);
        ClientAction::Request(match self.rng.between(0..=12) {
            0..=3 => ClientMessage::Watch {
                target: match_ref.unwrap_or(target),
            },
            4..=5 => ClientMessage::Resync {
                target,
                since: known_seq,
            },
            6..=7 => ClientMessage::Resync {
                target,
                since: Seq(self.rng.between(0..=known_seq.0 + 1)),
            },
            8 => self.watched_list_request().unwrap_or(ClientMessage::List {
                game: None,
                status: None,
                limit: None,
                after: None,
                seekers: Some(true),
            }),
            9 => ClientMessage::WatchList {
                game: self.rng.chance(30).then(|| self.pick_game()),
                status: self.rng.pick(&LIST_STATUSES).copied().flatten(),
                seekers: Some(true),
            },
            10 => ClientMessage::UnwatchList,
            11 => ClientMessage::Analyse {
                target: ended.map_or(target, |view| view.id.into()),
                nodes: Some(ANALYSIS_NODES),
            },
            _ => ClientMessage::Leave { target },
        })
    }

    /// Plays a move out of turn or without a seat.
    fn move_out_of_turn(&mut self) -> ClientAction {
        let is_out_of_turn =
            |view: &MatchView| view.status == MatchStatus::Running && !view.is_my_turn();
        let Some(view) = self.pick_view(is_out_of_turn) else {
            return ClientAction::Request(ClientMessage::Ping);
        };
        let m = self
            .rng
            .pick(&view.legal_moves)
            .cloned()
            .unwrap_or_default();
        let (target, ply) = (view.id.into(), view.ply);
        ClientAction::Request(ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: None,
        })
    }

    /// Resigns. Sometimes picks a match in which the client has no seat, so that the server must
    /// refuse the request.
    fn resign(&mut self) -> ClientAction {
        let is_own_match = self.rng.chance(70);
        let fits = |view: &MatchView| view.is_live() && (view.your_seat.is_some() == is_own_match);
        match self.pick_view(fits) {
            Some(view) => ClientAction::Request(ClientMessage::Resign {
                target: view.id.into(),
            }),
            None => ClientAction::Request(ClientMessage::Ping),
        }
    }

    /// Puts a bot into a seat of a match that the client hosts, or opens the seat.
    fn change_seat(&mut self) -> ClientAction {
        let is_hosting = |view: &MatchView| view.is_host && view.status == MatchStatus::Open;
        let Some(view) = self.pick_view(is_hosting) else {
            return ClientAction::Request(ClientMessage::CancelSeek);
        };
        let occupant = if self.rng.chance(70) {
            SeatFill::Bot("beginner".to_owned())
        } else {
            SeatFill::Open
        };
        ClientAction::Request(ClientMessage::Seat {
            target: view.id.into(),
            seat: SeatNumber(u8::from(self.rng.chance(50))),
            occupant,
        })
    }
}
