//! Pairing of seeks from different servers. The store pairs the seeks. The server that stores the
//! second seek of a pair owns the new match.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Match, Occupant, Terms};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, Seeker, ShownRating, WireError};
use plyhouse_store::cluster_directory::{MatchFactory, PairOutcome, SeekRecord};
use plyhouse_store::{MatchRecord, WriteError};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::cluster::{Cluster, Notification};
use crate::connection::handle::ConnectionHandle;
use crate::connection::reply::Reply;
use crate::context::limit_reached::LimitReached;
use crate::context::server_context::ServerContext;
use crate::matchmaking::lobby::next_match_id;
use crate::matchmaking::paired_match_creation;
use crate::matchmaking::participant_subscriptions;
use crate::matchmaking::seek_list::{GameFilter, SNAPSHOT_MAX, SeekSnapshot};
use crate::matchmaking::seek_queue::Seek;
use crate::wire::error_replies::{player_deleted_error, store_unavailable_error};

/// Interval between checks for pairings that were not reported to this server.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Stored form of a seek, which other servers read.
#[derive(Debug, Serialize, Deserialize)]
struct SeekBody {
    name: String,
    kind: PlayerKind,
    rating: Option<ShownRating>,
    stand_in: Option<Level>,
    /// Creation time as Unix time in milliseconds.
    #[serde(rename = "since_ms")]
    created_ms: u64,
    /// Seek as shown in lists. Servers of an earlier version do not store this field, so their
    /// seeks are not listed.
    #[serde(default)]
    #[serde(rename = "shown")]
    seeker: Option<Seeker>,
}

impl SeekBody {
    /// Replaces a stored seek that cannot be read.
    const fn of_unknown_player() -> Self {
        Self {
            name: String::new(),
            kind: PlayerKind::Guest,
            rating: None,
            stand_in: None,
            created_ms: 0,
            seeker: None,
        }
    }
}

/// Returns the waiting seeks on all servers, optionally only those for one game.
pub(crate) async fn read_snapshot(
    cluster: &Cluster,
    game: GameFilter,
) -> Result<SeekSnapshot, WireError> {
    let directory = &cluster.directory;
    let rows = directory.list_seekers(game.map(key_prefix), SNAPSHOT_MAX);
    let rows = rows.await.map_err(|error| {
        tracing::error!(%error, "cannot read the waiting seeks");
        store_unavailable_error()
    })?;
    let bodies = rows.bodies.iter();
    let longest_waiting = bodies.filter_map(|body| parse_body(body)?.seeker).collect();
    Ok(SeekSnapshot::new(rows.total, longest_waiting))
}

/// Returns the key prefix that all stored seeks for a game share.
fn key_prefix(game: &str) -> String {
    format!("{game} ")
}

fn parse_body(body: &str) -> Option<SeekBody> {
    serde_json::from_str(body)
        .inspect_err(|error| tracing::error!(%error, "stored seek is invalid"))
        .ok()
}

impl Cluster {
    /// Pairs a seek with a waiting seek from any server, or stores it as a waiting seek. If the
    /// seek is paired, returns the other seek and the new match.
    ///
    /// The seek is added on this server first, because the store may pair the seek as soon as it is
    /// stored.
    pub(crate) async fn add_seek(
        &self,
        server: &Arc<ServerContext>,
        seek: &Arc<Seek>,
    ) -> Result<Option<(SeekRecord, MatchRecord)>, WireError> {
        server.matchmaking.seeks.add_waiting(seek)?;
        let paired = self.pair_seek(server, seek, false).await;
        if !matches!(paired, Ok(PairOutcome::Waiting)) {
            server.matchmaking.seeks.remove(seek);
        }
        match paired {
            Ok(PairOutcome::Waiting) => Ok(None),
            Ok(PairOutcome::LimitReached | PairOutcome::SeekEnded) => {
                Err(LimitReached::Seeks.into())
            }
            Ok(PairOutcome::Paired(paired)) => Ok(Some(*paired)),
            Err(WriteError::PlayerDeleted) => Err(player_deleted_error()),
            Err(error) => {
                tracing::error!(player = %seek.player.id, %error, "cannot store a seek");
                Err(store_unavailable_error())
            }
        }
    }

    async fn pair_seek(
        &self,
        server: &Arc<ServerContext>,
        seek: &Arc<Seek>,
        is_retry: bool,
    ) -> Result<PairOutcome, WriteError> {
        let clock = serde_json::to_string(&seek.clock).expect("a clock serializes to JSON");
        let body = SeekBody {
            name: seek.player.name.clone(),
            kind: seek.player.kind,
            rating: seek.rating,
            stand_in: seek.stand_in,
            created_ms: seek.created_ms,
            seeker: Some(seek.to_seeker()),
        };
        // In rated matches, humans and bot accounts are paired separately.
        let rated = match (seek.rated, seek.player.kind) {
            (false, _) => "",
            (true, PlayerKind::Bot) => " rated bots",
            (true, PlayerKind::Guest | PlayerKind::Account) => " rated",
        };
        let waiting = SeekRecord {
            player: seek.player.id,
            node: self.node,
            key: key_prefix(seek.game.info.id) + &clock + rated,
            body: serde_json::to_string(&body).expect("a seek serializes to JSON"),
            rating_range: seek.rating_range(server.infra.clock.now_ms()),
            excluded: seek.excluded_players.clone(),
            is_retry,
        };
        // A player has at most one seek in the cluster, so other servers end the player's earlier
        // seek.
        self.notify_player(seek.player.id, Notification::SeekMoved);
        let max = server.infra.settings.seeks_max;
        let factory = match_factory(server, Arc::clone(seek));
        self.directory.pair_seek(waiting, max, factory).await
    }

    /// Starts the match between the players of two paired seeks, and shows the match to both
    /// players.
    pub(crate) async fn start_paired_match(
        &self,
        server: &Arc<ServerContext>,
        (player, connection): (PlayerId, &ConnectionHandle),
        (other, record): (SeekRecord, MatchRecord),
    ) -> Result<(), WireError> {
        let match_id = record.creation.id;
        paired_match_creation::start_paired_match(server, record)?;
        participant_subscriptions::show_paired_match(server, player, Some(connection), match_id)
            .await;
        if other.node == self.node {
            on_seek_paired(server, other.player, match_id).await;
        } else {
            self.notify_player(other.player, Notification::SeekPaired { match_id });
        }
        Ok(())
    }

    /// Ends a player's seek in the store if the player made the seek on this server. Returns
    /// `false` if no such seek is waiting in the store or the store cannot be written. If the store
    /// cannot be written, [`check_seeks`] ends the seek later.
    pub(crate) async fn end_seek(&self, player: PlayerId) -> bool {
        let ended = self.directory.end_seek(player, self.node).await;
        ended.unwrap_or_else(|error| {
            tracing::warn!(%player, %error, "cannot remove a seek");
            false
        })
    }

    /// Stores a waiting seek of this server again. If `is_retry` is `true`, the store still holds
    /// the seek, but the rating range of the seek has widened. If `is_retry` is `false`, the store
    /// has lost the seek.
    async fn retry_seek(&self, server: &Arc<ServerContext>, seek: &Arc<Seek>, is_retry: bool) {
        let paired = self.pair_seek(server, seek, is_retry).await;
        let is_over = !server.matchmaking.seeks.is_waiting(seek);
        match paired {
            // The seek ended on this server while it was being written to the store, so the stored
            // seek must end as well.
            Ok(PairOutcome::Waiting) if is_over => {
                self.end_seek(seek.player.id).await;
            }
            // `check_seeks` determines later what happened to the seek.
            Ok(PairOutcome::Waiting | PairOutcome::SeekEnded) => {}
            Ok(PairOutcome::Paired(paired)) => {
                server.matchmaking.seeks.remove(seek);
                let requester = (seek.player.id, &*seek.connection);
                let started = self.start_paired_match(server, requester, *paired).await;
                if let Err(error) = started {
                    tracing::warn!(
                        player = %seek.player.id, error = error.message,
                        "cannot start the match of paired seeks"
                    );
                }
            }
            Ok(PairOutcome::LimitReached) => {
                if server.matchmaking.seeks.remove(seek) {
                    Reply::unsolicited(seek.connection.outbox.clone())
                        .error(LimitReached::Seeks.into());
                }
            }
            Err(error) => tracing::warn!(player = %seek.player.id, %error, "cannot store a seek"),
        }
    }
}

/// Returns a closure that creates the match when the store pairs this seek with a waiting seek.
fn match_factory(server: &Arc<ServerContext>, seek: Arc<Seek>) -> MatchFactory {
    let server = Arc::clone(server);
    Box::new(move |other| {
        let now_ms = server.infra.clock.now_ms();
        let body = parse_body(&other.body).unwrap_or_else(SeekBody::of_unknown_player);
        let host = Occupant::Player {
            id: other.player,
            name: body.name,
            kind: body.kind,
            rating: body.rating,
        };
        let own = paired_match_creation::seek_occupant(&seek);
        let stand_in = paired_match_creation::weaker_level(seek.stand_in, body.stand_in);
        let (terms, seats) = paired_match_creation::terms_from_seek(
            &server.infra,
            seek.clock,
            seek.rated,
            [host, own],
            stand_in,
        );
        // The player with the older seek becomes the host. The waiting seek is not always the older
        // one, because a seek can be stored more than once.
        let is_older = seek.created_ms < body.created_ms;
        let creation = Creation {
            id: next_match_id(None, now_ms, &server.infra.rng),
            code: MatchCode::from_number(server.infra.rng.random_u64()),
            game: seek.game,
            host: if is_older {
                seek.player.id
            } else {
                other.player
            },
            terms: Terms {
                seed: server.infra.rng.random_u64(),
                ..terms
            },
        };
        let events = Match::initial_events(&creation.terms, seats, now_ms);
        MatchRecord { creation, events }
    })
}

/// Handles the pairing of a seek whose player is connected to this server.
pub(crate) async fn on_seek_paired(
    server: &Arc<ServerContext>,
    player: PlayerId,
    match_id: MatchId,
) {
    let seek = server.matchmaking.seeks.remove_by_player(player);
    if let Some(seek) = &seek {
        seek.reply_sent.cancelled().await;
    }
    let connection = seek.as_ref().map(|seek| &*seek.connection);
    participant_subscriptions::show_paired_match(server, player, connection, match_id).await;
}

/// Checks the seeks of this server regularly until the server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        let before = server.matchmaking.seeks.all();
        sleep(CHECK_INTERVAL).await;
        check_seeks(&server, &cluster, before).await;
    }
}

/// Compares the given seeks of this server with the store. Handles pairings that were not reported,
/// stores lost seeks again, and removes seeks from the store that have already ended on this
/// server.
async fn check_seeks(server: &Arc<ServerContext>, cluster: &Cluster, seeks: Vec<Arc<Seek>>) {
    let waiting: BTreeSet<PlayerId> = match cluster.directory.seekers_on_node(cluster.node).await {
        Ok(waiting) => waiting.into_iter().collect(),
        Err(error) => {
            tracing::warn!(%error, "cannot read the waiting seeks");
            return;
        }
    };
    let local_seeks = &server.matchmaking.seeks;
    let local_waiting: BTreeSet<PlayerId> = local_seeks
        .all()
        .iter()
        .map(|seek| seek.player.id)
        .collect();
    for player in waiting.difference(&local_waiting) {
        cluster.end_seek(*player).await;
    }
    for seek in seeks {
        if !local_seeks.is_waiting(&seek) {
            continue;
        }
        if waiting.contains(&seek.player.id) {
            if seek.has_widened(server.infra.clock.now_ms()) {
                cluster.retry_seek(server, &seek, true).await;
            }
            continue;
        }
        let involved = cluster.directory.involved_matches(seek.player.id).await;
        let newer = |id: &MatchId| {
            // The upper 48 bits of a match id are the creation time as Unix time in milliseconds,
            // so the id shows whether the match is newer than the seek.
            let created_ms = id.0.as_u128() >> 80;
            created_ms >= u128::from(seek.created_ms.saturating_sub(CLOCK_SKEW_MAX_MS))
        };
        match involved.map(|ids| ids.into_iter().rev().find(newer)) {
            Ok(Some(match_id)) => on_seek_paired(server, seek.player.id, match_id).await,
            // The store deleted the seek when the lease of this server expired, so the seek is
            // stored again.
            Ok(None) => cluster.retry_seek(server, &seek, false).await,
            Err(error) => tracing::warn!(%error, "cannot check a seek"),
        }
    }
}

/// Maximum difference between the clocks of two servers, in milliseconds. It is used to decide
/// whether a match is newer than a seek.
const CLOCK_SKEW_MAX_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::compat_fixtures::{assert_round_trip, stored_texts};

    #[test]
    fn stored_seeks_are_read() {
        let bodies: Vec<SeekBody> = stored_texts("seeks.body")
            .into_iter()
            .map(assert_round_trip)
            .collect();
        let account = bodies.iter().find(|body| body.kind == PlayerKind::Account);
        let account = account.expect("one seek belongs to an account");
        assert_eq!(account.name, "tia");
        assert!(account.rating.is_some() && account.seeker.is_some());
        assert!(
            bodies
                .iter()
                .any(|body| body.stand_in == Some(Level::Medium))
        );
    }
}
