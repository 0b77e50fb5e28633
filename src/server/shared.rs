//! What every task of one server shares, and how a match comes into the world.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::addresses::{Addresses, OpenMatch};
use super::assisted::Assisted;
use super::bots::Bots;
use super::clock::{Chance, Clock};
use super::connections::Connections;
use super::lobby::{Full, Lobby};
use super::mailbox::mailbox;
use super::match_actor::MatchActor;
use super::match_handle::{Follower, MAILBOX, MatchHandle};
use super::metrics::Metrics;
use super::outbox::Outbox;
use super::peer::{Peer, PeerId};
use super::players::{Players, TooMany};
use super::reply::Reply;
use super::scoresheets;
use super::seeks::{Seek, Seeks};
use super::settings::Settings;
use plyhouse_engine::catalog::Entry;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, Event, Match, Occupant};
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, WireError};
use plyhouse_store::{Record, Store, WriteError};

/// What every task of one server shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) store: Arc<dyn Store>,
    pub(super) lobby: Lobby,
    pub(super) players: Players,
    pub(super) seeks: Seeks,
    pub(super) addresses: Addresses,
    pub(super) connections: Connections,
    pub(super) bots: Arc<Bots>,
    pub(super) clock: Clock,
    pub(super) chance: Chance,
    /// Cancelled when the server is to stop.
    pub(super) shutdown: CancellationToken,
    /// The same for those who ask with every request: to ask the token takes a lock that all threads
    /// share.
    is_stopping: AtomicBool,
    tasks: TaskTracker,
    runtime: runtime::Handle,
    next_peer: AtomicU64,
    pub(super) metrics: Arc<Metrics>,
    /// A permit for each scoresheet that is being written.
    pub(super) scoresheets: Semaphore,
}

/// A match that somebody wants.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) game: &'static Entry,
    pub(super) host: PlayerId,
    pub(super) seats: [Occupant; 2],
    pub(super) listed: bool,
    pub(super) pace: Duration,
    /// How many live matches the host may have with this one.
    pub(super) hosted_max: usize,
    /// The place that it takes while it waits for somebody.
    pub(super) open: Option<OpenMatch>,
}

impl Shared {
    pub(super) fn new(settings: Settings, store: Arc<dyn Store>) -> std::io::Result<Arc<Self>> {
        let metrics = Arc::new(Metrics::new(&store.tally().cloned().unwrap_or_default()));
        Ok(Arc::new(Self {
            bots: Arc::new(Bots::start(&settings, &metrics)?),
            chance: Chance::new(settings.seed),
            store,
            lobby: Lobby::default(),
            players: Players::default(),
            seeks: Seeks::new(settings.seeks_max),
            addresses: Addresses::new(&settings),
            connections: Connections::new(),
            clock: Clock::new(settings.started_ms),
            settings,
            shutdown: CancellationToken::new(),
            is_stopping: AtomicBool::new(false),
            tasks: TaskTracker::new(),
            runtime: runtime::Handle::current(),
            next_peer: AtomicU64::new(0),
            metrics,
            scoresheets: Semaphore::new(scoresheets::AT_ONCE_MAX),
        }))
    }

    /// Waits, unless the server is about to stop.
    pub(super) async fn put_off(&self, delay: Duration) {
        if !delay.is_zero() {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = self.shutdown.cancelled() => {}
                () = sleep(delay) => {}
            }
        }
    }

    /// Whether the server is about to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Runs a task that the end of the server waits for.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// Lets every task end, and waits for them.
    pub(super) async fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.shutdown.cancel();
        self.connections.close_all();
        self.lobby.forget_all();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Asks the lobby and the store for a match that there is not.
    pub(super) async fn answer(&self) {
        let _ = self.lobby.find(MatchRef::Nothing);
        let none = MatchId(uuid::Uuid::nil());
        // Whatever it answers, it has answered.
        let _ = self.store.load(none).await;
    }

    pub(super) fn new_peer(&self) -> Arc<Peer> {
        let id = PeerId(self.next_peer.fetch_add(1, Ordering::Relaxed));
        let settings = &self.settings;
        let (messages_max, bytes_max) = (settings.outbox_messages, settings.outbox_bytes);
        let outbox = Outbox::new(id, messages_max, bytes_max, &self.metrics);
        self.connections.add(&outbox);
        Peer::new(id, outbox, settings.following_max)
    }

    /// Has the store remember a player who is about to sit down or to host.
    pub(super) async fn remember(&self, player: PlayerId) -> Result<(), WireError> {
        let Some(record) = self.players.unstored(player) else {
            return Ok(());
        };
        self.store.add_player(record).await.map_err(|error| {
            tracing::error!(%player, %error, "player not stored");
            WireError::new(ErrorCode::Overloaded, "the store cannot keep this now")
        })?;
        self.players.stored(player);
        Ok(())
    }

    /// Brings a match into the world: stored, running in its own task, and known to the lobby.
    pub(super) async fn create(self: &Arc<Self>, wanted: Wanted) -> Result<MatchHandle, WireError> {
        self.remember(wanted.host).await?;
        let (id, code) = self
            .lobby
            .reserve(self.settings.matches_max, self.clock.now_ms(), &self.chance)
            .map_err(|Full| WireError::new(ErrorCode::Overloaded, "there are too many matches"))?;
        if let Err(TooMany) = self.players.host(wanted.host, id, wanted.hosted_max) {
            self.lobby.forget(id);
            return Err(too_many_hosted());
        }
        let creation = Creation {
            id,
            code,
            game: wanted.game,
            host: wanted.host,
            listed: wanted.listed,
            pace: wanted.pace,
            seed: self.chance.number(),
        };
        let events = first_events(wanted.seats);
        let (sender, messages) = mailbox(MAILBOX);
        let state = Match::new(creation.clone());
        let mut actor = MatchActor::new(Arc::clone(self), state, messages, wanted.open);
        let record = Record {
            creation,
            events: events.clone(),
        };
        if let Err(error) = self.keep(record).await {
            self.lobby.forget(id);
            self.players.unhost(wanted.host, id);
            return Err(error);
        }
        self.metrics.game(wanted.game).created.inc();
        tracing::debug!(match_id = %id, game = wanted.game.info.id, host = %wanted.host, "match created");
        actor.happen(&events);
        let task = Assisted::new();
        let handle = MatchHandle::new(actor.card(), sender, task.clone());
        self.lobby.open(handle.clone());
        self.spawn(task.begin(actor.run()));
        Ok(handle)
    }

    /// Has the store begin the record of a match.
    async fn keep(&self, record: Record) -> Result<(), WireError> {
        let id = record.creation.id;
        let Err(error) = self.store.create(record).await else {
            return Ok(());
        };
        tracing::error!(match_id = %id, %error, "match not stored");
        if matches!(error, WriteError::Unknown) {
            match self.store.load(id).await {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(match_id = %id, %error, "nobody knows whether there is a match");
                    let message = "the match may have been created or not";
                    return Err(WireError::new(ErrorCode::Internal, message));
                }
            }
        }
        let message = "the store cannot keep this now";
        Err(WireError::new(ErrorCode::Overloaded, message))
    }

    /// Seats two players who were looking for somebody, or one and a bot, and shows them the match.
    pub(super) async fn pair(self: &Arc<Self>, host: &Seek, other: Option<&Seek>) {
        let mut seats = [
            occupant(host),
            match (other, host.bot) {
                (Some(other), _) => occupant(other),
                (None, Some(level)) => Occupant::Bot(level),
                (None, None) => Occupant::Open,
            },
        ];
        if self.chance.coin() {
            seats.reverse();
        }
        let wanted = Wanted {
            game: host.game,
            host: host.follower.player,
            seats,
            listed: false,
            pace: Duration::ZERO,
            hosted_max: usize::MAX,
            open: None,
        };
        let created = match other {
            Some(other) => self.remember(other.follower.player).await,
            None => Ok(()),
        };
        let created = match created {
            Ok(()) => self.create(wanted).await,
            Err(error) => Err(error),
        };
        let paired = [Some(host), other].into_iter().flatten();
        match created {
            Ok(handle) => {
                // By now a player may have another connection than the one that was waiting.
                let connection = |seek: &Seek| {
                    let player = seek.follower.player;
                    let peer = self.players.peer(player)?;
                    peer.follow_again(&handle)
                        .then_some(Follower { peer, player })
                };
                handle.show(paired.filter_map(connection).collect()).await;
            }
            Err(error) => {
                for seek in paired {
                    Reply::unasked(seek.follower.peer.outbox.clone()).error(error.clone());
                }
            }
        }
    }

    /// Shows a player's connection the live matches that it does not follow: those that an older
    /// connection has come into while it was being replaced.
    pub(super) async fn catch_up(&self, player: PlayerId) {
        let Some(peer) = self.players.peer(player) else {
            return;
        };
        for id in self.players.live_matches(player) {
            if let Some(handle) = self.lobby.find(MatchRef::Id(id))
                && peer.follow_again(&handle)
            {
                let peer = Arc::clone(&peer);
                handle.show(vec![Follower { peer, player }]).await;
            }
        }
    }
}

fn occupant(seek: &Seek) -> Occupant {
    Occupant::Player {
        id: seek.follower.player,
        name: seek.name.clone(),
    }
}

/// The events of the seats that are filled from the start.
fn first_events(seats: [Occupant; 2]) -> Vec<Event> {
    let is_full = !seats.contains(&Occupant::Open);
    let seated = Seat::ALL.into_iter().zip(seats);
    let seated = seated.filter(|(_, occupant)| *occupant != Occupant::Open);
    let mut events: Vec<Event> = seated
        .map(|(seat, occupant)| Event::Seated { seat, occupant })
        .collect();
    if is_full {
        events.push(Event::Started);
    }
    events
}

pub(super) fn too_many_hosted() -> WireError {
    WireError::new(
        ErrorCode::TooManyMatches,
        "you host as many live matches as is allowed",
    )
}
