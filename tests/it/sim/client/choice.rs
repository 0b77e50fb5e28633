//! What somebody does next.

use plyhouse_protocol::{
    ClientMessage, Create, HostedOccupant, MatchId, MatchRef, Ply, SeatNumber, SeatRequest, Seek,
    Seq, Status,
};

use super::{Client, Role};
use crate::sim::view::View;

/// What somebody does next.
#[derive(Debug)]
pub(super) enum Deed {
    Ask(ClientMessage),
    /// Does not wait for the answer before asking the same again.
    AskTwice(ClientMessage),
    /// Hangs up without a word.
    Vanish,
    /// Connects anew while the connection still stands.
    Overlap,
    Goodbye,
}

/// How many live matches somebody wants to be in.
const ENOUGH: usize = 2;

impl Client {
    pub(super) fn choose(&mut self) -> Deed {
        if let Some(doubtful) = self.doubtful.take()
            && self.dice.percent(85)
        {
            return Deed::Ask(doubtful);
        }
        match self.dice.between(0..=99) {
            0..=1 => Deed::Vanish,
            2 => Deed::Overlap,
            3 => Deed::Goodbye,
            4..=6 => self.repeat(),
            7..=14 => self.look_around(),
            15..=18 => self.trespass(),
            19..=21 => self.give_up(),
            22..=24 => self.reseat(),
            _ => match self.role {
                Role::Player => self.play(),
                Role::Watcher => self.look_around(),
            },
        }
    }

    fn some_view(&mut self, fits: impl Fn(&View) -> bool) -> Option<View> {
        let fitting: Vec<&View> = self.views.values().filter(|view| fits(view)).collect();
        self.dice.pick(&fitting).map(|view| (*view).clone())
    }

    fn some_match(&mut self) -> Option<MatchId> {
        let board = self.base.board.borrow();
        self.dice.pick(&board).copied()
    }

    fn target(&mut self, view: &View) -> MatchRef {
        view.target(self.dice.percent(10))
    }

    /// Moves where it is one's turn; else finds somebody to play, or waits.
    fn play(&mut self) -> Deed {
        if let Some(view) = self.some_view(View::is_my_turn) {
            return self.play_in(&view);
        }
        let is_mine = |view: &&View| view.is_live() && view.you.is_some();
        let mine = self.views.values().filter(is_mine).count();
        if mine >= ENOUGH || (mine > 0 && self.dice.percent(70)) {
            return Deed::Ask(ClientMessage::Ping);
        }
        let open = self.some_match().filter(|_| self.dice.percent(65));
        Deed::Ask(match open {
            Some(id) => ClientMessage::Join {
                target: id.into(),
                seat: None,
            },
            None if self.dice.percent(25) => ClientMessage::Seek(Box::new(Seek {
                game: self.game(),
                bot: self.dice.percent(50).then(|| "easy".to_owned()),
                bot_after_ms: Some(300),
                ..Seek::default()
            })),
            None => self.create(),
        })
    }

    fn game(&mut self) -> String {
        let games = ["tic-tac-toe", "tic-tac-toe", "connect-four"];
        (*self.dice.pick(&games).expect("there are some")).to_owned()
    }

    fn create(&mut self) -> ClientMessage {
        let bot = || SeatRequest::Bot("easy".to_owned());
        let seats = match self.dice.between(0..=9) {
            0..=5 => None,
            6 => Some([SeatRequest::Open, SeatRequest::Open]),
            7 => Some([SeatRequest::Me, bot()]),
            8 => Some([bot(), SeatRequest::Me]),
            _ => Some([bot(), bot()]),
        };
        ClientMessage::Create(Box::new(Create {
            game: self.game(),
            seats,
            shuffle: Some(self.dice.percent(50)),
            pace_ms: Some(self.dice.between(0..=100)),
            ..Create::default()
        }))
    }

    /// Mostly a legal move at the right ply.
    fn play_in(&mut self, view: &View) -> Deed {
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
        let target = self.target(view);
        let message = ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: None,
        };
        if self.dice.percent(10) {
            Deed::AskTwice(message)
        } else {
            Deed::Ask(message)
        }
    }

    /// Sends a move again that has been answered.
    fn repeat(&mut self) -> Deed {
        let again = self.dice.pick(&self.played).cloned();
        Deed::Ask(again.unwrap_or(ClientMessage::Ping))
    }

    fn look_around(&mut self) -> Deed {
        let Some(id) = self.some_match() else {
            return Deed::Ask(ClientMessage::Ping);
        };
        let known = self.views.get(&id).map_or(Seq(0), |view| view.seq);
        let target = id.into();
        Deed::Ask(match self.dice.between(0..=9) {
            0..=3 => ClientMessage::Watch { target },
            4..=5 => ClientMessage::Resync {
                target,
                since: known,
            },
            6..=7 => ClientMessage::Resync {
                target,
                since: Seq(self.dice.between(0..=known.0 + 1)),
            },
            8 => ClientMessage::List {
                game: None,
                status: None,
                limit: None,
                after: None,
            },
            _ => ClientMessage::Leave { target },
        })
    }

    /// Moves where one has no seat, or where it is not one's turn.
    fn trespass(&mut self) -> Deed {
        let elsewhere = |view: &View| view.status == Status::Running && !view.is_my_turn();
        let Some(view) = self.some_view(elsewhere) else {
            return Deed::Ask(ClientMessage::Ping);
        };
        let m = self.dice.pick(&view.legal).cloned().unwrap_or_default();
        let (target, ply) = (self.target(&view), view.ply);
        Deed::Ask(ClientMessage::Move {
            target,
            ply,
            m,
            takebacks: None,
        })
    }

    /// Resigns, at times in a match of others.
    fn give_up(&mut self) -> Deed {
        let is_mine = self.dice.percent(70);
        let fits = |view: &View| view.is_live() && (view.you.is_some() == is_mine);
        match self.some_view(fits) {
            Some(view) => Deed::Ask(ClientMessage::Resign {
                target: self.target(&view),
            }),
            None => Deed::Ask(ClientMessage::Ping),
        }
    }

    /// Puts a bot into a seat of one's own match, or takes it out.
    fn reseat(&mut self) -> Deed {
        let is_mine = |view: &View| view.is_host && view.status == Status::Open;
        let Some(view) = self.some_view(is_mine) else {
            return Deed::Ask(ClientMessage::Unseek);
        };
        let occupant = if self.dice.percent(70) {
            HostedOccupant::Bot("beginner".to_owned())
        } else {
            HostedOccupant::Open
        };
        Deed::Ask(ClientMessage::Seat {
            target: self.target(&view),
            seat: SeatNumber(u8::from(self.dice.percent(50))),
            occupant,
        })
    }
}
