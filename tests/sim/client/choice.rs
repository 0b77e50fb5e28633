//! What somebody does next.

use std::time::Duration;

use plyhouse_protocol::{
    ChatContent, ChatPreset, ClientMessage, ClockControl, CreateRequest, LeaderboardRequest,
    MatchId, MatchStatus, Ply, SeatFill, SeatNumber, SeatRequest, SeekRequest, Seq,
    SpectatorAccess,
};

use super::{Client, Role};
use crate::plan::{DAYS_MOVE, as_ms};
use crate::view::View;
use crate::world::{GAMES, STARTS};

/// What somebody does next.
#[derive(Debug)]
pub(super) enum ClientAction {
    Ask(ClientMessage),
    /// Does not wait for the answer before asking the same again.
    AskTwice(ClientMessage),
    /// Does nothing for so long but listen.
    Ponder(Duration),
    /// Hangs up without a word.
    Vanish,
    /// Connects anew while the connection still stands.
    Overlap,
    Goodbye,
}

/// The stages of which lists are watched.
const STAGES: [Option<MatchStatus>; 4] = [
    None,
    None,
    Some(MatchStatus::Open),
    Some(MatchStatus::Running),
];

/// How many positions are visited to value one of a match that is looked at: the fewest.
const NODES: u64 = 100;

/// The game in which a hint is found at once, so that it does not depend on the machine.
const QUICK: &str = "tic-tac-toe";

/// How many live matches somebody wants to be in.
const ENOUGH: usize = 2;

impl Client {
    pub(super) fn choose(&mut self) -> ClientAction {
        if let Some(doubtful) = self.doubtful.take()
            && self.dice.percent(85)
        {
            return ClientAction::Ask(doubtful);
        }
        if let Some(answer) = self.answer_offer() {
            return answer;
        }
        if std::mem::take(&mut self.wants_list)
            && let Some(list) = self.list()
        {
            return ClientAction::Ask(list);
        }
        if std::mem::take(&mut self.has_pondered) {
            return self.regret();
        }
        match self.dice.between(0..=99) {
            0..=1 => ClientAction::Vanish,
            2 => ClientAction::Overlap,
            3 => ClientAction::Goodbye,
            4..=6 => self.repeat(),
            7..=14 => self.look_around(),
            15..=18 => self.trespass(),
            19..=21 => self.give_up(),
            22..=24 => self.reseat(),
            25..=36 => self.negotiate(),
            37..=41 => {
                self.has_pondered = true;
                ClientAction::Ponder(self.dice.ms(200..=1300))
            }
            42..=43 => self.talk(),
            44 => self.compare(),
            _ => match self.role {
                Role::Player => self.play(),
                Role::Watcher => self.look_around(),
            },
        }
    }

    pub(super) fn some_view(&mut self, fits: impl Fn(&View) -> bool) -> Option<View> {
        let fitting: Vec<&View> = self.views.values().filter(|view| fits(view)).collect();
        self.dice.pick(&fitting).map(|view| (*view).clone())
    }

    fn some_match(&mut self) -> Option<MatchId> {
        let board = self.base.board.borrow();
        self.dice.pick(&board).copied()
    }

    /// Moves where it is one's turn; else finds somebody to play, or waits.
    fn play(&mut self) -> ClientAction {
        if let Some(view) = self.some_view(View::is_my_turn) {
            return self.play_in(&view);
        }
        if self.dice.percent(30)
            && let Some(id) = self.turns.pop()
        {
            let target = id.into();
            return ClientAction::Ask(ClientMessage::Watch { target });
        }
        let is_mine = |view: &&View| view.is_live() && view.you.is_some();
        let mine = self.views.values().filter(is_mine).count();
        if mine >= ENOUGH || (mine > 0 && self.dice.percent(70)) {
            return ClientAction::Ask(ClientMessage::Ping);
        }
        if let Some(answer) = self.answer_challenge() {
            return answer;
        }
        let left = self.some_view(|view| view.is_live() && view.is_stood_in);
        let left = left.map(|view| view.id);
        let open = self.some_match().filter(|_| self.dice.percent(65));
        ClientAction::Ask(match left.or(open) {
            Some(id) => ClientMessage::Join {
                target: id.into(),
                seat: None,
            },
            None if self.dice.percent(25) => self.seek(),
            None => self.create(),
        })
    }

    fn game(&mut self) -> String {
        (*self.dice.pick(&GAMES).expect("there are some")).to_owned()
    }

    /// A clock that may well run out within the life of a world, or none.
    fn clock(&mut self) -> Option<ClockControl> {
        let little = self.dice.between(0..=6) * 50;
        Some(match self.dice.between(0..=14) {
            0..=2 => ClockControl::Fischer {
                main_ms: 1000,
                increment_ms: little,
            },
            3 => ClockControl::Fischer {
                main_ms: 0,
                increment_ms: little + 1,
            },
            4..=5 => ClockControl::Delay {
                main_ms: 1000,
                delay_ms: 500,
            },
            6..=7 => ClockControl::ByoYomi {
                main_ms: little,
                period_ms: 1000,
                periods: self.dice.between(1..=3),
            },
            8 => ClockControl::Move { move_ms: 5000 },
            9..=11 => ClockControl::Move {
                move_ms: as_ms(DAYS_MOVE),
            },
            _ => return None,
        })
    }

    fn stand_in(&mut self) -> Option<String> {
        self.dice.percent(40).then(|| "beginner".to_owned())
    }

    /// Whether a match is to be rated. Guests ask for that now and then, and are turned down.
    fn rates(&mut self) -> bool {
        self.dice.percent(if self.has_account { 30 } else { 2 })
    }

    fn seek(&mut self) -> ClientMessage {
        let rated = self.rates();
        let bot = self.dice.percent(50).then(|| "easy".to_owned());
        let seek = SeekRequest {
            game: self.game(),
            bot: bot.filter(|_| !rated),
            bot_after_ms: Some(300),
            clock: self.clock(),
            stand_in: self.stand_in().filter(|_| !rated),
            rated: rated.then_some(true),
            rating_range: (rated && self.dice.percent(30)).then_some([-100, 100]),
        };
        ClientMessage::Seek(Box::new(seek))
    }

    /// Who may watch a match, if that is said.
    fn watch(&mut self) -> Option<SpectatorAccess> {
        match self.dice.between(0..=19) {
            0..=2 => Some(SpectatorAccess::Nobody),
            3 => Some(SpectatorAccess::Code),
            4 => Some(SpectatorAccess::Anyone),
            _ => None,
        }
    }

    /// How much later strangers see a match with this clock, if they do: so many of a hundred.
    fn delay_ms(&mut self, clock: Option<ClockControl>, percent: u64) -> Option<u64> {
        let may = clock.is_none_or(|clock| !clock.is_correspondence());
        let delay_ms = self.dice.between(1..=15) * 100;
        (may && self.dice.percent(percent)).then_some(delay_ms)
    }

    /// Looks at how well people play, and at who plays best.
    fn compare(&mut self) -> ClientAction {
        let people = self.base.people.borrow().clone();
        let player = self.dice.pick(&people).map(ToString::to_string);
        ClientAction::Ask(match player.filter(|_| self.dice.percent(60)) {
            Some(player) => ClientMessage::Profile {
                name: None,
                player: Some(player),
            },
            None => ClientMessage::Leaderboard(Box::new(LeaderboardRequest {
                game: self.game(),
                pool: None,
                limit: None,
                after: None,
            })),
        })
    }

    /// A match for ratings, with the clock that it needs.
    fn create_rated(&mut self) -> ClientMessage {
        let main_ms = 1000 * self.dice.between(1..=4);
        let clock = ClockControl::Fischer {
            main_ms,
            increment_ms: 100,
        };
        let clock = Some(self.clock().unwrap_or(clock));
        ClientMessage::Create(Box::new(CreateRequest {
            game: self.game(),
            shuffle: Some(self.dice.percent(50)),
            clock,
            spectator_delay_ms: self.delay_ms(clock, 50),
            rated: Some(true),
            ..CreateRequest::default()
        }))
    }

    fn create(&mut self) -> ClientMessage {
        if self.rates() {
            return self.create_rated();
        }
        let people = self.base.people.borrow().clone();
        let other = self
            .dice
            .pick(&people)
            .filter(|other| Some(**other) != self.me);
        let invited = other.filter(|_| self.dice.percent(15));
        let bot = || SeatRequest::Bot("easy".to_owned());
        let seats = match self.dice.between(0..=9) {
            _ if invited.is_some() => None,
            0..=5 => None,
            6 => Some([SeatRequest::Open, SeatRequest::Open]),
            7 => Some([SeatRequest::Me, bot()]),
            8 => Some([bot(), SeatRequest::Me]),
            _ => Some([bot(), bot()]),
        };
        let clock = self.clock();
        let game = self.game();
        let start = self.dice.pick(&STARTS).copied();
        let start = start.filter(|(of, _)| *of == game && self.dice.percent(50));
        ClientMessage::Create(Box::new(CreateRequest {
            game,
            position: start.map(|(_, position)| position.to_owned()),
            seats,
            shuffle: Some(self.dice.percent(50)),
            bot_delay_ms: Some(self.dice.between(0..=100)),
            clock,
            spectator_access: self.watch(),
            spectator_delay_ms: self.delay_ms(clock, 25),
            stand_in: self.stand_in(),
            shows_bot_thinking: self.dice.percent(40).then_some(true),
            takebacks_allowed: self.dice.percent(10).then_some(false),
            invited: invited.map(ToString::to_string),
            ..CreateRequest::default()
        }))
    }

    /// Mostly a legal move at the right ply.
    fn play_in(&mut self, view: &View) -> ClientAction {
        let mut ply = view.ply;
        let mut m = self.dice.pick(&view.legal).cloned().unwrap_or_default();
        match self.dice.between(0..=99) {
            0..=3 => ply = Ply(ply.0 + 1),
            4..=7 => ply = Ply(ply.0.saturating_sub(1)),
            8..=10 => m = view.last.clone().unwrap_or(m),
            11 => m = "z9".to_owned(),
            12..=15 => m = format!(" {} ", m.to_ascii_uppercase()),
            _ => {}
        }
        let target = view.id.into();
        if view.game == QUICK && self.dice.percent(10) {
            return ClientAction::Ask(ClientMessage::Hint { target, ply });
        }
        let message = ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: self.dice.percent(70).then_some(view.takebacks),
        };
        if self.dice.percent(10) {
            ClientAction::AskTwice(message)
        } else {
            ClientAction::Ask(message)
        }
    }

    /// Sends a move again that has been answered.
    fn repeat(&mut self) -> ClientAction {
        let again = self.dice.pick(&self.played).cloned();
        ClientAction::Ask(again.unwrap_or(ClientMessage::Ping))
    }

    /// Says something, or does not want to meet somebody, or does again.
    fn talk(&mut self) -> ClientAction {
        if self.dice.percent(40) {
            let people = self.base.people.borrow().clone();
            let other = self.dice.pick(&people).copied();
            // Whoever met nobody at all would not play any more.
            let on = self.dice.percent(50);
            return ClientAction::Ask(ClientMessage::Block {
                player: other.map(|other| other.to_string()),
                enabled: Some(on),
            });
        }
        let preset = self.dice.pick(ChatPreset::ALL).copied();
        match (self.some_view(|_| true), preset) {
            (Some(view), Some(preset)) => ClientAction::Ask(ClientMessage::Say {
                target: view.id.into(),
                content: ChatContent::Preset(preset),
            }),
            _ => ClientAction::Ask(ClientMessage::Ping),
        }
    }

    fn look_around(&mut self) -> ClientAction {
        let Some(id) = self.some_match() else {
            return ClientAction::Ask(ClientMessage::Ping);
        };
        let known = self.views.get(&id).map_or(Seq(0), |view| view.seq);
        let target = id.into();
        let by_code = self.dice.percent(10);
        let shown = self.views.get(&id).map(|view| view.shown_by(by_code));
        let over = self.some_view(|view| view.status == MatchStatus::Ended);
        ClientAction::Ask(match self.dice.between(0..=12) {
            0..=3 => ClientMessage::Watch {
                target: shown.unwrap_or(target),
            },
            4..=5 => ClientMessage::Resync {
                target,
                since: known,
            },
            6..=7 => ClientMessage::Resync {
                target,
                since: Seq(self.dice.between(0..=known.0 + 1)),
            },
            8 => self.list().unwrap_or(ClientMessage::List {
                game: None,
                status: None,
                limit: None,
                after: None,
                seekers: Some(true),
            }),
            9 => ClientMessage::WatchList {
                game: self.dice.percent(30).then(|| self.game()),
                status: self.dice.pick(&STAGES).copied().flatten(),
                seekers: Some(true),
            },
            10 => ClientMessage::UnwatchList,
            11 => ClientMessage::Analyse {
                target: over.map_or(target, |view| view.id.into()),
                nodes: Some(NODES),
            },
            _ => ClientMessage::Leave { target },
        })
    }

    /// Moves where one has no seat, or where it is not one's turn.
    fn trespass(&mut self) -> ClientAction {
        let elsewhere = |view: &View| view.status == MatchStatus::Running && !view.is_my_turn();
        let Some(view) = self.some_view(elsewhere) else {
            return ClientAction::Ask(ClientMessage::Ping);
        };
        let m = self.dice.pick(&view.legal).cloned().unwrap_or_default();
        let (target, ply) = (view.id.into(), view.ply);
        ClientAction::Ask(ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: None,
        })
    }

    /// Resigns, at times in a match of others.
    fn give_up(&mut self) -> ClientAction {
        let is_mine = self.dice.percent(70);
        let fits = |view: &View| view.is_live() && (view.you.is_some() == is_mine);
        match self.some_view(fits) {
            Some(view) => ClientAction::Ask(ClientMessage::Resign {
                target: view.id.into(),
            }),
            None => ClientAction::Ask(ClientMessage::Ping),
        }
    }

    /// Puts a bot into a seat of one's own match, or takes it out.
    fn reseat(&mut self) -> ClientAction {
        let is_mine = |view: &View| view.is_host && view.status == MatchStatus::Open;
        let Some(view) = self.some_view(is_mine) else {
            return ClientAction::Ask(ClientMessage::CancelSeek);
        };
        let occupant = if self.dice.percent(70) {
            SeatFill::Bot("beginner".to_owned())
        } else {
            SeatFill::Open
        };
        ClientAction::Ask(ClientMessage::Seat {
            target: view.id.into(),
            seat: SeatNumber(u8::from(self.dice.percent(50))),
            occupant,
        })
    }
}
