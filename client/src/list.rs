//! `ply list`.

use plyhouse_protocol::{ClientMessage, Listing, ServerMessage, Status};

use crate::Visit;
use crate::dialogue::Dialogue;
use crate::failure::Failure;
use crate::terminal::{Manner, columns};
use crate::view;

/// How many matches of a kind are shown: as many as the server puts on a page.
const PAGE: u64 = 100;

/// Shows the open and the running matches; with `follow` also what changes, until the server or the
/// person ends it.
pub(crate) async fn run(visit: &Visit, game: Option<String>, follow: bool) -> Result<(), Failure> {
    let mut list = List {
        dialogue: Dialogue::open(visit, Manner::Silence).await?,
        option: visit.server.option(),
        game,
    };
    if follow {
        // Before the list, so that nothing is missed between.
        let watch = ClientMessage::WatchList {
            game: list.game.clone(),
            status: None,
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
}

impl List {
    /// Shows the whole list.
    async fn show(&mut self) -> Result<(), Failure> {
        let mut matches: Vec<Listing> = Vec::new();
        let mut all = 0;
        for status in [Status::Open, Status::Running] {
            let list = ClientMessage::List {
                game: self.game.clone(),
                status: Some(status),
                limit: Some(PAGE),
                after: None,
            };
            let answer = self.dialogue.ask(list).await?;
            if let ServerMessage::Matches {
                total,
                matches: page,
                ..
            } = answer
            {
                all += total;
                matches.extend(page.into_iter().filter(|listing| listing.status == status));
            }
        }
        let text = view::listing(&matches, all, &self.option, columns());
        self.dialogue.say(&text)
    }

    /// Shows what changes.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            let Some(ServerMessage::ListChanged { changed, reset, .. }) =
                self.dialogue.receive().await?
            else {
                continue;
            };
            if reset {
                self.show().await?;
            }
            for listing in &changed {
                let text = view::changed(listing);
                self.dialogue.say(&text)?;
            }
        }
    }
}
