//! `ply list`: lists matches, and players who seek an opponent.

use plyhouse_protocol::{ClientMessage, ListedMatch, MatchStatus, SeekList, Seeker, ServerMessage};

use crate::CommandContext;
use crate::exit::Failure;
use crate::line_terminal::{InputMode, columns};
use crate::request_client::RequestClient;
use crate::view;

/// Maximum number of matches shown for each status. The server returns at most this number of
/// matches per page.
const PAGE_SIZE: u64 = 100;

/// Prints the open and running matches, and the players who seek an opponent. With `follow`, also
/// prints changes until the connection closes or the user stops the command.
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
        // Subscribe to changes before the list is requested, so that no change is missed.
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
    /// Command-line options that select the server, for use in suggested commands.
    command_options: String,
    game: Option<String>,
    /// Players who seek an opponent, as in the list that was last printed.
    shown_seekers: Vec<Seeker>,
}

impl MatchListCommand {
    /// Requests and prints all matches and all players who seek an opponent.
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

    /// Prints the players who seek an opponent and were not shown before.
    fn show_new_seekers(&mut self, rows: Vec<Seeker>) -> Result<(), Failure> {
        for row in rows.iter().filter(|row| !self.shown_seekers.contains(row)) {
            self.client.print(&view::seek_line(row))?;
        }
        self.shown_seekers = rows;
        Ok(())
    }

    /// Prints changes to the list as the server sends them.
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
