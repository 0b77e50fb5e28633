//! All public matches of a player in one file, which is written while it is read: however many they are, no
//! more of them is in memory than what a page of them is called, and one.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, Stream, StreamExt};
use plyhouse_engine::catalog::Entry;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, WireError};
use plyhouse_store::HistoryQuery;
use uuid::Uuid;

use super::error::{NotServed, not_read};
use crate::archive::download_limits::DownloadLimitReached;
use crate::connection::ip_limits::Address;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup;
use crate::wire::from_protocol;

/// How many matches are looked up at a time.
const PAGE: usize = 50;

/// Whoever asks outside of a connection may be anybody, and finds what anybody finds.
pub(crate) const STRANGER: PlayerId = PlayerId(Uuid::nil());

/// A place among those for whom such files are written, given back when dropped.
#[derive(Debug)]
struct Place {
    server: Arc<ServerContext>,
    address: Option<Address>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server.download_limits.leave(self.address);
    }
}

/// Which matches are wanted, of whom, and how they are written.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The name of a player, if it is theirs alone, or the id.
    pub player: &'a str,
    /// Only matches of this game.
    pub game: Option<&'a str>,
    /// What the names of such files end with.
    pub extension: &'a str,
}

/// How far such a file has come.
struct Reading {
    place: Place,
    player: PlayerId,
    game: Option<&'static Entry>,
    extension: String,
    /// What comes next.
    rows: VecDeque<MatchId>,
    /// The last match of the page, if there may be another one.
    last: Option<MatchId>,
    is_last_page: bool,
    has_begun: bool,
}

impl ServerContext {
    /// The scoresheets of the public matches of a player, the newest end first.
    pub(crate) async fn scoresheets_of(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        address: Option<Address>,
    ) -> Result<impl Stream<Item = Result<String, NotServed>> + Send + use<>, NotServed> {
        let game = wanted.game.map(from_protocol::game).transpose();
        let game = game.map_err(|_| NotServed::Unknown)?;
        let is_written_so = |entry: &Entry| {
            let format = entry.record.map(|format| format.extension());
            format == Some(wanted.extension)
        };
        if game.is_some_and(|entry| !is_written_so(entry)) {
            return Err(NotServed::Unknown);
        }
        let player = self.meant(wanted.player).await?;
        self.download_limits
            .enter(address)
            .map_err(|full| match full {
                DownloadLimitReached::Address => NotServed::Another,
                DownloadLimitReached::All => NotServed::Busy,
            })?;
        let mut reading = Reading {
            place: Place {
                server: Arc::clone(self),
                address,
            },
            player,
            game,
            extension: wanted.extension.to_owned(),
            rows: VecDeque::new(),
            last: None,
            is_last_page: false,
            has_begun: false,
        };
        // So that what cannot be read is told before the file begins.
        let first = reading.next().await?;
        let rest = stream::try_unfold(reading, |mut reading| async {
            let next = reading.next().await?;
            Ok(next.map(|text| (text, reading)))
        });
        Ok(stream::iter(first.map(Ok)).chain(rest))
    }

    /// The player with this id, or with this name alone.
    pub(crate) async fn meant(&self, player: &str) -> Result<PlayerId, NotServed> {
        let found = match from_protocol::player(player) {
            Some(id) => player_lookup::record(self, id)
                .await
                .map(|record| record.id),
            None => player_lookup::named(self, player).await,
        };
        found.map_err(|WireError { code, .. }| match code {
            Some(ErrorCode::UnknownPlayer) => NotServed::Unknown,
            _ => NotServed::Unreadable,
        })
    }
}

impl Reading {
    /// What comes next in the file.
    async fn next(&mut self) -> Result<Option<String>, NotServed> {
        loop {
            if self.place.server.is_stopping() {
                return Err(NotServed::Busy);
            }
            let Some(id) = self.rows.pop_front() else {
                if self.is_last_page {
                    return Ok(None);
                }
                self.turn_page().await?;
                continue;
            };
            let server = &self.place.server;
            match server.write(MatchRef::Id(id), &self.extension).await {
                Ok(served) => {
                    // What stands between the games of a file.
                    let between = if self.has_begun { "\n" } else { "" };
                    self.has_begun = true;
                    return Ok(Some(format!("{between}{}", served.text)));
                }
                // It has been forgotten meanwhile, or is none of a stranger's business, or makes no sense,
                // which is no reason to keep the others back.
                Err(NotServed::Unknown | NotServed::Damaged) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Looks up which matches come next.
    async fn turn_page(&mut self) -> Result<(), NotServed> {
        let wanted = HistoryQuery {
            seen_by: STRANGER,
            game: self.game.map(|entry| entry.info.id),
            before: self.last,
            ..HistoryQuery::of(self.player, PAGE)
        };
        let found = self.place.server.store.history(wanted).await;
        // What ended before a match that has been forgotten meanwhile has been forgotten, too.
        let page = found.map_err(not_read)?.unwrap_or_default();
        self.is_last_page = page.len() < PAGE;
        self.last = page.last().map(|past| past.creation.id);
        let is_written_so = |entry: &Entry| {
            let format = entry.record.map(|format| format.extension());
            format == Some(&*self.extension)
        };
        let server = &self.place.server;
        let told = page.iter().filter(|past| server.is_told(past, STRANGER));
        let fitting = told.map(|past| &past.creation);
        let fitting = fitting.filter(|creation| is_written_so(creation.game));
        self.rows = fitting.map(|creation| creation.id).collect();
        Ok(())
    }
}
