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

/// Shows the open and the running matches.
pub(crate) async fn run(visit: &Visit, game: Option<String>) -> Result<(), Failure> {
    let terminal = Terminal::open(Manner::Silence, visit.json).map_err(unwritable)?;
    let mut terminal = terminal.in_ascii(visit.ascii);
    let mut connection = connect(&visit.server).await?;
    let mut matches: Vec<Listing> = Vec::new();
    let mut total = 0;
    for (number, status) in (1..).zip([Status::Open, Status::Running]) {
        let game = game.clone();
        let list = ClientMessage::List {
            game,
            status: Some(status),
            limit: Some(PAGE),
            after: None,
        };
        let id = Some(RequestId(number));
        let asked = Request { id, message: list };
        connection
            .send(&asked)
            .await
            .map_err(|error| lost(&error))?;
        let answer = timeout(PATIENCE, answer(&mut connection, &mut terminal, number)).await;
        let silent = || Failure::NoConnection("the server does not answer".to_owned());
        let (count, page) = answer.map_err(|_| silent())??;
        total += count;
        matches.extend(page.into_iter().filter(|listing| listing.status == status));
    }
    terminal
        .say(&view::listing(
            &matches,
            total,
            &visit.server.option(),
            columns(),
        ))
        .map_err(unwritable)?;
    let _ = timeout(PATIENCE, connection.close()).await;
    Ok(())
}

async fn answer(
    connection: &mut Connection,
    terminal: &mut Terminal,
    number: u64,
) -> Result<(u64, Vec<Listing>), Failure> {
    let ours = Some(RequestId(number));
    loop {
        let text = connection
            .receive_text()
            .await
            .map_err(|error| lost(&error))?;
        terminal.message(&text).map_err(unwritable)?;
        match ServerMessage::decode(&text) {
            Ok(Some(ServerMessage::Matches { re, total, matches })) if re == ours => {
                return Ok((total, matches));
            }
            Ok(Some(ServerMessage::Error(error))) if error.re == ours => {
                return Err(Failure::Refused(harmless(&error.message)));
            }
            Ok(_) => {}
            Err(error) => {
                let what = harmless(&error.to_string());
                return Err(Failure::Failed(format!(
                    "the answer cannot be read: {what}"
                )));
            }
        }
    }
}
