//! How players of different servers who look for somebody to play are paired: the store pairs them, and the
//! server whose seek comes second owns the match.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Match, Occupant, Terms};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, Seeker, ShownRating, WireError};
use plyhouse_store::directory::{Make, Paired, Waiting};
use plyhouse_store::{Record, WriteError};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::cluster::{Cluster, Notification};
use crate::connection::handle::ConnectionHandle;
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::matchmaking::lobby::next_match_id;
use crate::matchmaking::pairing;
use crate::matchmaking::participants;
use crate::matchmaking::seek_list::{OfGame, READ_MAX, SeekSnapshot};
use crate::matchmaking::seeks::{Seek, TooManySeeks};
use crate::wire::error_replies::{forgotten, not_now};

/// How often it is looked whether seeks that wait here have been paired without this server being told.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What servers want to know of each other's seeks.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    name: String,
    kind: PlayerKind,
    rating: Option<ShownRating>,
    stand_in: Option<Level>,
    /// When it was made, in milliseconds since 1970.
    since_ms: u64,
    /// As others see it. A server of an earlier version does not tell it, and its seeks are shown to nobody.
    #[serde(default)]
    shown: Option<Seeker>,
}

/// What waits on whatever server, of one game or of all, as others see it.
pub(crate) async fn sought(cluster: &Cluster, game: OfGame) -> Result<SeekSnapshot, WireError> {
    let found = cluster.directory.seekers(game.map(key_begin), READ_MAX);
    let found = found.await.map_err(|error| {
        tracing::error!(%error, "nobody knows who looks for somebody to play");
        not_now()
    })?;
    let bodies = found.bodies.iter();
    let longest = bodies.filter_map(|body| read(body)?.shown).collect();
    Ok(SeekSnapshot::new(found.total, longest))
}

/// With what the keys of a game's seeks begin.
fn key_begin(game: &str) -> String {
    format!("{game} ")
}

fn read(body: &str) -> Option<Body> {
    serde_json::from_str(body)
        .inspect_err(|error| tracing::error!(%error, "a seek makes no sense"))
        .ok()
}

impl Cluster {
    /// Pairs a seek with one of any server, or lets it wait. It waits here, too, from before it may be
    /// paired. Gives the other seek and the match that was made, if there is one.
    pub(crate) async fn seek(
        &self,
        server: &Arc<ServerContext>,
        seek: &Arc<Seek>,
    ) -> Result<Option<(Waiting, Record)>, WireError> {
        server.seeks.wait(seek)?;
        let paired = self.pair(server, seek, false).await;
        if !matches!(paired, Ok(Paired::Waits)) {
            server.seeks.take(seek);
        }
        match paired {
            Ok(Paired::Waits) => Ok(None),
            Ok(Paired::Full | Paired::Over) => Err(TooManySeeks.into()),
            Ok(Paired::With(paired)) => Ok(Some(*paired)),
            Err(WriteError::Forgotten) => Err(forgotten()),
            Err(error) => {
                tracing::error!(player = %seek.player, %error, "a seek is not kept");
                Err(not_now())
            }
        }
    }

    async fn pair(
        &self,
        server: &Arc<ServerContext>,
        seek: &Arc<Seek>,
        again: bool,
    ) -> Result<Paired, WriteError> {
        let clock = serde_json::to_string(&seek.clock).expect("a clock is plain data");
        let body = Body {
            name: seek.name.clone(),
            kind: seek.kind,
            rating: seek.rating,
            stand_in: seek.stand_in,
            since_ms: seek.since_ms,
            shown: Some(seek.shown()),
        };
        // Of rated matches people and programs have their own.
        let rated = match (seek.rated, seek.kind) {
            (false, _) => "",
            (true, PlayerKind::Bot) => " rated bots",
            (true, PlayerKind::Guest | PlayerKind::Account) => " rated",
        };
        let waiting = Waiting {
            player: seek.player,
            node: self.node,
            key: key_begin(seek.game.info.id) + &clock + rated,
            body: serde_json::to_string(&body).expect("a seek is plain data"),
            fit: seek.fit(server.clock.now_ms()),
            not: seek.not.clone(),
            again,
        };
        // Of several servers one has the player's seek.
        self.notify(seek.player, Notification::SeeksElsewhere);
        let max = server.settings.seeks_max;
        self.directory
            .pair(waiting, max, make(server, Arc::clone(seek)))
            .await
    }

    /// Has a match begin that was made of two seeks, and both see it.
    pub(crate) async fn begin_paired(
        &self,
        server: &Arc<ServerContext>,
        (player, asked): (PlayerId, &ConnectionHandle),
        (other, record): (Waiting, Record),
    ) -> Result<(), WireError> {
        let match_id = record.creation.id;
        pairing::begin_paired(server, record)?;
        participants::show_paired(server, player, Some(asked), match_id).await;
        if other.node == self.node {
            on_paired(server, other.player, match_id).await;
        } else {
            self.notify(other.player, Notification::Paired { match_id });
        }
        Ok(())
    }

    /// Ends the seek of a player that waits on this server, in the store. False if it was over there, or the
    /// store cannot tell: then it is ended by whoever looks after seeks.
    pub(crate) async fn end_seek(&self, player: PlayerId) -> bool {
        let ended = self.directory.end_seek(player, self.node).await;
        ended.unwrap_or_else(|error| {
            tracing::warn!(%player, %error, "a seek is not taken out");
            false
        })
    }

    /// Pairs a seek that waits here and has been lost in the store, or lets it wait there, too; or looks again for
    /// one that waits there, whom more fit by now.
    async fn seek_again(&self, server: &Arc<ServerContext>, seek: &Arc<Seek>, again: bool) {
        let paired = self.pair(server, seek, again).await;
        let is_over = !server.seeks.is_waiting(seek);
        match paired {
            // It was ended while it was written.
            Ok(Paired::Waits) if is_over => {
                self.end_seek(seek.player).await;
            }
            // It is found out elsewhere what has become of it.
            Ok(Paired::Waits | Paired::Over) => {}
            Ok(Paired::With(paired)) => {
                server.seeks.take(seek);
                if let Err(error) = self
                    .begin_paired(server, (seek.player, &seek.peer), *paired)
                    .await
                {
                    tracing::warn!(player = %seek.player, why = error.message, "a pair is not served");
                }
            }
            Ok(Paired::Full) => {
                if server.seeks.take(seek) {
                    Reply::unasked(seek.peer.outbox.clone()).error(TooManySeeks.into());
                }
            }
            Err(error) => tracing::warn!(player = %seek.player, %error, "a seek is not kept"),
        }
    }
}

/// Makes the match of a seek and of another one, which has waited longer.
fn make(server: &Arc<ServerContext>, seek: Arc<Seek>) -> Make {
    let server = Arc::clone(server);
    Box::new(move |other| {
        let now_ms = server.clock.now_ms();
        let nobody = || Body {
            name: String::new(),
            kind: PlayerKind::Guest,
            rating: None,
            stand_in: None,
            since_ms: 0,
            shown: None,
        };
        let Body {
            name,
            kind,
            rating,
            stand_in,
            since_ms,
            shown: _,
        } = read(&other.body).unwrap_or_else(nobody);
        let host = Occupant::Player {
            id: other.player,
            name,
            kind,
            rating,
        };
        let own = pairing::occupant(&seek);
        let stand_in = pairing::weaker(seek.stand_in, stand_in);
        let wanted = (seek.clock, seek.rated);
        let (terms, seats) = pairing::terms_of_seek(&server, wanted, [host, own], stand_in);
        // Whoever looks again may have waited longer than the other.
        let is_older = seek.since_ms < since_ms;
        let creation = Creation {
            id: next_match_id(None, now_ms, &server.rng),
            code: MatchCode::from_number(server.rng.number()),
            game: seek.game,
            host: if is_older { seek.player } else { other.player },
            terms: Terms {
                seed: server.rng.number(),
                ..terms
            },
        };
        let events = Match::opening(&creation.terms, seats, now_ms);
        Record { creation, events }
    })
}

/// The seek of a player who is connected here has been paired.
pub(crate) async fn on_paired(server: &Arc<ServerContext>, player: PlayerId, match_id: MatchId) {
    let seek = server.seeks.take_of(player);
    if let Some(seek) = &seek {
        seek.answered.cancelled().await;
    }
    let asked = seek.as_ref().map(|seek| &*seek.peer);
    participants::show_paired(server, player, asked, match_id).await;
}

/// Looks again and again whether seeks that wait here have been paired without this server being told,
/// until it stops.
pub(crate) async fn watch(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        loop {
            let before = server.seeks.all();
            sleep(LOOK_EVERY).await;
            look(&server, before).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

/// Looks after those of these seeks that still wait here and do not in the store, and ends those there that
/// do not wait here.
async fn look(server: &Arc<ServerContext>, seeks: Vec<Arc<Seek>>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let waiting: BTreeSet<PlayerId> = match cluster.directory.waiting(cluster.node).await {
        Ok(waiting) => waiting.into_iter().collect(),
        Err(error) => {
            tracing::warn!(%error, "nobody knows which seeks wait");
            return;
        }
    };
    let here: BTreeSet<PlayerId> = server.seeks.all().iter().map(|seek| seek.player).collect();
    for player in waiting.difference(&here) {
        cluster.end_seek(*player).await;
    }
    for seek in seeks {
        if !server.seeks.is_waiting(&seek) {
            continue;
        }
        if waiting.contains(&seek.player) {
            if seek.has_widened(server.clock.now_ms()) {
                cluster.seek_again(server, &seek, true).await;
            }
            continue;
        }
        let involved = cluster.directory.involved(seek.player).await;
        let newer = |id: &MatchId| {
            // An id begins with the milliseconds of its creation.
            let created_ms = id.0.as_u128() >> 80;
            created_ms >= u128::from(seek.since_ms.saturating_sub(CLOCKS_APART_MS))
        };
        match involved.map(|ids| ids.into_iter().rev().find(newer)) {
            Ok(Some(match_id)) => on_paired(server, seek.player, match_id).await,
            // It has been lost with this server's lease.
            Ok(None) => cluster.seek_again(server, &seek, false).await,
            Err(error) => tracing::warn!(%error, "a seek is not looked after"),
        }
    }
}

/// By how much the clocks of two servers may differ, in milliseconds.
const CLOCKS_APART_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fixtures::{check, texts};

    #[test]
    fn stored_seeks_are_read() {
        let bodies: Vec<Body> = texts("seeks.body").into_iter().map(check).collect();
        let account = bodies.iter().find(|body| body.kind == PlayerKind::Account);
        let account = account.expect("an account seeks");
        assert_eq!(account.name, "tia");
        assert!(account.rating.is_some() && account.shown.is_some());
        assert!(
            bodies
                .iter()
                .any(|body| body.stand_in == Some(Level::Medium))
        );
    }
}
