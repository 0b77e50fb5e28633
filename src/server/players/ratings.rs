//! Ratings as the server uses them: who may play for them, how players are rated as they sit down, and the task
//! that rates what has ended.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::catalog::Entry;
use plyhouse_matches::ratings::{LedgerRow, Posted, Rating, pool_of};
use plyhouse_protocol::{
    ErrorCode, MatchId, MatchRef, PlayerId, PlayerKind, ShownRating, WireError,
};
use plyhouse_store::{PlayerRecord, RatingsChange, Step, step, told};
use tokio::time::{sleep, timeout};

use super::block_check;
use super::rating_update::RatingUpdate;
use crate::cluster::Packet;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::MatchRequest;
use crate::settings::Accounts;
use crate::wire::error_replies::unread;

/// How often it is looked for what another server has left, or an operator has written.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// After how long what could not be done is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Whether somebody may play for ratings now: an account that has not left too many matches.
pub(crate) async fn check(server: &ServerContext, player: &PlayerRecord) -> Result<(), WireError> {
    if server.settings.accounts == Accounts::Off {
        let message = "this server keeps no ratings: leave `rated` out";
        return Err(WireError::new(ErrorCode::NotAllowed, message));
    }
    if player.kind == PlayerKind::Guest {
        let message = "a rated match is for accounts: register first";
        return Err(WireError::new(ErrorCode::NotRegistered, message));
    }
    check_barred(server, player).await
}

/// Those with whom a player plays no rated matches: all accounts of one person, who would feed one of them with
/// the points of another.
pub(crate) async fn own_accounts(
    server: &ServerContext,
    player: PlayerId,
) -> Result<Vec<PlayerId>, WireError> {
    let mut kin = block_check::kin(server, player).await?;
    kin.retain(|one| *one != player);
    Ok(kin)
}

/// A rated match is between two people, or programs of two.
pub(crate) fn of_one_person() -> WireError {
    let message = "both accounts are one person's: leave `rated` out";
    WireError::new(ErrorCode::NotAllowed, message)
}

/// Whether two may play each other for ratings, of whom the one challenges the other: those who could never join
/// are not asked to.
pub(crate) async fn check_invited(
    server: &ServerContext,
    host: &PlayerRecord,
    invited: &PlayerRecord,
) -> Result<(), WireError> {
    if invited.kind == PlayerKind::Guest {
        let message = "a rated match is for accounts, and this player is a guest";
        return Err(WireError::new(ErrorCode::NotRegistered, message));
    }
    if invited.kind != host.kind {
        let message = "people and programs do not play each other for ratings";
        return Err(WireError::new(ErrorCode::NotAllowed, message));
    }
    let own = own_accounts(server, host.id).await?;
    match own.contains(&invited.id) {
        true => Err(of_one_person()),
        false => Ok(()),
    }
}

/// Whether somebody has left too many rated matches to play more of them now.
pub(crate) async fn check_barred(
    server: &ServerContext,
    player: &PlayerRecord,
) -> Result<(), WireError> {
    let until_ms = server.store.rated_ban_until(player.id).await;
    let until_ms = until_ms.map_err(|error| {
        tracing::error!(player = %player.id, %error, "nobody knows who may play for ratings");
        unread(&error)
    })?;
    match until_ms.checked_sub(server.clock.now_ms()) {
        None | Some(0) => Ok(()),
        retry_after_ms => {
            let message = "you have left too many rated matches: casual ones are open to you";
            Err(WireError {
                retry_after_ms,
                ..WireError::new(ErrorCode::TooSoon, message)
            })
        }
    }
}

/// How an account is rated that sits down now; nothing of guests. What cannot be read just now is not told: nobody
/// is kept from playing by that.
pub(crate) async fn shown(
    server: &ServerContext,
    player: &PlayerRecord,
    game: &Entry,
    is_of_days: bool,
) -> Option<ShownRating> {
    if player.kind == PlayerKind::Guest {
        return None;
    }
    let pool = pool_of(player.kind, is_of_days);
    let ratings = server.store.ratings(player.id).await;
    let ratings = ratings
        .inspect_err(|error| tracing::warn!(player = %player.id, %error, "a rating is not read"))
        .ok()?;
    let known = ratings
        .iter()
        .find(|known| known.game == game.info.id && known.pool == pool);
    let rating = known.map_or(Rating::NEW, |known| known.rated.rating);
    Some(ShownRating {
        rating: rating.shown(),
        provisional: rating.is_provisional(),
    })
}

/// Rates what has ended until the server stops. Of several servers over one store any may: each row is posted
/// once.
pub(crate) async fn rate(server: Arc<ServerContext>) {
    if server.settings.accounts == Accounts::Off {
        return;
    }
    let shutdown = server.shutdown.clone();
    let rating = async {
        note_start(&server).await;
        loop {
            look(&server).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = rating => {}
    }
}

/// Has the ledger tell that this server has started: for a while after that nobody is blamed for having gone.
async fn note_start(server: &ServerContext) {
    let at_ms = server.started_ms;
    loop {
        let started = RatingsChange::Number(LedgerRow::Started { at_ms });
        match server.store.change_ratings(started).await {
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "nobody will know when this server has started"),
        }
        sleep(RETRY).await;
    }
}

/// Does one step, and waits where there is nothing to do.
async fn look(server: &Arc<ServerContext>) {
    match step(&*server.store, server.clock.now_ms()).await {
        Ok(Step::Idle(due_ms)) => {
            server.metrics.ratings_behind.set(0);
            rest(server, due_ms).await;
        }
        Ok(Step::Told(rows)) => {
            for (row, posted) in rows {
                tell(server, &row, &posted).await;
            }
            note_lag(server).await;
        }
        Ok(Step::More) => {
            note_lag(server).await;
            tokio::task::yield_now().await;
        }
        Err(error) => {
            tracing::warn!(%error, "ratings have to wait");
            note_lag(server).await;
            sleep(RETRY).await;
        }
    }
}

/// Waits until there may be something to do, which there is at this time at the latest, in milliseconds since
/// 1970.
async fn rest(server: &ServerContext, due_ms: Option<u64>) {
    let woken = server.rating_wakeup.woken();
    let until_due =
        due_ms.map(|due_ms| Duration::from_millis(due_ms.saturating_sub(server.clock.now_ms())));
    // Where nobody else writes, nothing comes unawares.
    let unawares = server.cluster.is_some() || server.store.takes_orders();
    let longest = unawares.then_some(LOOK_EVERY);
    match until_due.into_iter().chain(longest).min() {
        Some(longest) => drop(timeout(longest, woken).await),
        None => woken.await,
    }
}

/// Shows how many rows are not posted.
async fn note_lag(server: &ServerContext) {
    if let Ok(state) = server.store.rating_state().await {
        let behind = state.last_no.saturating_sub(state.live.cursor);
        let behind = i64::try_from(behind).unwrap_or(i64::MAX);
        server.metrics.ratings_behind.set(behind);
    }
}

/// Tells those who follow a match what it has changed, on whichever server they are.
async fn tell(server: &Arc<ServerContext>, row: &LedgerRow, posted: &Posted) {
    let LedgerRow::Game(game) = row else { return };
    server.metrics.matches_rated.inc();
    let verdict = RatingUpdate {
        changes: told(&posted.changes),
        why: posted.why,
    };
    if let Some(cluster) = &server.cluster {
        cluster.send_all(&Packet::Rated {
            match_id: game.match_id,
            verdict: verdict.clone(),
        });
    }
    hear(server, game.match_id, verdict).await;
}

/// A match has been rated. Its followers here are told.
pub(crate) async fn hear(server: &Arc<ServerContext>, match_id: MatchId, verdict: RatingUpdate) {
    if let Some(handle) = server.lobby.find(MatchRef::Id(match_id)) {
        let rated = MatchRequest::Rated(verdict);
        handle.tell(rated, &server.metrics).await;
    }
}
