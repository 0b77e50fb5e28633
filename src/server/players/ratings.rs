//! Checks who may play rated matches, and reads the ratings of players. Also runs the task that
//! rates ended matches.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::ratings::{LedgerRow, PostOutcome, Rating, RatingKey, rating_pool};
use plyhouse_protocol::{
    ErrorCode, MatchId, MatchRef, PlayerId, PlayerKind, ShownRating, WireError,
};
use plyhouse_store::{PlayerRecord, RatingStep, RatingsChange, run_rating_step, to_rating_changes};
use tokio::time::{sleep, timeout};

use super::block_loading;
use super::rating_update_message::RatingUpdate;
use crate::cluster::Packet;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;
use crate::settings::AccountPolicy;
use crate::wire::error_replies::{retry_error, store_read_error};

/// Interval at which the server checks the rating ledger for rows written by other servers or by
/// the operator.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Delay before a failed rating step is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Checks that the player has an account and is not banned from rated matches.
pub(crate) async fn check_may_play_rated(
    server: &ServerContext,
    player: &PlayerRecord,
) -> Result<(), WireError> {
    if server.infra.settings.accounts == AccountPolicy::Off {
        let message = "this server has no rated matches: omit `rated`";
        return Err(WireError::new(ErrorCode::NotAllowed, message));
    }
    if player.kind == PlayerKind::Guest {
        let message = "rated matches require an account: register first";
        return Err(WireError::new(ErrorCode::NotRegistered, message));
    }
    check_rated_ban(&server.infra, player).await
}

/// Returns the other accounts of the same person. Accounts of one person may not play rated matches
/// against each other, because the person could use one account to raise the rating of another.
pub(crate) async fn linked_accounts(
    infra: &Infrastructure,
    player: PlayerId,
) -> Result<Vec<PlayerId>, WireError> {
    let mut accounts = block_loading::linked_accounts(infra, player).await?;
    accounts.retain(|one| *one != player);
    Ok(accounts)
}

/// Error: both accounts belong to one person.
pub(crate) fn same_owner_error() -> WireError {
    let message = "both accounts belong to the same person: omit `rated`";
    WireError::new(ErrorCode::NotAllowed, message)
}

/// Checks whether the host may challenge the invited player to a rated match. The invited player
/// must have an account of the same kind as the host's, owned by another person.
pub(crate) async fn check_rated_challenge(
    infra: &Infrastructure,
    host: &PlayerRecord,
    invited: &PlayerRecord,
) -> Result<(), WireError> {
    if invited.kind == PlayerKind::Guest {
        let message = "rated matches require an account, but this player is a guest";
        return Err(WireError::new(ErrorCode::NotRegistered, message));
    }
    if invited.kind != host.kind {
        let message = "humans and bots cannot play rated matches against each other";
        return Err(WireError::new(ErrorCode::NotAllowed, message));
    }
    let linked = linked_accounts(infra, host.id).await?;
    match linked.contains(&invited.id) {
        true => Err(same_owner_error()),
        false => Ok(()),
    }
}

/// Checks that the player is not banned for leaving too many rated matches.
pub(crate) async fn check_rated_ban(
    infra: &Infrastructure,
    player: &PlayerRecord,
) -> Result<(), WireError> {
    let until_ms = infra.store.rated_ban_until(player.id).await;
    let until_ms = until_ms.map_err(|error| {
        tracing::error!(player = %player.id, %error, "cannot read whether a player is banned from rated play");
        store_read_error(error)
    })?;
    match until_ms.checked_sub(infra.clock.now_ms()) {
        None | Some(0) => Ok(()),
        Some(wait_ms) => {
            let message = "you have left too many rated matches; you can still play casual matches";
            let wait = Duration::from_millis(wait_ms);
            Err(retry_error(ErrorCode::TooSoon, message, wait))
        }
    }
}

/// Returns the current rating of an account in the rating pool of the match. Returns `None` for
/// guests. Also returns `None` if the rating cannot be read, because a failed read must not block
/// play.
pub(crate) async fn shown_rating(
    infra: &Infrastructure,
    player: &PlayerRecord,
    game: &GameEntry,
    is_correspondence: bool,
) -> Option<ShownRating> {
    if player.kind == PlayerKind::Guest {
        return None;
    }
    let stored = infra.store.rating(RatingKey {
        player: player.id,
        game: game.info.id.to_owned(),
        pool: rating_pool(player.kind, is_correspondence),
    });
    let stored = stored.await;
    let stored = stored
        .inspect_err(|error| tracing::warn!(player = %player.id, %error, "cannot read a rating"))
        .ok()?;
    let rating = stored.map_or(Rating::INITIAL, |entry| entry.rating);
    Some(ShownRating {
        rating: rating.rounded(),
        provisional: rating.is_provisional(),
    })
}

/// Rates ended matches until the server stops. Several servers may run this task on one store,
/// because each ledger row is posted only once.
pub(crate) async fn run(server: Arc<ServerContext>) {
    if server.infra.settings.accounts == AccountPolicy::Off {
        return;
    }
    record_server_start(&server).await;
    loop {
        run_step(&server).await;
    }
}

/// Records the start of this server in the rating ledger. Players are not penalised for leaving
/// rated matches shortly after a server start.
async fn record_server_start(server: &ServerContext) {
    let at_ms = server.infra.started_ms;
    loop {
        let started = RatingsChange::NumberRow(LedgerRow::ServerStarted { at_ms });
        match server.store().change_ratings(started).await {
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "cannot record the start of this server"),
        }
        sleep(RETRY_DELAY).await;
    }
}

/// Runs one step of the rating task. If there is no work, waits until there may be work.
async fn run_step(server: &Arc<ServerContext>) {
    match run_rating_step(server.store(), server.now_ms()).await {
        Ok(RatingStep::Idle(due_ms)) => {
            server.infra.metrics.rating_backlog.set(0);
            wait_for_work(server, due_ms).await;
        }
        Ok(RatingStep::Posted(rows)) => {
            for (row, posted) in rows {
                publish_rating(server, &row, &posted).await;
            }
            update_backlog_metric(&server.infra).await;
        }
        Ok(RatingStep::MoreWork) => {
            update_backlog_metric(&server.infra).await;
            tokio::task::yield_now().await;
        }
        Err(error) => {
            tracing::warn!(%error, "cannot update ratings");
            update_backlog_metric(&server.infra).await;
            sleep(RETRY_DELAY).await;
        }
    }
}

/// Waits until there may be rating work, but not longer than until `due_ms`. `due_ms` is in
/// milliseconds since the Unix epoch.
async fn wait_for_work(server: &ServerContext, due_ms: Option<u64>) {
    let wakeup = server.matches.rating_wakeup.notified();
    let until_due =
        due_ms.map(|due_ms| Duration::from_millis(due_ms.saturating_sub(server.now_ms())));
    // If no other process writes to the store, `rating_wakeup` reports all rating work, and polling
    // is unnecessary.
    let needs_polling = server.infra.cluster.is_some() || server.store().accepts_commands();
    let longest = needs_polling.then_some(POLL_INTERVAL);
    match until_due.into_iter().chain(longest).min() {
        Some(longest) => drop(timeout(longest, wakeup).await),
        None => wakeup.await,
    }
}

/// Updates the metric for the number of ledger rows that are not posted yet.
async fn update_backlog_metric(infra: &Infrastructure) {
    if let Ok(state) = infra.store.rating_progress().await {
        let behind = state.last_row.saturating_sub(state.live.cursor);
        let behind = i64::try_from(behind).unwrap_or(i64::MAX);
        infra.metrics.rating_backlog.set(behind);
    }
}

/// Sends the rating changes caused by a match to the match's followers on all servers.
async fn publish_rating(server: &Arc<ServerContext>, row: &LedgerRow, posted: &PostOutcome) {
    let LedgerRow::Game(game) = row else { return };
    server.infra.metrics.matches_rated.inc();
    let update = RatingUpdate {
        changes: to_rating_changes(&posted.changes),
        why: posted.reason,
    };
    server.broadcast(&Packet::MatchRated {
        match_id: game.match_id,
        rating_update: update.clone(),
    });
    apply_rating_update(server, game.match_id, update).await;
}

/// Sends the rating changes caused by a match to the match's followers on this server.
pub(crate) async fn apply_rating_update(
    server: &Arc<ServerContext>,
    match_id: MatchId,
    update: RatingUpdate,
) {
    if let Some(handle) = server.matches.lobby.find(MatchRef::Id(match_id)) {
        let rated = Control::RatingUpdated(update);
        handle.notify(rated, &server.infra.metrics).await;
    }
}
