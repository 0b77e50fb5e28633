//! From the welcome to a match: go on with an old one, or ask what is wanted and get a new one.

use plyhouse::protocol::{ClientMessage, MatchId, SeatRequest, Snapshot, Status};

use super::menu::Menu;
use super::{Goal, Opponent, Plan, Session, Stage};
use crate::args::{DEFAULT_GAME, SideChoice};
use crate::harmless::harmless;
use crate::view;

/// How long a bot that plays a person in a terminal lets pass, so that its move is seen coming.
const COMPANY_PACE_MS: u64 = 400;

/// What the person is being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// What to do about the match that was interrupted.
    Resume(MatchId),
    /// What to play.
    Game,
    /// Against whom.
    Opponent,
    /// How strong a bot.
    Level,
    /// Which seat.
    Side,
}

impl Session {
    /// The first welcome is complete.
    pub(super) fn begin(&mut self) {
        match self.goal.clone() {
            Goal::Play(plan) => match self.interrupted(&plan) {
                Some(old) if self.interactive => {
                    let menu = self.resume_menu(&old);
                    self.question(Question::Resume(old.match_id), menu);
                }
                Some(old) => self.go_on(old),
                None => {
                    self.leave_open();
                    self.plan();
                }
            },
            Goal::Join(code) => match self.mine.iter().find(|old| is_named(old, &code)) {
                Some(old) if old.you.is_some() => self.go_on(old.clone()),
                Some(_) | None => self.open(ClientMessage::Join {
                    target: code,
                    seat: None,
                }),
            },
            Goal::Watch(target) => self.open(ClientMessage::Watch { target }),
            Goal::Exhibit {
                game,
                levels,
                pace_ms,
            } => self.open(ClientMessage::Create {
                game,
                seats: Some(levels.map(SeatRequest::Bot)),
                listed: None,
                shuffle: None,
                pace_ms: Some(pace_ms),
            }),
        }
    }

    /// The newest match that can be gone on with. A person is asked about any; otherwise it has to
    /// be of the game that is wanted, and running, unless it is a friend who is waited for.
    fn interrupted(&self, plan: &Plan) -> Option<Snapshot> {
        let game = plan.game.as_deref().unwrap_or(DEFAULT_GAME);
        let waits = plan.opponent == Some(Opponent::Friend);
        let fits = |old: &&Snapshot| match old.status {
            Status::Running => self.interactive || old.game == game,
            Status::Open => self.interactive || waits && old.game == game,
            Status::Ended => false,
        };
        let seated = self.mine.iter().filter(|old| old.you.is_some());
        // Running before open, then the newest: ids sort by the time of creation.
        seated
            .filter(fits)
            .max_by_key(|old| (old.status == Status::Running, old.match_id))
            .cloned()
    }

    fn go_on(&mut self, old: Snapshot) {
        self.say("Back at the match that was interrupted.");
        self.seat_at(old);
    }

    /// Leaves the open matches of an earlier run, in which nobody waits any more. They would stay
    /// listed for as long as their player is connected.
    fn leave_open(&mut self) {
        let open = self
            .mine
            .iter()
            .filter(|old| old.you.is_some() && old.status == Status::Open);
        let targets: Vec<String> = open.map(|old| old.match_id.to_string()).collect();
        targets
            .into_iter()
            .for_each(|target| self.tell(ClientMessage::Leave { target }));
    }

    fn resume_menu(&self, old: &Snapshot) -> Menu {
        let headline = view::headline(old, self.game(&old.game));
        let question = format!("You sit in a match already.\n{headline}\nWhat now?");
        let give_up = if old.status == Status::Open {
            "leave it"
        } else {
            "resign it"
        };
        let answers = ["go on with it", give_up, "start another one"];
        Menu::new(question, answers.map(str::to_owned).to_vec(), 0)
    }

    /// Asks for what the plan lacks, or has it from its default; then asks for the match.
    fn plan(&mut self) {
        let Goal::Play(mut plan) = self.goal.clone() else {
            return;
        };
        if let Some((question, menu)) = self.missing(&plan) {
            self.question(question, menu);
            return;
        }
        let game = plan.game.take().unwrap_or_else(|| DEFAULT_GAME.to_owned());
        let pace_ms = self.interactive.then_some(COMPANY_PACE_MS);
        let (other, listed) = match plan.opponent.take() {
            Some(Opponent::Anyone(bot)) => {
                self.open(ClientMessage::Seek {
                    game,
                    bot,
                    bot_after_ms: None,
                });
                return;
            }
            Some(Opponent::Friend) => (SeatRequest::Open, None),
            Some(Opponent::Bot(Some(level))) => (SeatRequest::Bot(level), None),
            Some(Opponent::Bot(None)) | None => {
                let level = self
                    .levels()
                    .nth(self.middle_level())
                    .map(|(level, _)| level);
                (SeatRequest::Bot(level.unwrap_or_default()), None)
            }
        };
        let (seats, shuffle) = match plan.side {
            Some(SideChoice::First) | None => ([SeatRequest::Me, other], None),
            Some(SideChoice::Second) => ([other, SeatRequest::Me], None),
            Some(SideChoice::Random) => ([SeatRequest::Me, other], Some(true)),
        };
        self.open(ClientMessage::Create {
            game,
            seats: Some(seats),
            listed,
            shuffle,
            pace_ms,
        });
    }

    /// The next thing to ask, if there is a person to ask and something left open.
    fn missing(&self, plan: &Plan) -> Option<(Question, Menu)> {
        if !self.interactive {
            return None;
        }
        let welcome = self.welcome.as_ref()?;
        let menu =
            |question: &str, answers: Vec<String>, default| Menu::new(question, answers, default);
        if plan.game.is_none() && plan.opponent.is_none() && welcome.games.len() > 1 {
            let titles = welcome
                .games
                .iter()
                .map(|game| harmless(&game.title))
                .collect();
            let default = welcome
                .games
                .iter()
                .position(|game| game.game == DEFAULT_GAME);
            return Some((
                Question::Game,
                menu("What to play?", titles, default.unwrap_or(0)),
            ));
        }
        match &plan.opponent {
            None => {
                let whom = [
                    "a bot",
                    "a friend, by a code to pass on",
                    "whoever is looking for a match",
                ];
                let whom = whom.map(str::to_owned).to_vec();
                return Some((Question::Opponent, menu("Against whom?", whom, 0)));
            }
            Some(Opponent::Bot(None)) => {
                let levels = self.levels().map(|(_, title)| title).collect();
                return Some((
                    Question::Level,
                    menu("How strong?", levels, self.middle_level()),
                ));
            }
            Some(Opponent::Anyone(_)) => return None, // Seats are drawn.
            Some(Opponent::Bot(Some(_)) | Opponent::Friend) => {}
        }
        if plan.side.is_some() || !self.asks_side() {
            return None;
        }
        let sides = self
            .game(plan.game.as_deref().unwrap_or(DEFAULT_GAME))
            .map(|game| &game.sides);
        let side = |index: usize| {
            sides.map_or_else(String::new, |sides| {
                format!(" ({})", harmless(&sides[index]))
            })
        };
        let answers = vec![
            format!("first{}", side(0)),
            format!("second{}", side(1)),
            "random".to_owned(),
        ];
        Some((Question::Side, menu("Which side?", answers, 0)))
    }

    /// The side is asked only of those who are being asked anyway.
    const fn asks_side(&self) -> bool {
        matches!(self.stage, Stage::Asking(..))
    }

    /// Takes the answer to the question that was asked.
    pub(super) fn answer(&mut self, line: &str) {
        let Stage::Asking(question, menu) = &self.stage else {
            return;
        };
        let (question, menu) = (*question, menu.clone());
        let Some(index) = menu.read(line) else {
            self.complain("That is none of the answers; type a number, or Enter for the default.");
            self.say(menu.text());
            return;
        };
        let levels: Vec<String> = self.levels().map(|(level, _)| level).collect();
        let game = self
            .welcome
            .as_ref()
            .and_then(|welcome| welcome.games.get(index));
        let game = game.map(|game| game.game.clone());
        let Goal::Play(plan) = &mut self.goal else {
            return;
        };
        match question {
            Question::Resume(id) => return self.resume(id, index),
            Question::Game => plan.game = game,
            Question::Opponent => {
                plan.opponent = [
                    Opponent::Bot(None),
                    Opponent::Friend,
                    Opponent::Anyone(None),
                ]
                .into_iter()
                .nth(index);
            }
            Question::Level => plan.opponent = Some(Opponent::Bot(levels.into_iter().nth(index))),
            Question::Side => {
                plan.side = [SideChoice::First, SideChoice::Second, SideChoice::Random]
                    .get(index)
                    .copied();
            }
        }
        self.plan();
    }

    fn resume(&mut self, id: MatchId, answer: usize) {
        let old = self.mine.iter().find(|old| old.match_id == id).cloned();
        match (old, answer) {
            // It may have moved on since the question was asked: look at it as it is now.
            (Some(old), 0) => self.open(ClientMessage::Watch {
                target: old.match_id.to_string(),
            }),
            (Some(old), 1) => {
                let target = old.match_id.to_string();
                self.tell(match old.status {
                    Status::Open => ClientMessage::Leave { target },
                    Status::Running | Status::Ended => ClientMessage::Resign { target },
                });
                self.plan();
            }
            (Some(_) | None, _) => self.plan(),
        }
    }

    fn question(&mut self, question: Question, menu: Menu) {
        self.say(menu.text());
        self.stage = Stage::Asking(question, menu);
    }

    fn open(&mut self, message: ClientMessage) {
        let before = self.mine.iter().map(|old| old.match_id).collect();
        let seek = matches!(message, ClientMessage::Seek { .. }).then(|| message.clone());
        self.stage = Stage::Opening { before, seek };
        self.ask(message);
    }

    /// The connection was lost while a match was being asked for: it has come about, or not.
    pub(super) fn reopen(&mut self) {
        let Stage::Opening { before, seek } = &self.stage else {
            return;
        };
        let asked = self.pending.take().map(|pending| pending.request.message);
        let came = match (&asked, &self.goal) {
            (Some(ClientMessage::Join { target, .. } | ClientMessage::Watch { target }), _) => self
                .mine
                .iter()
                .find(|new| is_named(new, target) && new.you.is_some()),
            (_, Goal::Play(_) | Goal::Exhibit { .. }) => {
                self.mine.iter().find(|new| !before.contains(&new.match_id))
            }
            (_, Goal::Join(_) | Goal::Watch(_)) => None,
        };
        if let Some(new) = came.cloned() {
            self.seat_at(new);
        } else if let Some(message) = asked.or_else(|| seek.clone()) {
            self.ask(message);
        }
    }

    /// Every level's name and title.
    fn levels(&self) -> impl Iterator<Item = (String, String)> {
        let levels = self.welcome.iter().flat_map(|welcome| &welcome.levels);
        levels.map(|level| (level.level.clone(), harmless(&level.title)))
    }

    /// The index of the level that is neither weak nor strong.
    fn middle_level(&self) -> usize {
        self.levels().count() / 2
    }
}

fn is_named(old: &Snapshot, target: &str) -> bool {
    let target = target.trim();
    old.code.eq_ignore_ascii_case(target) || old.match_id.to_string().eq_ignore_ascii_case(target)
}
