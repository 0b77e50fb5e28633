//! Prompts before a match: the game, the opponent, the side, and what to do with an interrupted
//! match.

use plyhouse_protocol::{MatchId, MatchStatus, Snapshot};

use super::choice_prompt::Prompt;
use super::{Goal, MatchSetup, Opponent, PlaySession, Stage};
use crate::args::{DEFAULT_GAME, SideChoice};
use crate::sanitize::sanitize;
use crate::view;

/// Kind of the current prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    /// Asks whether to resume, abandon or ignore an interrupted match.
    Resume(MatchId),
    Game,
    Opponent,
    /// Asks for the level of the bot.
    Level,
    Side,
}

impl PlaySession {
    /// Shows a prompt. The next line that the user types answers the prompt.
    pub(super) fn show_prompt(&mut self, question: PromptKind, prompt: Prompt) {
        self.print(prompt.text());
        self.stage = Stage::Prompting(question, prompt);
    }

    /// Returns the next prompt for a missing part of the setup. Returns `None` if nothing is
    /// missing or the run is not interactive.
    pub(super) fn next_prompt(&self, setup: &MatchSetup) -> Option<(PromptKind, Prompt)> {
        if !self.options.interactive {
            return None;
        }
        let welcome = self.welcome.as_ref();
        let game_count = welcome.map_or(0, |welcome| welcome.games.len());
        if setup.game.is_none() && setup.opponent.is_none() && game_count > 1 {
            return Some((PromptKind::Game, self.game_prompt()));
        }
        // The side prompt is shown only after another setup prompt. If the command line specifies
        // the opponent, the player gets the first side without a prompt. A seek has no side prompt
        // either, because the server assigns the sides at random.
        let has_prompted = matches!(&self.stage,
            Stage::Prompting(question, _) if !matches!(question, PromptKind::Resume(_)));
        match setup.opponent {
            None => Some((PromptKind::Opponent, opponent_prompt())),
            Some(Opponent::Bot(None)) => Some((PromptKind::Level, self.level_prompt())),
            Some(Opponent::Bot(Some(_)) | Opponent::Friend)
                if setup.side.is_none() && has_prompted =>
            {
                Some((PromptKind::Side, self.side_prompt(setup)))
            }
            Some(Opponent::Bot(Some(_)) | Opponent::Friend | Opponent::Anyone(_)) => None,
        }
    }

    /// Handles the answer to the current prompt.
    pub(super) fn on_choice(&mut self, line: &str) {
        let Stage::Prompting(question, prompt) = &self.stage else {
            return;
        };
        let (question, prompt) = (*question, prompt.clone());
        let Some(index) = prompt.parse_choice(line) else {
            if question == PromptKind::Opponent
                && let Some(level) = self.parse_level(line)
                && let Goal::Play(plan) = &mut self.goal
            {
                plan.opponent = Some(Opponent::Bot(Some(level)));
                return self.continue_setup();
            }
            self.print_error("Invalid choice; type a number, or press Enter for the default.");
            return self.print(prompt.text());
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
            PromptKind::Resume(id) => return self.on_resume_choice(id, index),
            PromptKind::Game => plan.game = game,
            PromptKind::Opponent => plan.opponent = opponents.into_iter().nth(index),
            PromptKind::Level => plan.opponent = Some(Opponent::Bot(level)),
            PromptKind::Side => plan.side = sides.into_iter().nth(index),
        }
        self.continue_setup();
    }

    /// Returns the level with this name or unique prefix. Returns `None` for a number, because a
    /// number selects an answer of the current prompt.
    pub(super) fn parse_level(&self, typed: &str) -> Option<String> {
        let typed = Some(typed).filter(|typed| typed.parse::<usize>().is_err());
        let index = self.level_prompt().parse_choice(typed?)?;
        self.levels().nth(index).map(|(level, _)| level)
    }

    /// Returns the prompt for an interrupted match.
    pub(super) fn resume_prompt(&self, old: &Snapshot) -> Prompt {
        let headline = view::headline(old, self.game_summary(&old.game));
        let question =
            format!("You have an unfinished match.\n{headline}\nWhat do you want to do?");
        let open = old.status == MatchStatus::Open;
        let give_up = if open { "leave it" } else { "resign it" };
        let answers = ["continue it", give_up, "start a new one"];
        Prompt::new(question, answers.map(str::to_owned).to_vec(), 0)
    }

    fn game_prompt(&self) -> Prompt {
        let games = || self.welcome.iter().flat_map(|welcome| &welcome.games);
        let titles = games().map(|game| sanitize(&game.title)).collect();
        let default = games().position(|game| game.game == DEFAULT_GAME);
        Prompt::new("Which game?", titles, default.unwrap_or(0))
    }

    fn level_prompt(&self) -> Prompt {
        let levels = self.levels().map(|(level, title)| {
            if title.to_lowercase() == level {
                title
            } else {
                format!("{title} ({})", sanitize(&level))
            }
        });
        let default = self.middle_level_index();
        Prompt::new("Which bot level?", levels.collect(), default)
    }

    fn side_prompt(&self, setup: &MatchSetup) -> Prompt {
        let game = self.game_summary(setup.game.as_deref().unwrap_or(DEFAULT_GAME));
        let side = |index: usize| {
            let side = game.map(|game| format!(" ({})", sanitize(&game.sides[index])));
            side.unwrap_or_default()
        };
        let first = format!("first{}", side(0));
        let second = format!("second{}", side(1));
        Prompt::new("Which side?", vec![first, second, "random".to_owned()], 0)
    }

    /// Returns the name and the title of each bot level.
    pub(super) fn levels(&self) -> impl Iterator<Item = (String, String)> {
        let levels = self.welcome.iter().flat_map(|welcome| &welcome.levels);
        levels.map(|level| (level.level.clone(), sanitize(&level.title)))
    }

    /// Returns the index of the middle bot level.
    pub(super) fn middle_level_index(&self) -> usize {
        self.levels().count() / 2
    }
}

fn opponent_prompt() -> Prompt {
    let answers = [
        "a bot",
        "a friend, with an invitation code",
        "any player looking for a match",
    ];
    Prompt::new(
        "Who do you want to play?",
        answers.map(str::to_owned).to_vec(),
        0,
    )
}
