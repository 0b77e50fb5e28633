//! What a person is asked before a match: what to play, against whom, on which side, and what to
//! do about a match that was interrupted.

use plyhouse_protocol::{MatchId, MatchStatus, Snapshot};

use super::menu::Menu;
use super::{Goal, MatchSetup, Opponent, PlaySession, Stage};
use crate::args::{DEFAULT_GAME, SideChoice};
use crate::harmless::sanitize;
use crate::view;

/// What the person is being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
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

impl PlaySession {
    /// Asks, and waits for the answer.
    pub(super) fn question(&mut self, question: Question, menu: Menu) {
        self.print(menu.text());
        self.stage = Stage::Prompting(question, menu);
    }

    /// The next thing to ask, if there is a person to ask and something left open.
    pub(super) fn missing(&self, plan: &MatchSetup) -> Option<(Question, Menu)> {
        if !self.interactive {
            return None;
        }
        let games = self
            .welcome
            .as_ref()
            .map_or(0, |welcome| welcome.games.len());
        if plan.game.is_none() && plan.opponent.is_none() && games > 1 {
            return Some((Question::Game, self.game_menu()));
        }
        // Without any question so far, all was said on the command line: the first side is taken
        // without asking. Sides of a seek are drawn.
        let asked_already = match &self.stage {
            Stage::Prompting(question, _) => !matches!(question, Question::Resume(_)),
            Stage::Connecting | Stage::AwaitingMatch { .. } | Stage::InMatch(_) => false,
        };
        match plan.opponent {
            None => Some((Question::Opponent, opponent_menu())),
            Some(Opponent::Bot(None)) => Some((Question::Level, self.level_menu())),
            Some(Opponent::Bot(Some(_)) | Opponent::Friend)
                if plan.side.is_none() && asked_already =>
            {
                Some((Question::Side, self.side_menu(plan)))
            }
            Some(Opponent::Bot(Some(_)) | Opponent::Friend | Opponent::Anyone(_)) => None,
        }
    }

    /// Takes the answer to the question that was asked.
    pub(super) fn answer(&mut self, line: &str) {
        let Stage::Prompting(question, menu) = &self.stage else {
            return;
        };
        let (question, menu) = (*question, menu.clone());
        let Some(index) = menu.read(line) else {
            if question == Question::Opponent
                && let Some(level) = self.level_named(line)
                && let Goal::Play(plan) = &mut self.goal
            {
                plan.opponent = Some(Opponent::Bot(Some(level)));
                return self.plan();
            }
            self.print_error(
                "That is none of the answers; type a number, or Enter for the default.",
            );
            return self.print(menu.text());
        };
        let level = self.levels().nth(index).map(|(level, _)| level);
        let games = self.welcome.iter().flat_map(|welcome| &welcome.games);
        let game = games.map(|game| game.game.clone()).nth(index);
        let Goal::Play(plan) = &mut self.goal else {
            return;
        };
        let opponents = [
            Opponent::Bot(None),
            Opponent::Friend,
            Opponent::Anyone(None),
        ];
        let sides = [SideChoice::First, SideChoice::Second, SideChoice::Random];
        match question {
            Question::Resume(id) => return self.resume(id, index),
            Question::Game => plan.game = game,
            Question::Opponent => plan.opponent = opponents.into_iter().nth(index),
            Question::Level => plan.opponent = Some(Opponent::Bot(level)),
            Question::Side => plan.side = sides.into_iter().nth(index),
        }
        self.plan();
    }

    /// The level that is meant by its name, or by how that begins. A number is the answer to another question.
    pub(super) fn level_named(&self, typed: &str) -> Option<String> {
        let typed = Some(typed).filter(|typed| typed.parse::<usize>().is_err());
        let index = self.level_menu().read(typed?)?;
        self.levels().nth(index).map(|(level, _)| level)
    }

    /// What to do about a match that was interrupted.
    pub(super) fn resume_menu(&self, old: &Snapshot) -> Menu {
        let headline = view::headline(old, self.game_summary(&old.game));
        let question = format!("You sit in a match already.\n{headline}\nWhat now?");
        let open = old.status == MatchStatus::Open;
        let give_up = if open { "leave it" } else { "resign it" };
        let answers = ["go on with it", give_up, "start another one"];
        Menu::new(question, answers.map(str::to_owned).to_vec(), 0)
    }

    fn game_menu(&self) -> Menu {
        let games = || self.welcome.iter().flat_map(|welcome| &welcome.games);
        let titles = games().map(|game| sanitize(&game.title)).collect();
        let default = games().position(|game| game.game == DEFAULT_GAME);
        Menu::new("What to play?", titles, default.unwrap_or(0))
    }

    fn level_menu(&self) -> Menu {
        let levels = self.levels().map(|(level, title)| {
            if title.to_lowercase() == level {
                title
            } else {
                format!("{title} ({})", sanitize(&level))
            }
        });
        Menu::new("How strong?", levels.collect(), self.middle_level())
    }

    fn side_menu(&self, plan: &MatchSetup) -> Menu {
        let game = self.game_summary(plan.game.as_deref().unwrap_or(DEFAULT_GAME));
        let side = |index: usize| {
            let side = game.map(|game| format!(" ({})", sanitize(&game.sides[index])));
            side.unwrap_or_default()
        };
        let first = format!("first{}", side(0));
        let second = format!("second{}", side(1));
        Menu::new("Which side?", vec![first, second, "random".to_owned()], 0)
    }

    /// Every level's name and title.
    pub(super) fn levels(&self) -> impl Iterator<Item = (String, String)> {
        let levels = self.welcome.iter().flat_map(|welcome| &welcome.levels);
        levels.map(|level| (level.level.clone(), sanitize(&level.title)))
    }

    /// The index of the level that is neither weak nor strong.
    pub(super) fn middle_level(&self) -> usize {
        self.levels().count() / 2
    }
}

fn opponent_menu() -> Menu {
    let answers = [
        "a bot",
        "a friend, by a code to pass on",
        "whoever is looking for a match",
    ];
    Menu::new("Against whom?", answers.map(str::to_owned).to_vec(), 0)
}
