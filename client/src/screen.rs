//! The match on a full screen: what it looks like is drawn anew whenever something has changed, and keys
//! make the lines that the session reads.

mod draw;
mod keys;
mod log;
mod model;
mod picking;
mod tty;

use std::io::{self, Write as _};

use plyhouse_protocol::MatchStatus;

use crate::terminal::{self, Input};
use crate::view::{Scene, WRONG, paint};
use draw::{COLUMNS_MIN, ROWS_MIN, draw};
use keys::function_keys;
use model::{Model, Pressed};
use tty::{Told, Tty};

pub(crate) use draw::Theme;

/// What the keys at the board do. With what can be typed the help fits the least of screens.
const KEYS_AT_BOARD: &str = "\
Arrows move the cursor, Enter or space picks a square (a move that takes several: one after the other), Esc puts \
back.";

/// What the keys do that work at any time.
const KEYS_OF_LOG: &str = "PgUp and PgDn roll this; Ctrl-P and Ctrl-N bring back what was typed.";

/// Terminals that cannot place a cursor.
const SIMPLE: [&str; 4] = ["", "dumb", "cons25", "emacs"];

/// The match on a full screen.
pub(crate) struct Screen {
    /// Taken with the first drawing: then signals are listened for.
    tty: Option<Tty>,
    look: Theme,
    model: Model,
    scene: Option<Scene>,
    /// What was said and not drawn yet.
    unseen: Vec<String>,
}

/// What the keys do in this match, or where there is none yet.
fn keys_of(scene: Option<&Scene>) -> String {
    let begun = scene.filter(|scene| scene.now.status != MatchStatus::Open);
    let Some(scene) = begun else {
        return format!("F10 quits. {KEYS_OF_LOG}");
    };
    let keys = function_keys(scene).join(", ");
    // The key alone only writes the word down.
    let keys = keys.replace("F5 resign", "F5 and Enter resign");
    format!("{KEYS_AT_BOARD} {keys}, F10 quit. {KEYS_OF_LOG}")
}

/// Whether the terminal has room for all of it, and is one that can be drawn upon.
pub(crate) fn has_room() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let (columns, rows) = (usize::from(COLUMNS_MIN), usize::from(ROWS_MIN));
    let fits = terminal::size().is_some_and(|size| size.0 >= columns && size.1 >= rows);
    fits && !SIMPLE.contains(&term.as_str())
}

impl Screen {
    /// A screen that is not yet to be seen. If somebody only looks on, nothing can be typed.
    pub(crate) fn new(look: Theme, is_watching: bool) -> Self {
        Self {
            tty: None,
            look,
            model: Model::new(is_watching),
            scene: None,
            unseen: Vec::new(),
        }
    }

    /// Shows how the match stands now.
    pub(crate) fn show(&mut self, scene: Option<Scene>) -> io::Result<()> {
        self.model.see(scene.as_ref());
        self.scene = scene;
        self.unseen.clear();
        self.draw()
    }

    /// Tells the person something.
    pub(crate) fn say(&mut self, text: &str) {
        self.model.log.push(text.to_owned());
        self.unseen.push(text.to_owned());
    }

    /// Tells the person what is wrong.
    pub(crate) fn complain(&mut self, text: &str) {
        self.say(&paint(WRONG, text));
    }

    /// Waits for the next line that the keys make. May be cancelled.
    pub(crate) async fn next(&mut self) -> io::Result<Input> {
        loop {
            let told = match &mut self.tty {
                Some(tty) => tty.next().await,
                None => std::future::pending().await,
            };
            let key = match told {
                Told::Key(key) => key,
                Told::Changed => {
                    self.draw_if_idle()?;
                    continue;
                }
                Told::Gone => return Ok(Input::End),
            };
            match self.model.press(key, self.scene.as_ref()) {
                Pressed::Nothing => {}
                Pressed::Line(line) => {
                    if self.model.unrolled {
                        let keys = keys_of(self.scene.as_ref());
                        self.model.log.push(keys);
                    }
                    return Ok(Input::Line(line));
                }
                Pressed::Note(text) => self.model.log.push(paint(WRONG, text)),
                Pressed::Interrupt => return Ok(Input::Interrupt),
                Pressed::End => return Ok(Input::End),
                Pressed::Redraw => {
                    if let Some(tty) = &mut self.tty {
                        tty.wipe()?;
                    }
                }
            }
            self.draw_if_idle()?;
        }
    }

    /// Whether the end of a match is looked at until a key is pressed.
    pub(crate) const fn lingers(&self) -> bool {
        self.model.is_watching
    }

    /// Gives the terminal back, and writes on it what was not seen, and what the match has come to.
    pub(crate) fn close(&mut self, scene: Option<&Scene>) -> io::Result<()> {
        self.tty = None;
        let mut texts = std::mem::take(&mut self.unseen);
        if let Some(outcome) = scene.and_then(Scene::outcome) {
            texts.retain(|text| !outcome.ends_with(text.as_str()));
            texts.insert(0, outcome);
        }
        let mut out = anstream::stdout().lock();
        for text in texts {
            writeln!(out, "{}", self.look.letters(&text))?;
        }
        out.flush()
    }

    /// Draws, unless more keys were pressed meanwhile, which are done first: a text that is pasted is drawn once.
    fn draw_if_idle(&mut self) -> io::Result<()> {
        if self.tty.as_ref().is_some_and(Tty::has_more) {
            return Ok(());
        }
        self.draw()
    }

    fn draw(&mut self) -> io::Result<()> {
        let tty = match &mut self.tty {
            Some(tty) => tty,
            none => none.insert(Tty::take()?),
        };
        let (model, scene, look) = (&mut self.model, self.scene.as_ref(), self.look);
        tty.draw(|frame| draw(frame, model, scene, look))
    }
}
