//! `ply list`.

use std::time::Duration;

use plyhouse_connection::Connection;
use plyhouse_protocol::{ClientMessage, Listing, Request, RequestId, ServerMessage, Status};
use tokio::time::timeout;

use crate::Visit;
use crate::conduct::unwritable;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::link::{connect, lost};
use crate::terminal::{Manner, Terminal, columns};
use crate::view;

/// How many matches of a kind are shown: as many as the server puts on a page.
const PAGE: u64 = 100;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of the request that the list is watched by; those for its pages count on from it.
const WATCH: u64 = 1;

/// Shows the open and the running matches; with `follow` also what changes, until the server or the
/// person ends it.
pub(crate) async fn run(visit: &Visit, game: Option<String>, follow: bool) -> Result<(), Failure> {
    let terminal = Terminal::open(Manner::Silence, visit.json).map_err(unwritable)?;
    let mut list = List {
        connection: connect(&visit.server).await?,
        terminal: terminal.in_ascii(visit.ascii),
        option: visit.server.option(),
        game,
        next_id: WATCH,
    };
    if follow {
        // Before the list, so that nothing is missed between.
        list.ask(ClientMessage::WatchList {
            game: list.game.clone(),
            status: None,
        })
        .await?;
    }
    list.show().await?;
    if follow {
        list.follow().await?;
    }
    let _ = timeout(PATIENCE, list.connection.close()).await;
    Ok(())
}

struct List {
    connection: Connection,
    terminal: Terminal,
    /// What has to be added to a command so that it speaks to the same server.
    option: String,
    game: Option<String>,
    next_id: u64,
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
            let answer = self.ask(list).await?;
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
        self.terminal.say(&text).map_err(unwritable)
    }

    /// Shows what changes.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            let Some(ServerMessage::ListChanged { changed, reset, .. }) = self.receive().await?
            else {
                continue;
            };
            if reset {
                self.show().await?;
            }
            for listing in &changed {
                let text = view::changed(listing);
                self.terminal.say(&text).map_err(unwritable)?;
            }
        }
    }

    /// Asks, and waits for the answer.
    async fn ask(&mut self, message: ClientMessage) -> Result<ServerMessage, Failure> {
        let id = Some(RequestId(self.next_id));
        self.next_id += 1;
        let request = Request { id, message };
        let sent = self.connection.send(&request).await;
        sent.map_err(|error| lost(&error))?;
        let answer = async {
            loop {
                match self.receive().await? {
                    Some(ServerMessage::Error(error)) if error.re == id => {
                        return Err(Failure::Refused(harmless(&error.message)));
                    }
                    Some(message) if message.re() == id => return Ok(message),
                    Some(_) | None => {}
                }
            }
        };
        let silent = |_| Failure::NoConnection("the server does not answer".to_owned());
        timeout(PATIENCE, answer).await.map_err(silent)?
    }

    /// The next message, if it is of a type that this build knows.
    async fn receive(&mut self) -> Result<Option<ServerMessage>, Failure> {
        let text = self.connection.receive_text().await;
        let text = text.map_err(|error| lost(&error))?;
        self.terminal.message(&text).map_err(unwritable)?;
        ServerMessage::decode(&text).map_err(|error| {
            let what = harmless(&error.to_string());
            Failure::Failed(format!("the answer cannot be read: {what}"))
        })
    }
}
