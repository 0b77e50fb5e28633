//! How a client comes into matches that are new: by `create`, and by looking for somebody with `seek`.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Client, Player};
use crate::cluster_tasks;
use crate::connection::ip_limits::OpenMatchPermit;
use crate::connection::reply::Reply;
use crate::connection::subscriptions::SubscriptionLimit;
use crate::match_handle::command::MatchRequest;
use crate::matchmaking::create_params;
use crate::matchmaking::create_params::CreateParams;
use crate::matchmaking::pairing;
use crate::matchmaking::seeks::Seek;
use crate::matchmaking::{match_creation, rematch_creation};
use crate::players::block_check;
use crate::players::player_lookup;
use crate::players::ratings;
use crate::players::registry::TooManyHosted;
use crate::schedule::correspondence;
use crate::wire::from_protocol;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{
    Create, ErrorCode, PlayerId, PlayerKind, SeatRequest, Seek as SeekRequest, WatchedBy, WireError,
};
use plyhouse_store::PlayerRecord;

/// How long a seek waits for a person unless the client says otherwise, in milliseconds.
const BOT_AFTER_MS: u64 = 10_000;

impl Client {
    pub(super) async fn create(&self, player: &Player, create: Create, reply: Reply) {
        let wanted = self.wanted(player, create).await;
        let Some((wanted, reply)) = reply.require(wanted) else {
            return;
        };
        let is_of_bots = wanted.seats.iter().all(|seat| seat.bot().is_some());
        if let Some((handle, reply)) = reply.require(
            match_creation::create_match(&self.server, wanted, rematch_creation::create_rematch)
                .await,
        ) {
            if is_of_bots {
                cluster_tasks::hand_over_match(&self.server, handle.id());
            }
            let watch = self.command(player, MatchRequest::Watch);
            self.follow(&handle, watch, reply).await;
        }
    }

    /// What a `create` asks for: its game, its host, its terms and who sits where.
    async fn wanted(&self, player: &Player, create: Create) -> Result<CreateParams, WireError> {
        let host = player.record.id;
        check_invited(create.invited.as_deref(), host)?;
        let game = from_protocol::game(&create.game)?;
        let start = start(game, create.position.as_deref())?;
        let [first, second] = create.seats.unwrap_or(SeatRequest::USUAL);
        let is_of_days = create.clock.is_some_and(|clock| clock.is_of_days());
        let called = self.called(player);
        let rating = ratings::shown_rating(&self.server, &called, game, is_of_days).await;
        let me = create_params::player_occupant(called, rating);
        let mut seats = [occupant(&me, first)?, occupant(&me, second)?];
        let stand_in = level(create.stand_in.as_deref())?;
        let rated = create.rated == Some(true);
        if rated {
            self.check_rated(player, &seats).await?;
        }
        let invited = match create.invited {
            Some(id) => Some(player_lookup::find_player(&self.server, &id).await?),
            None => None,
        };
        let other = invited.as_ref().map(|invited| invited.id);
        if block_check::are_apart(&self.server, host, other).await? {
            return Err(block_check::refused());
        }
        if rated && let Some(invited) = &invited {
            ratings::check_rated_challenge(&self.server, &self.called(player), invited).await?;
        }
        if create.shuffle == Some(true) && self.server.rng.random_bool() {
            seats.reverse();
        }
        if !is_of_days && !self.connection.subscriptions.has_room() {
            return Err(SubscriptionLimit.into());
        }
        let settings = &self.server.settings;
        // A match that waits for one player is nobody else's business; nor is one that not anyone may watch.
        let may_be_listed =
            invited.is_none() && create.watch.unwrap_or_default() == WatchedBy::Anyone;
        let listed = may_be_listed && create.listed.unwrap_or(true);
        let terms = Terms {
            watch: create.watch,
            delay_ms: create.delay_ms.unwrap_or(0),
            clock: create.clock,
            takeback: create.takeback.unwrap_or(!rated),
            patience: settings.absence_limits(create.clock, create.patience_ms),
            stand_in,
            rated,
            thinking: create.thinking == Some(true),
            history: create.history != Some(false),
            start,
            invited: other,
            ..Terms::plain(listed, create.pace_ms.unwrap_or(0), 0)
        };
        Ok(CreateParams {
            game,
            host,
            terms,
            code: None,
            hosted_max: settings.live_matches_per_player,
            open_match_permit: self.open_match(&seats)?,
            seats,
        })
    }

    /// The permit for a match that waits for an opponent or is played by bots alone; `None` for others.
    fn open_match(&self, seats: &[Occupant; 2]) -> Result<Option<OpenMatchPermit>, WireError> {
        let has_people = seats.iter().any(|seat| seat.player().is_some());
        if has_people && !seats.contains(&Occupant::Open) {
            return Ok(None);
        }
        Ok(Some(self.permit.open_match()?))
    }

    pub(super) async fn seek(&self, player: &Player, wanted: SeekRequest, reply: Reply) {
        let bot_after = Duration::from_millis(wanted.bot_after_ms.unwrap_or(BOT_AFTER_MS));
        let Some((seek, reply)) = reply.require(self.sought(player, &wanted).await) else {
            return;
        };
        // Done if this is dropped in the midst of it, too.
        let unanswered = seek.reply_sent.clone().drop_guard();
        if let Some(cluster) = &self.server.cluster {
            let paired = cluster.add_seek(&self.server, &seek).await;
            let Some((paired, reply)) = reply.require(paired) else {
                return;
            };
            reply.ok(None);
            drop(unanswered);
            match paired {
                Some(paired) => {
                    let begun = cluster
                        .start_paired_match(&self.server, (seek.player, &seek.connection), paired)
                        .await;
                    if let Err(error) = begun {
                        Reply::unsolicited(self.outbox()).error(error);
                    }
                }
                None if seek.bot.is_some() => self.play_bot_after(bot_after, seek),
                None => {}
            }
            return;
        }
        let now_ms = self.server.clock.now_ms();
        let added = self
            .server
            .seeks
            .pair_or_add(&seek, now_ms, &self.server.block_cache);
        let Some((found, reply)) = reply.require(added) else {
            return;
        };
        reply.ok(None);
        drop(unanswered);
        match found {
            Some(longest) => {
                pairing::create_paired_match(&self.server, &longest, Some(&seek)).await
            }
            None if seek.bot.is_some() => self.play_bot_after(bot_after, seek),
            None => {}
        }
    }

    /// What a `seek` asks for.
    async fn sought(&self, player: &Player, wanted: &SeekRequest) -> Result<Arc<Seek>, WireError> {
        let game = from_protocol::game(&wanted.game)?;
        let bot = level(wanted.bot.as_deref())?;
        let stand_in = level(wanted.stand_in.as_deref())?;
        let rated = wanted.rated == Some(true);
        let called = self.called(player);
        let mut not = Vec::new();
        if rated {
            ratings::check_may_play_rated(&self.server, &called).await?;
            not = ratings::linked_accounts(&self.server, called.id).await?;
        }
        if wanted.clock.is_some_and(|clock| clock.is_of_days()) {
            correspondence::check_limit(&self.server, player.record.id).await?;
        } else {
            self.check_room(player.record.id).await?;
        }
        let is_of_days = wanted.clock.is_some_and(|clock| clock.is_of_days());
        let rating = ratings::shown_rating(&self.server, &called, game, is_of_days).await;
        let PlayerRecord { name, kind, .. } = called;
        Ok(Arc::new(Seek {
            connection: Arc::clone(&self.connection),
            player: player.record.id,
            name,
            kind,
            game,
            clock: wanted.clock,
            rated,
            excluded_players: not,
            rating,
            range: wanted.rating,
            bot,
            stand_in,
            created_ms: self.server.clock.now_ms(),
            widening_steps: AtomicU64::new(0),
            ended: CancellationToken::new(),
            reply_sent: CancellationToken::new(),
        }))
    }

    /// Whether a match between these may be rated: of people, or of programs, for whom a level may be the other.
    async fn check_rated(&self, player: &Player, seats: &[Occupant; 2]) -> Result<(), WireError> {
        let called = self.called(player);
        ratings::check_may_play_rated(&self.server, &called).await?;
        let has_level = seats.iter().any(|seat| seat.bot().is_some());
        if !has_level || called.kind == PlayerKind::Bot {
            return Ok(());
        }
        let message = "`rated` must be left out: only bots play the server's levels for ratings";
        Err(WireError {
            field: Some("rated".into()),
            ..WireError::new(ErrorCode::BadField, message)
        })
    }

    /// Whether the player may host one more match and this connection follow it. A bot that has waited for
    /// long makes room.
    async fn check_room(&self, player: PlayerId) -> Result<(), WireError> {
        let max = self.server.settings.live_matches_per_player;
        if !self.server.players.may_host(player, max) {
            match_creation::resign_idle_bot_game(&self.server, player).await;
        }
        if !self.server.players.may_host(player, max) {
            return Err(TooManyHosted.into());
        }
        if !self.connection.subscriptions.has_room() {
            return Err(SubscriptionLimit.into());
        }
        Ok(())
    }

    /// Pairs the seek with a bot if no person has come by then.
    fn play_bot_after(&self, bot_after: Duration, seek: Arc<Seek>) {
        let server = Arc::clone(&self.server);
        self.server.spawn(async move {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = seek.ended.cancelled() => {}
                () = server.shutdown.cancelled() => {}
                () = tokio::time::sleep(bot_after) => {
                    let is_free = server.seeks.remove(&seek)
                        && match &server.cluster {
                            Some(cluster) => cluster.end_seek(seek.player).await,
                            None => true,
                        };
                    if is_free {
                        pairing::create_paired_match(&server, &seek, None).await;
                    }
                }
            }
        });
    }
}

/// The position with which a match is to begin, as the game writes it.
fn start(game: &GameEntry, position: Option<&str>) -> Result<Option<String>, WireError> {
    let Some(text) = position else {
        return Ok(None);
    };
    let start = game
        .parse_initial_position(text.trim())
        .map_err(|why| WireError {
            field: Some("position".into()),
            ..WireError::new(
                ErrorCode::BadField,
                format!("`position` must be one from which play can go on: {why}"),
            )
        })?;
    Ok(Some(start.to_string()))
}

fn level(id: Option<&str>) -> Result<Option<Level>, WireError> {
    id.map(from_protocol::level).transpose()
}

/// Nobody challenges themselves.
fn check_invited(invited: Option<&str>, host: PlayerId) -> Result<(), WireError> {
    let is_host = |id: &str| from_protocol::player_id(id) == Some(host);
    if !invited.is_some_and(is_host) {
        return Ok(());
    }
    let message = "`for` must be another player";
    Err(WireError {
        field: Some("for".into()),
        ..WireError::new(ErrorCode::BadField, message)
    })
}

fn occupant(me: &Occupant, seat: SeatRequest) -> Result<Occupant, WireError> {
    match seat {
        SeatRequest::Me => Ok(me.clone()),
        SeatRequest::Open => Ok(Occupant::Open),
        SeatRequest::Bot(level) => from_protocol::level(&level).map(Occupant::Bot),
    }
}
