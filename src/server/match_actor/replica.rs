//! A match that is decided on another server: here is a copy of it, for those who follow it here.
//!
//! The copy is fed by the match's owner, and reads in the store what it may have missed. What changes the
//! match is asked of the owner. If there is no owner any more, the match is taken over, and is decided
//! here from then on.

mod forward;
mod sync;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use plyhouse_bus::RequestError;
use plyhouse_matches::{Stage, TurnTime};
use plyhouse_protocol::{ErrorCode, Seq};
use plyhouse_store::{JournalPosition, NodeId};
use tokio::time::sleep_until;

use super::{End, GOES_ON, LOST, MatchActor, next_letter, refuse_closed};
use crate::cluster::PacketResponse;
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::match_handle::Envelope;
use crate::match_handle::command::{Answer, MatchRequest};
use crate::match_handle::replication::{Presence, Standing};

/// How long a copy waits for what it knows to have happened, before it reads it in the store.
const DOUBT: Duration = Duration::from_millis(1500);

/// How often a copy that hears nothing asks to be fed, lest something was missed.
const FOLLOW_EVERY: Duration = Duration::from_secs(5);

/// How often the owner is told of spectators alone who come and go.
const CROWD_EVERY: Duration = Duration::from_millis(250);

/// After how long the owner is looked for again, when it did not answer.
const AGAIN: Duration = Duration::from_millis(200);

/// How long an owner may not know of its match before it is taken over: it may be reading it.
const UNKNOWN_MAX: Duration = Duration::from_secs(2);

/// How many requests are on their way to the owner at a time. It takes no more by itself.
const ASKED_AT_ONCE: usize = 64;

/// How long a snapshot waits for the owner's clock. After that it is sent without the clock.
const CLOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// How many requests for snapshots wait for the owner's clock at a time. Those beyond are answered without it.
const CLOCK_WAITERS_MAX: usize = 1024;

/// For how long a copy is kept that nobody follows.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// A match that is decided elsewhere.
#[derive(Debug)]
pub(super) struct Replica {
    /// Who owns it; `None` if it has ended and nobody serves it.
    owner: Option<NodeId>,
    /// A mark of its journal that is known to have been there.
    mark: JournalPosition,
    epoch: u64,
    asked: FuturesUnordered<BoxFuture<'static, Asked>>,
    /// What the owner is asked, by number.
    asking: BTreeMap<u64, Box<Envelope>>,
    asked_count: u64,
    /// Answers that wait until what they tell of has been told.
    answers: Vec<Waiting>,
    standing: Option<Standing>,
    /// When the standing was told, by which its times count.
    stood_at: Instant,
    /// Epoch of the owner that sent the standing, and the last event before it.
    stood_for: (u64, Seq),
    /// Since when the owner's clock for the present event has not been known here.
    clock_unknown_since: Option<Instant>,
    /// Requests for a snapshot that wait for the owner's clock.
    clock_waiters: VecDeque<Box<Envelope>>,
    /// All followers are to get a snapshot once the owner's clock is known.
    owes_snapshots: bool,
    /// A snapshot was sent without the clock.
    owes_clock: bool,
    /// Who was there when the owner was told.
    roster: Option<Presence>,
    /// When the owner is told, and asked to feed this copy.
    follow_at: Option<Instant>,
    /// When that was done last.
    followed_at: Option<Instant>,
    /// When what may have been missed is read in the store.
    doubts_at: Option<Instant>,
    /// When the present turn was told.
    turn_told_at: Instant,
    /// An owner that has ended, as far as anybody can be asked.
    suspected: Option<NodeId>,
    /// Since when the owner has not known of the match.
    unknown_since: Option<Instant>,
    /// What is asked again, and when.
    later: VecDeque<(Instant, Box<Envelope>)>,
    /// Since when nobody has followed it here.
    idle_since: Option<Instant>,
}

/// What has become of something that the owner was asked.
#[derive(Debug)]
enum Asked {
    Follow(Result<PacketResponse, RequestError>),
    /// What was asked by this number.
    Command(u64, Result<PacketResponse, RequestError>),
}

/// An answer that waits until an event has been told.
#[derive(Debug)]
struct Waiting {
    seq: Seq,
    since: Instant,
    letter: Box<Envelope>,
    answer: Answer,
}

impl Replica {
    /// Its owner is this one, and its journal has been read up to this mark.
    pub(super) fn new(owner: Option<NodeId>, mark: JournalPosition) -> Box<Self> {
        Box::new(Self {
            owner,
            mark,
            epoch: mark.epoch(),
            asked: FuturesUnordered::new(),
            asking: BTreeMap::new(),
            asked_count: 0,
            answers: Vec::new(),
            standing: None,
            stood_at: now(),
            stood_for: (0, Seq(0)),
            clock_unknown_since: None,
            clock_waiters: VecDeque::new(),
            owes_snapshots: false,
            owes_clock: false,
            roster: None,
            follow_at: owner.map(|_| now()),
            followed_at: None,
            doubts_at: None,
            turn_told_at: now(),
            suspected: None,
            unknown_since: None,
            later: VecDeque::new(),
            idle_since: None,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let idle_at = self.idle_since.map(|since| since + IDLE_MAX);
        let again_at = self.later.front().map(|(at, _)| *at);
        let clock_at = self.clock_deadline();
        [self.follow_at, self.doubts_at, again_at, idle_at, clock_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// How the clock stands at this event, if the owner has sent that.
    fn turn_time(&self, seq: Seq) -> Option<TurnTime> {
        let passed = now().saturating_duration_since(self.stood_at);
        let standing = self.standing.as_ref();
        standing
            .filter(|_| self.stood_for == (self.epoch, seq))?
            .time_after(passed)
    }

    /// For how long each seat's player may still be gone, as the owner has told.
    pub(super) fn gone_ms(&self) -> [Option<u64>; 2] {
        let passed = now().saturating_duration_since(self.stood_at);
        let standing = self.standing.as_ref();
        standing.map_or([None; 2], |standing| standing.gone_ms_after(passed))
    }

    fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    async fn answered(&mut self) -> Option<Asked> {
        poll_fn(|context| match self.asked.poll_next_unpin(context) {
            Poll::Ready(None) => Poll::Pending,
            other => other,
        })
        .await
    }
}

impl MatchActor {
    /// From now on the match is decided there; `None` for one that has ended and that nobody serves.
    pub(crate) fn is_afar(&mut self, owner: Option<NodeId>, mark: JournalPosition) {
        self.replica = Some(Replica::new(owner, mark));
        self.replicas = None;
        self.broadcaster.has_elsewhere(None);
    }

    fn afar(&mut self) -> &mut Replica {
        self.replica
            .as_mut()
            .expect("the match is decided elsewhere")
    }

    /// The copy has been read up to this mark.
    pub(super) fn read_anew(&mut self, mark: JournalPosition) {
        let afar = self.afar();
        afar.mark = mark;
        afar.epoch = mark.epoch();
        afar.follow_at = afar.owner.map(|_| now());
    }

    /// How the clock stands, as far as that is known here.
    pub(super) fn turn_time(&self) -> Option<TurnTime> {
        match &self.replica {
            Some(afar) => afar.turn_time(self.state.seq()),
            None => self.leader.time.turn_time(&self.state),
        }
    }

    /// Serves those who follow the match here, until it is decided here or nobody follows it.
    pub(super) async fn serve_afar(&mut self) -> End {
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.attend_delayed();
            self.attend_afar();
            self.attend_clock();
            let delayed_at = self
                .delayed_view
                .as_ref()
                .and_then(|delayed| delayed.deadline());
            let afar = self
                .replica
                .as_mut()
                .expect("the match is decided elsewhere");
            let deadline = afar
                .deadline()
                .into_iter()
                .chain(self.broadcaster.deadline())
                .chain(delayed_at)
                .min();
            if let Some(deadline) = deadline.map(Into::into)
                && alarm.deadline() != deadline
            {
                alarm.as_mut().reset(deadline);
            }
            let has_asked = afar.has_asked();
            let going = tokio::select! {
                biased; // What is due goes first, then what was asked first.
                () = &mut alarm, if deadline.is_some() => self.on_time_afar().await,
                Some(asked) = afar.answered(), if has_asked => self.on_asked(asked).await,
                letter = next_letter(&mut self.held, &mut self.mailbox) => match letter {
                    Some(letter) => self.on_letter_afar(letter).await,
                    None => ControlFlow::Break(End::Over),
                },
            };
            self.flush();
            if let ControlFlow::Break(end) = going {
                if end != End::Lost {
                    self.unfollow_afar();
                }
                return end;
            }
        }
    }

    /// Reads in the store what has happened, where the owner cannot be heard who would tell it.
    async fn catch_up_unheard(&mut self) -> ControlFlow<End> {
        let owner = self.afar().owner;
        let cluster = self.server.cluster.as_ref();
        match (owner, cluster) {
            (Some(owner), Some(cluster)) if !cluster.is_node_reachable(owner) => {
                self.read_missed().await
            }
            _ => GOES_ON,
        }
    }

    /// Takes note of who is there, for which the owner is asked to feed this copy.
    fn attend_afar(&mut self) {
        self.note_crowd();
        let roster = self.broadcaster.own_roster(&self.state);
        let has_followers = self.broadcaster.has_followers();
        let has_ended = matches!(self.state.stage(), Stage::Ended { .. });
        let is_needed = has_followers || (!has_ended && self.is_of_somebody_here());
        let afar = self.afar();
        afar.idle_since = match is_needed {
            true => None,
            false => Some(afar.idle_since.unwrap_or_else(now)),
        };
        let told = afar.roster.as_ref();
        let is_news = told != Some(&roster);
        if is_news && afar.owner.is_some() {
            // A crowd comes and goes many at a time: of them the owner is told now and then.
            let is_crowd = told.is_some_and(|told| told.is_but_for_spectators(&roster));
            let pause = if is_crowd {
                CROWD_EVERY
            } else {
                Duration::ZERO
            };
            let at = afar
                .followed_at
                .map_or_else(now, |followed| now().max(followed + pause));
            afar.follow_at = Some(afar.follow_at.map_or(at, |known| known.min(at)));
        }
    }

    /// Whether somebody is connected here who has a part in the match.
    fn is_of_somebody_here(&self) -> bool {
        let players = self.state.holders().chain([self.state.creation().host]);
        let mut players = players.chain(self.state.creation().terms.invited);
        players.any(|player| self.server.players.is_connected(player))
    }

    async fn on_time_afar(&mut self) -> ControlFlow<End> {
        let now = now();
        let gone_ms = self.afar().gone_ms();
        self.broadcaster.on_time(&self.state, now, || gone_ms);
        self.tell_delayed(now);
        while let Some((_, letter)) = self.afar().later.pop_front_if(|(at, _)| *at <= now) {
            self.held.push_back(letter);
        }
        if self.afar().follow_at.is_some_and(|at| at <= now) {
            self.follow_afar();
        }
        if self.afar().doubts_at.is_some_and(|at| at <= now) {
            self.read_missed().await?;
        }
        let idle_since = self.afar().idle_since;
        if idle_since.is_some_and(|since| since + IDLE_MAX <= now) {
            let waits = self.waits_for_snapshot();
            let is_idle = || !waits && self.held.is_empty() && self.mailbox.is_empty();
            if self.server.lobby.remove_if_idle(self.state.id(), is_idle) {
                return ControlFlow::Break(End::Over);
            }
            self.afar().idle_since = Some(now);
        }
        GOES_ON
    }

    /// Tells the owner who is there, and asks it to feed this copy.
    fn follow_afar(&mut self) {
        let (id, roster) = (self.state.id(), self.broadcaster.own_roster(&self.state));
        let Some(afar) = self.replica.as_mut() else {
            return;
        };
        let (Some(owner), Some(cluster)) = (afar.owner, &self.server.cluster) else {
            afar.follow_at = None;
            return;
        };
        afar.roster = Some(roster.clone());
        afar.follow_at = Some(now() + FOLLOW_EVERY);
        afar.followed_at = Some(now());
        let followed = cluster.follow_match(owner, id, Some(roster));
        afar.asked.push(followed.map(Asked::Follow).boxed());
    }

    /// Asks the owner to feed this copy no more.
    fn unfollow_afar(&mut self) {
        let (id, owner) = (self.state.id(), self.afar().owner);
        if let (Some(owner), Some(cluster)) = (owner, &self.server.cluster) {
            let unfollowed = cluster.follow_match(owner, id, None);
            self.server.spawn(async move {
                // An owner that does not hear it finds out when this server is gone.
                let _ = unfollowed.await;
            });
        }
    }

    async fn on_letter_afar(&mut self, letter: Box<Envelope>) -> ControlFlow<End> {
        let Envelope { command, reply } = *letter;
        if self.is_closed_to(&command) {
            refuse_closed(&command, reply);
            return GOES_ON;
        }
        if command.relayed.is_some() {
            return GOES_ON; // It was sent to the owner, who is elsewhere by now: it asks again.
        }
        let Some(Envelope { command, reply }) = self.wait_for_clock(Envelope { command, reply })
        else {
            return GOES_ON;
        };
        match &command.request {
            MatchRequest::Act(action) => {
                return self.act_afar(command.clone(), action, reply).await;
            }
            MatchRequest::Say { .. } if !self.follows(&command) => {
                reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            }
            MatchRequest::Say { .. }
            | MatchRequest::Rematch
            | MatchRequest::DeclineRematch
            | MatchRequest::GiveUp => {
                return self.hand_on(command, reply).await;
            }
            MatchRequest::Watch | MatchRequest::Show => {
                self.catch_up_unheard().await?;
                let Some(reply) = self.watch_delayed(&command, reply) else {
                    return GOES_ON;
                };
                let is_seated = self.state.seat_of(command.player).is_some();
                if let Some(reply) = self.broadcaster.admit(&command, is_seated, reply) {
                    self.tell_snapshot_afar(&command, reply);
                }
            }
            MatchRequest::Resync { since } => {
                self.catch_up_unheard().await?;
                let Some(reply) = self.resync_delayed(&command, *since, reply) else {
                    return GOES_ON;
                };
                let resync = (*since, self.beside().time);
                self.broadcaster
                    .resync(&self.state, &command, resync, reply);
            }
            MatchRequest::Unfollow => self.dismiss_silently(&command),
            MatchRequest::ReplicaUpdate(bulletin) => return self.on_fed(bulletin).await,
            request => return self.on_hint_afar(request, reply).await,
        }
        GOES_ON
    }

    /// Takes in what others have to tell of the match and those who are in it.
    async fn on_hint_afar(&mut self, request: &MatchRequest, reply: Reply) -> ControlFlow<End> {
        match request {
            MatchRequest::Remind => {
                self.tell_whose_turn();
                reply.ok(None);
            }
            MatchRequest::Rated(verdict) => {
                self.keep_verdict(verdict);
                reply.ok(None);
            }
            MatchRequest::Forget { player, name } => {
                let may_name = self.forget(*player, name);
                reply.ok(None);
                if may_name {
                    return LOST;
                }
            }
            MatchRequest::Gap => {
                self.afar().doubts_at = Some(now());
                self.afar().follow_at = self.afar().owner.map(|_| now());
                reply.ok(None);
            }
            MatchRequest::NodeGone { node, .. } => {
                reply.ok(None);
                if self.afar().owner == Some(*node) {
                    return self.look_for_owner(Some(*node)).await;
                }
            }
            MatchRequest::Follow { .. } => {} // Whoever asks looks for the owner again.
            MatchRequest::OwnerChanged { by } => {
                if let Some(owner) = by {
                    self.owner_is(*owner);
                }
                reply.ok(None);
            }
            MatchRequest::NodesChanged
            | MatchRequest::Look
            | MatchRequest::StoreRefuses { .. }
            | MatchRequest::StoreAccepts
            | MatchRequest::RematchBegins { .. } => reply.ok(None),
            other => unreachable!("{other:?} is served elsewhere"),
        }
        GOES_ON
    }
}
