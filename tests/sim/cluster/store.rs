//! In-memory store that all servers of a world share. Each server has its own simulated connection
//! to the store.

mod directory;
mod write_log;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use plyhouse_store::port_types::*;
use plyhouse_store::{
    ArchiveStore, CommandStore, IdentityStore, JournalStore, MemoryStore, RatingStore, Store,
    delegate_archive_store, delegate_identity_store, delegate_journal_store, delegate_rating_store,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

pub(crate) use self::write_log::{Journal, JournalEntry, JournalWrite};
use super::event_queue::EventQueue;
use super::fault_plan::StorePlan;
use crate::rng::SimRng;

/// How long requests take to fail while the connection to the store is cut.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(700);

/// Store that all servers share. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct SharedStore {
    pub(super) memory: Arc<MemoryStore>,
    pub(super) journal: Arc<Mutex<Journal>>,
    pub(super) queue: EventQueue,
    /// Whether the store rejects an append that does not continue at the end of the match's
    /// journal.
    pub(super) has_fencing: bool,
}

/// Connection of one server to the shared store. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct StoreConnection {
    shared_store: SharedStore,
    node: NodeId,
    state: Arc<Mutex<State>>,
    /// Runtime of the server. The store calls the server's match factory in this runtime, so that
    /// the factory uses the server's clock.
    server_runtime: Handle,
}

#[derive(Debug)]
struct State {
    rng: SimRng,
    plan: StorePlan,
    /// Whether the connection is cut.
    is_cut_off: bool,
    /// Whether the server was killed.
    is_dead: bool,
    is_healthy: bool,
    /// Time of the last scheduled write. No later write is scheduled before this time, so that the
    /// store applies writes in the order of their requests.
    last_write_at: Duration,
}

/// Simulated timing and outcome of a request to the store.
struct RequestPlan {
    /// When the store serves the request.
    served_at: Duration,
    /// Latency of the reply.
    reply_latency: Duration,
    /// Whether the request fails without an effect.
    is_rejected: bool,
    /// Whether a write returns `OutcomeUnknown`. The store may apply such a write or drop it.
    is_outcome_unknown: bool,
    is_applied: bool,
}

impl SharedStore {
    pub(super) fn new(queue: EventQueue, has_fencing: bool) -> Self {
        Self {
            memory: Arc::default(),
            journal: Arc::default(),
            queue,
            has_fencing,
        }
    }
}

impl State {
    fn random_latency(&mut self) -> Duration {
        Duration::from_micros(self.rng.between(self.plan.latency_us.clone()))
    }

    fn plan_request(&mut self, now: Duration, rejected_percent: u64) -> RequestPlan {
        let (at, reply_latency) = (now + self.random_latency(), self.random_latency());
        let is_rejected = self.rng.chance(rejected_percent);
        let is_outcome_unknown = self.rng.chance(self.plan.unknown_outcome_percent);
        let is_applied = !is_outcome_unknown || self.rng.chance(50);
        RequestPlan {
            served_at: if self.is_cut_off {
                now + REQUEST_TIMEOUT
            } else {
                at
            },
            reply_latency,
            is_rejected: is_rejected || self.is_cut_off,
            is_outcome_unknown,
            is_applied,
        }
    }
}

impl StoreConnection {
    pub(super) fn new(
        shared_store: SharedStore,
        node: NodeId,
        (plan, rng): (StorePlan, SimRng),
        server_runtime: Handle,
    ) -> Self {
        let state = State {
            rng,
            plan,
            is_cut_off: false,
            is_dead: false,
            is_healthy: true,
            last_write_at: Duration::ZERO,
        };
        Self {
            shared_store,
            node,
            state: Arc::new(Mutex::new(state)),
            server_runtime,
        }
    }

    pub(super) fn set_cut_off(&self, is_cut_off: bool) {
        self.state.lock().is_cut_off = is_cut_off;
    }

    /// Stops random failures. Requests still fail while the connection is cut.
    pub(super) fn stop_faults(&self) {
        let plan = &mut self.state.lock().plan;
        *plan = plan.clone().without_faults();
    }

    /// Marks the server as killed. Its later writes are dropped.
    pub(super) fn mark_dead(&self) {
        self.state.lock().is_dead = true;
    }

    async fn write<T, F>(&self, write: F) -> Result<T, WriteError>
    where
        T: Send + 'static,
        F: FnOnce(&SharedStore) -> Result<T, WriteError> + Send + 'static,
    {
        let (reply, receiver) = oneshot::channel();
        self.enqueue_write(write, reply);
        // If the server was killed, its write is dropped together with the reply sender.
        let result = receiver.await.unwrap_or(Err(WriteError::OutcomeUnknown));
        self.state.lock().is_healthy = !matches!(
            result,
            Err(WriteError::Unavailable | WriteError::OutcomeUnknown)
        );
        result
    }

    /// Schedules a write. Killing the server before the scheduled time does not cancel the write.
    fn enqueue_write<T, F>(&self, write: F, reply: oneshot::Sender<Result<T, WriteError>>)
    where
        T: Send + 'static,
        F: FnOnce(&SharedStore) -> Result<T, WriteError> + Send + 'static,
    {
        let mut state = self.state.lock();
        if state.is_dead {
            return;
        }
        let rejected_percent = state.plan.rejected_percent;
        let request = state.plan_request(self.shared_store.queue.now(), rejected_percent);
        if request.is_rejected {
            return self
                .shared_store
                .queue
                .schedule(request.served_at, move || {
                    let _ = reply.send(Err(WriteError::Unavailable));
                });
        }
        let at = request.served_at.max(state.last_write_at);
        state.last_write_at = at;
        let connection = self.clone();
        self.shared_store.queue.schedule(at, move || {
            let result = match request.is_applied {
                true => write(&connection.shared_store),
                false => Err(WriteError::OutcomeUnknown),
            };
            let queue = connection.shared_store.queue.clone();
            queue.schedule(at + request.reply_latency, move || {
                let is_lost = request.is_outcome_unknown || connection.state.lock().is_cut_off;
                // Sending fails if the requester has stopped waiting, which is not an error.
                let _ = reply.send(if is_lost {
                    Err(WriteError::OutcomeUnknown)
                } else {
                    result
                });
            });
        });
    }

    async fn read<T, F>(&self, read: F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, ReadError>> + Send + 'static,
    {
        let (reply, receiver) = oneshot::channel();
        let request = {
            let mut state = self.state.lock();
            let failure_percent = state.plan.read_failure_percent;
            state.plan_request(self.shared_store.queue.now(), failure_percent)
        };
        let connection = self.clone();
        self.shared_store
            .queue
            .schedule(request.served_at, move || {
                let result = match request.is_rejected {
                    true => Err(ReadError::Unavailable),
                    false => resolve_now(read(&connection.shared_store.memory)),
                };
                let queue = connection.shared_store.queue.clone();
                queue.schedule(request.served_at + request.reply_latency, move || {
                    let _ = reply.send(match connection.state.lock().is_cut_off {
                        true => Err(ReadError::Unavailable),
                        false => result,
                    });
                });
            });
        receiver.await.unwrap_or(Err(ReadError::Unavailable))
    }

    /// Writes with a method of the in-memory store.
    fn write_memory<T, F>(&self, write: F) -> BoxFuture<'_, Result<T, WriteError>>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, WriteError>> + Send + 'static,
    {
        self.write(move |shared| resolve_now(write(&shared.memory)))
            .boxed()
    }

    /// Appends `count` events by `append`, which receives the position at which to append them.
    fn write_append<F>(
        &self,
        id: MatchId,
        after: JournalPosition,
        count: usize,
        append: F,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>>
    where
        F: FnOnce(&MemoryStore, JournalPosition) -> Result<JournalPosition, WriteError>
            + Send
            + 'static,
    {
        let node = self.node;
        self.write(move |shared| {
            let result = append(&shared.memory, shared.append_position(id, after));
            let is_conflict = result == Err(WriteError::Conflict);
            shared.journal.lock().fenced_writes += usize::from(is_conflict);
            let position = result?;
            let (epoch, after) = (after.epoch(), after.seq());
            let write = JournalWrite::Appended {
                epoch,
                after,
                count,
            };
            shared.record_write(node, id, write);
            Ok(position)
        })
        .boxed()
    }

    /// Reads with a method of the in-memory store.
    fn read_memory<T, F>(&self, read: F) -> BoxFuture<'_, Result<T, ReadError>>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, ReadError>> + Send + 'static,
    {
        self.read(read).boxed()
    }
}

/// Returns the result of a future of the in-memory store, which never waits.
fn resolve_now<T>(future: BoxFuture<'_, T>) -> T {
    future
        .now_or_never()
        .expect("the memory store is always ready")
}

impl JournalStore for StoreConnection {
    delegate_journal_store!(
        self.read_memory():
        load, tail, find_by_code, unowned, load_live_matches, due_reminders, due_reminder_count,
        participations
    );

    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.write(move |shared| {
            let (id, events) = (record.creation.id, record.events.len());
            let position = resolve_now(shared.memory.create(owner, record))?;
            shared.record_write(owner, id, JournalWrite::Created { events });
            Ok(position)
        })
        .boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let count = events.len();
        self.write_append(id, after, count, move |memory, append_at| {
            resolve_now(memory.append_with_reminder(id, append_at, events, reminder))
        })
    }

    fn append_end(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        ended: Box<EndedMatch>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let count = events.len();
        self.write_append(id, after, count, move |memory, append_at| {
            resolve_now(memory.append_end(id, append_at, events, ended))
        })
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| {
            resolve_now(shared.memory.claim(id, owner))?;
            shared.record_takeover(owner, id);
            Ok(())
        })
        .boxed()
    }

    fn release(&self, id: MatchId) {
        let (reply, _receiver) = oneshot::channel();
        let release = move |shared: &SharedStore| {
            shared.memory.release(id);
            Ok(())
        };
        self.enqueue_write(release, reply);
    }
}

impl IdentityStore for StoreConnection {
    delegate_identity_store!(self.write_memory(): add_player, change_identity);
    delegate_identity_store!(
        self.read_memory():
        find_session, sessions, find_pairing, find_by_recovery_key, find_by_name_skeleton, blocks,
        account, player_by_id
    );
}

impl RatingStore for StoreConnection {
    delegate_rating_store!(
        self.read_memory():
        rating_progress, ledger, load_ratings_for, posted_updates, ratings_after, ratings,
        leaderboard, rated_ban_until, changes_of_match
    );
    delegate_rating_store!(self.write_memory(): change_ratings);
}

impl ArchiveStore for StoreConnection {
    delegate_archive_store!(
        self.read_memory():
        history, results, explore, analysis, first_analysis_request_ms
    );
    delegate_archive_store!(self.write_memory(): store_analysis, count_analysis_request);
}

impl CommandStore for StoreConnection {}

impl Store for StoreConnection {
    fn is_healthy(&self) -> bool {
        self.state.lock().is_healthy
    }
}
