//! `ply list`: the matches of others, and who looks for an opponent.

use plyhouse_protocol::{ClientMessage, ListedMatch, MatchStatus, SeekList, Seeker, ServerMessage};

use crate::CommandContext;
use crate::dialogue::Dialogue;
use crate::failure::Failure;
use crate::terminal::{InputMode, columns};
use crate::view;

/// How many matches of a kind are shown: as many as the server puts on a page.
const PAGE: u64 = 100;

/// Shows the open and the running matches, and who looks for an opponent; with `follow` also what changes,
/// until the server or the person ends it.
pub(crate) async fn run(
    visit: &CommandContext,
    game: Option<String>,
    follow: bool,
) -> Result<(), Failure> {
    let mut list = List {
        dialogue: Dialogue::open(visit, InputMode::Disabled).await?,
        option: visit.server.command_options(),
        game,
        looking: Vec::new(),
    };
    if follow {
        // Before the list, so that nothing is missed between.
        let watch = ClientMessage::WatchList {
            game: list.game.clone(),
            status: None,
            seekers: Some(true),
        };
        list.dialogue.ask(watch).await?;
    }
    list.show().await?;
    if follow {
        list.follow().await?;
    }
    list.dialogue.close().await;
    Ok(())
}

struct List {
    dialogue: Dialogue,
    /// What has to be added to a command so that it speaks to the same server.
    option: String,
    game: Option<String>,
    /// Who was shown last to look for an opponent.
    looking: Vec<Seeker>,
}

impl List {
    /// Shows the whole list.
    async fn show(&mut self) -> Result<(), Failure> {
        let mut matches: Vec<ListedMatch> = Vec::new();
        let mut all = 0;
        let mut seekers = SeekList::default();
        for status in [MatchStatus::Open, MatchStatus::Running] {
            let list = ClientMessage::List {
                game: self.game.clone(),
                status: Some(status),
                limit: Some(PAGE),
                after: None,
                seekers: Some(status == MatchStatus::Open),
            };
            let answer = self.dialogue.ask(list).await?;
            if let ServerMessage::Matches {
                total,
                matches: page,
                seekers: told,
                ..
            } = answer
            {
                seekers = told.unwrap_or(seekers);
                all += total;
                matches.extend(page.into_iter().filter(|listing| listing.status == status));
            }
        }
        let text = view::render_match_list(&matches, all, &self.option, columns());
        self.dialogue.say(&text)?;
        if let Some(text) = view::render_seek_list(&seekers, &self.option) {
            self.dialogue.say(&text)?;
        }
        self.looking = seekers.rows;
        Ok(())
    }

    /// Shows those who look for an opponent now and did not before.
    fn show_new(&mut self, rows: Vec<Seeker>) -> Result<(), Failure> {
        for row in rows.iter().filter(|row| !self.looking.contains(row)) {
            self.dialogue.say(&view::seek_line(row))?;
        }
        self.looking = rows;
        Ok(())
    }

    /// Shows what changes.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            match self.dialogue.receive().await? {
                Some(ServerMessage::ListChanged { changed, reset, .. }) => {
                    if reset {
                        self.show().await?;
                    }
                    for listing in &changed {
                        let text = view::match_list_line(listing);
                        self.dialogue.say(&text)?;
                    }
                }
                Some(ServerMessage::Seekers(seekers)) => self.show_new(seekers.rows)?,
                Some(_) | None => {}
            }
        }
    }
}
