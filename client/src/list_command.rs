//! `ply list`: the matches of others, and who looks for an opponent.

use plyhouse_protocol::{ClientMessage, ListedMatch, MatchStatus, SeekList, Seeker, ServerMessage};

use crate::CommandContext;
use crate::exit::Failure;
use crate::request_client::RequestClient;
use crate::terminal::{InputMode, columns};
use crate::view;

/// How many matches of a kind are shown: as many as the server puts on a page.
const PAGE_SIZE: u64 = 100;

/// Shows the open and the running matches, and who looks for an opponent; with `follow` also what changes,
/// until the server or the person ends it.
pub(crate) async fn show_matches(
    context: &CommandContext,
    game: Option<String>,
    follow: bool,
) -> Result<(), Failure> {
    let mut list = MatchListCommand {
        client: RequestClient::open(context, InputMode::Disabled).await?,
        command_options: context.server.command_options(),
        game,
        shown_seekers: Vec::new(),
    };
    if follow {
        // Before the list, so that nothing is missed between.
        let watch = ClientMessage::WatchList {
            game: list.game.clone(),
            status: None,
            seekers: Some(true),
        };
        list.client.request(watch).await?;
    }
    list.show_list().await?;
    if follow {
        list.follow_changes().await?;
    }
    list.client.close().await;
    Ok(())
}

struct MatchListCommand {
    client: RequestClient,
    /// What has to be added to a command so that it speaks to the same server.
    command_options: String,
    game: Option<String>,
    /// Who was shown last to look for an opponent.
    shown_seekers: Vec<Seeker>,
}

impl MatchListCommand {
    /// Shows the whole list.
    async fn show_list(&mut self) -> Result<(), Failure> {
        let mut matches: Vec<ListedMatch> = Vec::new();
        let mut total_count = 0;
        let mut seekers = SeekList::default();
        for status in [MatchStatus::Open, MatchStatus::Running] {
            let request = ClientMessage::List {
                game: self.game.clone(),
                status: Some(status),
                limit: Some(PAGE_SIZE),
                after: None,
                seekers: Some(status == MatchStatus::Open),
            };
            let answer = self.client.request(request).await?;
            if let ServerMessage::Matches {
                total,
                matches: page,
                seekers: listed_seekers,
                ..
            } = answer
            {
                seekers = listed_seekers.unwrap_or(seekers);
                total_count += total;
                matches.extend(page.into_iter().filter(|listing| listing.status == status));
            }
        }
        let text = view::render_match_list(&matches, total_count, &self.command_options, columns());
        self.client.print(&text)?;
        if let Some(text) = view::render_seek_list(&seekers, &self.command_options) {
            self.client.print(&text)?;
        }
        self.shown_seekers = seekers.rows;
        Ok(())
    }

    /// Shows those who look for an opponent now and did not before.
    fn show_new_seekers(&mut self, rows: Vec<Seeker>) -> Result<(), Failure> {
        for row in rows.iter().filter(|row| !self.shown_seekers.contains(row)) {
            self.client.print(&view::seek_line(row))?;
        }
        self.shown_seekers = rows;
        Ok(())
    }

    /// Shows what changes.
    async fn follow_changes(&mut self) -> Result<(), Failure> {
        loop {
            match self.client.receive().await? {
                Some(ServerMessage::ListChanged { changed, reset, .. }) => {
                    if reset {
                        self.show_list().await?;
                    }
                    for listing in &changed {
                        let text = view::match_list_line(listing);
                        self.client.print(&text)?;
                    }
                }
                Some(ServerMessage::Seekers(seekers)) => self.show_new_seekers(seekers.rows)?,
                Some(_) | None => {}
            }
        }
    }
}
