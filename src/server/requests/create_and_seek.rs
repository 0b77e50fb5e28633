//! Requests to create a match (`create`) and to find an opponent (`seek`).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Client, Player};
use crate::cluster_tasks;
use crate::connection::ip_limits::OpenMatchPermit;
use crate::connection::reply::Reply;
use crate::context::limit_reached::LimitReached;
use crate::match_handle::command::MatchRequest;
use crate::matchmaking::create_params;
use crate::matchmaking::create_params::CreateParams;
use crate::matchmaking::match_creation;
use crate::matchmaking::paired_match_creation::create_paired_match;
use crate::matchmaking::seek_queue::Seek;
use crate::players::block_loading;
use crate::players::player_lookup;
use crate::players::ratings;
use crate::schedule::correspondence_matches;
use crate::wire::error_replies::bad_field_error;
use crate::wire::from_protocol;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{
    CreateRequest, PlayerId, PlayerKind, SeatRequest, SeekRequest, SpectatorAccess, WireError,
};

/// Default time that a player's seek waits for a human opponent, in milliseconds. After that, the
/// player is paired with a bot.
const DEFAULT_BOT_DELAY_MS: u64 = 10_000;

impl Client {
    pub(super) async fn create_match(&self, player: &Player, create: CreateRequest, reply: Reply) {
        let params = self.resolve_create_params(player, create).await;
        let Some((params, reply)) = reply.require(params) else {
            return;
        };
        let is_bots_only = params.seats.iter().all(|seat| seat.bot_level().is_some());
        let created = match_creation::create_match(&self.server, params).await;
        if let Some((handle, reply)) = reply.require(created) {
            if is_bots_only {
                cluster_tasks::hand_over_match(&self.server, handle.id());
            }
            let command = self.new_command(player, MatchRequest::Watch);
            self.follow_match(&handle, command, reply).await;
        }
    }

    /// Resolves the game, host, terms and seats of a `create` request.
    async fn resolve_create_params(
        &self,
        player: &Player,
        create: CreateRequest,
    ) -> Result<CreateParams, WireError> {
        let infra = &self.server.infra;
        let host = player.record.id;
        check_not_self_challenge(create.invited.as_deref(), host)?;
        let game = from_protocol::game(&create.game)?;
        let initial_position = parse_initial_position(game, create.position.as_deref())?;
        let [first, second] = create.seats.unwrap_or(SeatRequest::DEFAULT);
        let is_correspondence = create.clock.is_some_and(|clock| clock.is_correspondence());
        let host_record = self.current_record(player);
        let rating = ratings::shown_rating(infra, &host_record, game, is_correspondence).await;
        let host_occupant = create_params::player_occupant(host_record, rating);
        let mut seats = [
            to_occupant(&host_occupant, first)?,
            to_occupant(&host_occupant, second)?,
        ];
        let stand_in = parse_level(create.stand_in.as_deref())?;
        let rated = create.rated == Some(true);
        if rated {
            self.check_may_be_rated(player, &seats).await?;
        }
        let invited = match create.invited {
            Some(id) => Some(player_lookup::find_player(&self.server, &id).await?),
            None => None,
        };
        let invited_id = invited.as_ref().map(|invited| invited.id);
        if block_loading::is_unpairable_with_any(&self.server, host, invited_id).await? {
            return Err(block_loading::blocked_error());
        }
        if rated && let Some(invited) = &invited {
            ratings::check_rated_challenge(infra, &self.current_record(player), invited).await?;
        }
        if create.shuffle == Some(true) && infra.rng.random_bool() {
            seats.reverse();
        }
        if !is_correspondence && !self.connection.subscriptions.has_room() {
            return Err(LimitReached::FollowedMatches.into());
        }
        let settings = &infra.settings;
        // A match appears in lists only if no player is invited and everyone may watch it.
        let may_be_listed = invited.is_none()
            && create.spectator_access.unwrap_or_default() == SpectatorAccess::Anyone;
        let listed = may_be_listed && create.listed.unwrap_or(true);
        let terms = Terms {
            spectator_access: create.spectator_access,
            spectator_delay_ms: create.spectator_delay_ms.unwrap_or(0),
            clock: create.clock,
            takebacks_allowed: create.takebacks_allowed.unwrap_or(!rated),
            absence_limits: settings.absence_limits(create.clock, create.absence_limit_ms),
            stand_in,
            rated,
            shows_bot_thinking: create.shows_bot_thinking == Some(true),
            in_histories: create.in_histories != Some(false),
            initial_position,
            invited: invited_id,
            ..Terms::with_defaults(listed, create.bot_delay_ms.unwrap_or(0), 0)
        };
        Ok(CreateParams {
            game,
            host,
            terms,
            code: None,
            hosted_max: settings.live_matches_per_player,
            open_match_permit: self.acquire_open_match_permit(&seats)?,
            seats,
        })
    }

    /// Acquires the permit for a match that waits for an opponent or is played by bots only.
    /// Returns `None` for other matches.
    fn acquire_open_match_permit(
        &self,
        seats: &[Occupant; 2],
    ) -> Result<Option<OpenMatchPermit>, WireError> {
        let has_people = seats.iter().any(|seat| seat.player().is_some());
        if has_people && !seats.contains(&Occupant::Open) {
            return Ok(None);
        }
        Ok(Some(self.connection_permit.acquire_open_match()?))
    }

    pub(super) async fn start_seek(&self, player: &Player, request: SeekRequest, reply: Reply) {
        let bot_delay = Duration::from_millis(request.bot_after_ms.unwrap_or(DEFAULT_BOT_DELAY_MS));
        let Some((seek, reply)) = reply.require(self.build_seek(player, &request).await) else {
            return;
        };
        // The guard sets `reply_sent` even if this future is dropped.
        let reply_guard = seek.reply_sent.clone().drop_guard();
        if let Some(cluster) = &self.server.infra.cluster {
            let paired = cluster.add_seek(&self.server, &seek).await;
            let Some((paired, reply)) = reply.require(paired) else {
                return;
            };
            reply.ok(None);
            drop(reply_guard);
            match paired {
                Some(paired) => {
                    let start_result = cluster
                        .start_paired_match(
                            &self.server,
                            (seek.player.id, &seek.connection),
                            paired,
                        )
                        .await;
                    if let Err(error) = start_result {
                        Reply::unsolicited(self.outbox()).error(error);
                    }
                }
                None if seek.bot.is_some() => self.pair_with_bot_after(bot_delay, seek),
                None => {}
            }
            return;
        }
        let now_ms = self.server.now_ms();
        let (seeks, blocks) = (
            &self.server.matchmaking.seeks,
            &self.server.identity.block_cache,
        );
        let added = seeks.pair_or_add(&seek, now_ms, blocks);
        let Some((paired_seek, reply)) = reply.require(added) else {
            return;
        };
        reply.ok(None);
        drop(reply_guard);
        match paired_seek {
            Some(older_seek) => {
                create_paired_match(&self.server, &older_seek, Some(&seek)).await;
            }
            None if seek.bot.is_some() => self.pair_with_bot_after(bot_delay, seek),
            None => {}
        }
    }

    /// Builds the seek for a player's request to find an opponent.
    async fn build_seek(
        &self,
        player: &Player,
        request: &SeekRequest,
    ) -> Result<Arc<Seek>, WireError> {
        let game = from_protocol::game(&request.game)?;
        let bot = parse_level(request.bot.as_deref())?;
        let stand_in = parse_level(request.stand_in.as_deref())?;
        let rated = request.rated == Some(true);
        let record = self.current_record(player);
        let mut excluded_players = Vec::new();
        if rated {
            ratings::check_may_play_rated(&self.server, &record).await?;
            excluded_players = ratings::linked_accounts(&self.server.infra, record.id).await?;
        }
        let is_correspondence = request.clock.is_some_and(|clock| clock.is_correspondence());
        match is_correspondence {
            true => correspondence_matches::check_limit(&self.server.infra, record.id).await?,
            false => self.check_match_limits(record.id).await?,
        }
        let rating =
            ratings::shown_rating(&self.server.infra, &record, game, is_correspondence).await;
        Ok(Arc::new(Seek {
            connection: Arc::clone(&self.connection),
            player: record,
            game,
            clock: request.clock,
            rated,
            excluded_players,
            rating,
            range: request.rating_range,
            bot,
            stand_in,
            created_ms: self.server.now_ms(),
            widening_steps: AtomicU64::new(0),
            ended: CancellationToken::new(),
            reply_sent: CancellationToken::new(),
        }))
    }

    /// Checks that a match between these seats may be rated. Only bot accounts may play rated
    /// matches against the server's bots.
    async fn check_may_be_rated(
        &self,
        player: &Player,
        seats: &[Occupant; 2],
    ) -> Result<(), WireError> {
        let record = self.current_record(player);
        ratings::check_may_play_rated(&self.server, &record).await?;
        let has_level = seats.iter().any(|seat| seat.bot_level().is_some());
        if !has_level || record.kind == PlayerKind::Bot {
            return Ok(());
        }
        let message =
            "only bot accounts can play rated matches against the server's bots: omit `rated`";
        Err(bad_field_error("rated", message))
    }

    /// Checks that the player may host another match and that this connection may follow it. If the
    /// player hosts too many matches, this method first tries to end an idle match against a bot.
    async fn check_match_limits(&self, player: PlayerId) -> Result<(), WireError> {
        let max = self.server.infra.settings.live_matches_per_player;
        if !self.server.identity.players.may_host(player, max) {
            match_creation::resign_idle_bot_game(&self.server, player).await;
        }
        if !self.server.identity.players.may_host(player, max) {
            return Err(LimitReached::HostedMatches.into());
        }
        if !self.connection.subscriptions.has_room() {
            return Err(LimitReached::FollowedMatches.into());
        }
        Ok(())
    }

    /// Pairs the seek with a bot if no opponent is found within `delay`.
    fn pair_with_bot_after(&self, delay: Duration, seek: Arc<Seek>) {
        self.server.spawn(|server| async move {
            tokio::select! {
                biased; // The fixed poll order keeps simulated runs reproducible.
                () = seek.ended.cancelled() => {}
                () = server.infra.tasks.shutdown.cancelled() => {}
                () = tokio::time::sleep(delay) => {
                    let was_pending = server.matchmaking.seeks.remove(&seek)
                        && match &server.infra.cluster {
                            Some(cluster) => cluster.end_seek(seek.player.id).await,
                            None => true,
                        };
                    if was_pending {
                        create_paired_match(&server, &seek, None).await;
                    }
                }
            }
        });
    }
}

/// Parses the initial position of a match and returns it in the game's notation.
fn parse_initial_position(
    game: &GameEntry,
    position: Option<&str>,
) -> Result<Option<String>, WireError> {
    let parse = |text: &str| match game.parse_initial_position(text.trim()) {
        Ok(parsed_position) => Ok(parsed_position.to_string()),
        Err(why) => {
            let message = format!("`position` cannot be played: {why}");
            Err(bad_field_error("position", message))
        }
    };
    position.map(parse).transpose()
}

fn parse_level(id: Option<&str>) -> Result<Option<Level>, WireError> {
    id.map(from_protocol::level).transpose()
}

/// Checks that the host has not challenged themselves.
fn check_not_self_challenge(invited: Option<&str>, host: PlayerId) -> Result<(), WireError> {
    let is_host = |id: &str| from_protocol::player_id(id) == Some(host);
    if !invited.is_some_and(is_host) {
        return Ok(());
    }
    let message = "`for` must be another player";
    Err(bad_field_error("for", message))
}

fn to_occupant(host: &Occupant, seat: SeatRequest) -> Result<Occupant, WireError> {
    match seat {
        SeatRequest::Me => Ok(host.clone()),
        SeatRequest::Open => Ok(Occupant::Open),
        SeatRequest::Bot(level) => from_protocol::level(&level).map(Occupant::Bot),
    }
}
