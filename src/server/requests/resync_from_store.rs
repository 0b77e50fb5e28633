//! Replies with the events of an ended match that are no longer in memory.
//!
//! A match holds only its most recent events in memory. Earlier events are read from the store, but
//! only after the match has ended, when the delay of the read does not affect play.

use super::Client;
use super::history_and_stats::match_read_error;
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::match_actor::RESYNC_EVENTS_MAX;
use crate::match_handle::MatchHandle;
use crate::wire::encode;
use crate::wire::encode::Frame;
use plyhouse_matches::{Match, ReplayError};
use plyhouse_protocol::{ErrorCode, MatchId, MatchStatus, Seq, WireError};
use plyhouse_store::MatchRecord;
use tokio::sync::SemaphorePermit;
use tokio::task::yield_now;

/// Number of events that are applied before the task yields to other tasks.
const EVENTS_PER_YIELD: usize = 32;

impl Client {
    /// Returns whether the resync needs events from the store. The match must have ended, this
    /// connection must follow it, and the client must have missed too many events.
    pub(super) fn needs_stored_events(&self, handle: &MatchHandle, since: Seq) -> bool {
        let summary = handle.summary();
        let missed_count = summary.seq().0.saturating_sub(since.0);
        missed_count > RESYNC_EVENTS_MAX as u64
            && summary.status() == MatchStatus::Ended
            && self.connection.subscriptions.follows(handle.id())
    }

    /// Replies with the events after `since`, as many as fit into one reply.
    pub(super) async fn send_stored_events(&self, handle: &MatchHandle, since: Seq, reply: Reply) {
        let player = self.player.as_ref();
        let is_seated = player.is_some_and(|player| handle.summary().holds_seat(player.record.id));
        let events = load_events_since(&self.server, handle, since, is_seated).await;
        if let Some((events, reply)) = reply.require(events) {
            reply.send_frame(|re| encode::events(re, handle.id(), events.iter()));
        }
    }
}

async fn load_events_since(
    server: &ServerContext,
    handle: &MatchHandle,
    since: Seq,
    is_seated: bool,
) -> Result<Vec<Frame>, WireError> {
    let (_permit, mut record) = load_record(server, handle.id()).await?;
    let settings = &server.infra.settings;
    settings.fill_absence_limits(&mut record.creation.terms);
    let visible_count = match is_seated {
        true => record.events.len(),
        false => record.visible_to_spectators(server.now_ms()).len(),
    };
    let replay_error = |error| replay_error(handle.id(), &error);
    let mut state = Match::new(record.creation).map_err(replay_error)?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    for (index, event) in record.events[..visible_count].iter().enumerate() {
        if index % EVENTS_PER_YIELD == EVENTS_PER_YIELD - 1 {
            yield_now().await;
        }
        state.fold(event).map_err(replay_error)?;
        if state.seq() <= since {
            continue;
        }
        let event = encode::event(&state, &event.kind);
        bytes += event.len();
        // A larger reply could fill the outbox, and the connection would then be closed as too
        // slow.
        if bytes > settings.outbox_bytes / 2 && !events.is_empty() {
            break;
        }
        events.push(event);
    }
    Ok(events)
}

/// Loads a match from the store. The number of concurrent loads is limited by permits.
pub(super) async fn load_stored_match(
    server: &ServerContext,
    id: MatchId,
) -> Result<Match, WireError> {
    let (_permit, MatchRecord { creation, events }) = load_record(server, id).await?;
    Match::replay(creation, &events).map_err(|error| replay_error(id, &error))
}

/// Reads a match from the store. The caller must hold the returned permit while it replays the
/// match.
async fn load_record(
    server: &ServerContext,
    id: MatchId,
) -> Result<(SemaphorePermit<'_>, MatchRecord), WireError> {
    let Ok(permit) = server.limits.replay_permits.acquire().await else {
        return Err(unreadable_match_error());
    };
    let loaded = server.store().load(id).await.map_err(match_read_error)?;
    let loaded = loaded.ok_or_else(unreadable_match_error)?;
    Ok((permit, loaded.record))
}

fn replay_error(id: MatchId, error: &ReplayError) -> WireError {
    tracing::error!(match_id = %id, %error, "cannot replay a stored match");
    unreadable_match_error()
}

fn unreadable_match_error() -> WireError {
    WireError::new(ErrorCode::Internal, "cannot read the stored match")
}
