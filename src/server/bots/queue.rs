//! Queue of search jobs, and the order of their execution by the search threads.
//!
//! Searches that a player waits for run first, then searches in matches between bots, then analyses
//! of ended matches. Within a class, hosts take turns: a host's second job waits until the first
//! job of every other host has started. Among jobs with the same turn number, the jobs of weaker
//! bots run first, because weaker bots need almost no search time. The number of concurrent
//! searches per host is limited.
//!
//! The turn numbers follow start-time fair queueing (Goyal, Vin and Cheng, 1996), where every
//! search has a cost of one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::metrics::GaugeGuard;
use crate::settings::Settings;
use plyhouse_engine::search::{Level, TranspositionTable};
use plyhouse_protocol::PlayerId;

/// A queued search.
pub(super) struct Job {
    pub(super) priority: Priority,
    pub(super) task: Task,
    pub(super) waiting_gauge: GaugeGuard,
    /// Permit for the job's place in the queue.
    pub(super) queue_permit: OwnedSemaphorePermit,
}

/// Properties that determine the order of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priority {
    /// Player on whose behalf the job runs. Jobs of different players take turns, and each player's
    /// concurrent searches are limited.
    pub(crate) host: PlayerId,
    pub(crate) class: SearchClass,
    /// Level of the bot. Weaker bots need less time.
    pub(crate) level: Level,
}

/// Class of a job. All jobs of an earlier class run before the jobs of a later class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchClass {
    /// A player waits for the result.
    Human,
    /// Only bots play the match.
    BotsOnly,
    /// Analysis of an ended match.
    Analysis,
}

impl SearchClass {
    const COUNT: usize = 3;
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.priority).finish()
    }
}

/// Work that a search thread runs with its transposition table.
pub(super) type Task = Box<dyn FnOnce(&mut TranspositionTable) + Send>;

/// Jobs that wait for a search thread.
#[derive(Debug)]
pub(super) struct Queue {
    searches_per_player: usize,
    /// Permits for queued jobs, by class. No class can use the places of another class.
    queue_permits: [Arc<Semaphore>; SearchClass::COUNT],
    backlog: Mutex<Backlog>,
    job_added: Condvar,
}

#[derive(Debug, Default)]
struct Backlog {
    /// Queued jobs with their turn numbers. Each class has its own list, in order of arrival.
    jobs: [VecDeque<(u64, Job)>; SearchClass::COUNT],
    /// Highest turn number of all jobs that have started so far. A new job never gets a lower turn
    /// number.
    turn: u64,
    /// Turn number of each host's most recently added job. The queue removes entries whose turn
    /// number is lower than the current `turn`.
    last_turns: HashMap<PlayerId, u64>,
    /// Number of running searches by host. Hosts without a running search have no entry.
    running_searches: HashMap<PlayerId, usize>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(settings: &Settings) -> Self {
        let new_permits = || Arc::new(Semaphore::new(settings.search_queue.max(1)));
        Self {
            searches_per_player: settings.searches_per_player.max(1),
            queue_permits: [new_permits(), new_permits(), new_permits()],
            backlog: Mutex::default(),
            job_added: Condvar::new(),
        }
    }

    /// Waits for a free place in the queue of this class.
    pub(super) async fn acquire_permit(&self, class: SearchClass) -> Option<OwnedSemaphorePermit> {
        let permits = Arc::clone(&self.queue_permits[class as usize]);
        permits.acquire_owned().await.ok()
    }

    pub(super) fn add(&self, job: Job) {
        let Priority { host, class, .. } = job.priority;
        let mut backlog = self.backlog.lock();
        let turn = backlog.next_turn(host);
        backlog.jobs[class as usize].push_back((turn, job));
        drop(backlog);
        self.job_added.notify_one();
    }

    /// Waits for the next job. The caller must call [`finish`](Self::finish) after it has run the
    /// job. Returns `None` once the queue is closed.
    pub(super) fn take(&self) -> Option<Job> {
        let mut backlog = self.backlog.lock();
        loop {
            if backlog.is_closed {
                return None;
            }
            if let Some(job) = backlog.pop_next(self.searches_per_player) {
                return Some(job);
            }
            self.job_added.wait(&mut backlog);
        }
    }

    /// Records that a job of this host has finished. This method wakes no other thread, so the
    /// calling thread must take the next job itself.
    pub(super) fn finish(&self, host: PlayerId) {
        let mut backlog = self.backlog.lock();
        if let Some(count) = backlog.running_searches.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                backlog.running_searches.remove(&host);
            }
        }
    }

    /// Drops all queued jobs and makes every [`take`](Self::take) return `None`.
    pub(super) fn close(&self) {
        let jobs = {
            let mut backlog = self.backlog.lock();
            backlog.is_closed = true;
            std::mem::take(&mut backlog.jobs)
        };
        drop(jobs);
        self.job_added.notify_all();
    }
}

impl Backlog {
    /// Assigns the next turn number to a host and returns the number.
    fn next_turn(&mut self, host: PlayerId) -> u64 {
        let turn = self.last_turns.get(&host).map_or(0, |last| last + 1);
        let turn = turn.max(self.turn);
        self.last_turns.insert(host, turn);
        turn
    }

    fn pop_next(&mut self, searches_per_player: usize) -> Option<Job> {
        let running_searches = &mut self.running_searches;
        for jobs in &mut self.jobs {
            let is_allowed = |job: &Job| {
                let count = running_searches.get(&job.priority.host);
                count.is_none_or(|count| *count < searches_per_player)
            };
            let numbered = jobs.iter().enumerate();
            let allowed = numbered.filter(|(_, (_, job))| is_allowed(job));
            // Jobs with the same turn number and level run in order of arrival.
            let next = allowed.min_by_key(|(_, (turn, job))| (*turn, job.priority.level));
            let Some((turn, job)) = next.map(|(at, _)| at).and_then(|at| jobs.remove(at)) else {
                continue;
            };
            *running_searches.entry(job.priority.host).or_default() += 1;
            self.turn = self.turn.max(turn);
            let current_turn = self.turn;
            self.last_turns.retain(|_, last| *last >= current_turn);
            return Some(job);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn player(number: u128) -> PlayerId {
        PlayerId(uuid::Uuid::from_u128(number))
    }

    const fn class_for(has_human: bool) -> SearchClass {
        if has_human {
            SearchClass::Human
        } else {
            SearchClass::BotsOnly
        }
    }

    fn add(queue: &Queue, host: u128, has_human: bool) {
        add_to(queue, host, class_for(has_human));
    }

    fn add_to(queue: &Queue, host: u128, class: SearchClass) {
        let permit = queue
            .acquire_permit(class)
            .now_or_never()
            .expect("the queue has a free permit");
        queue.add(Job {
            priority: Priority {
                host: player(host),
                class,
                level: Level::Max,
            },
            task: Box::new(|_| {}),
            waiting_gauge: GaugeGuard::new(&Default::default()),
            queue_permit: permit.expect("the semaphore is open"),
        });
    }

    /// Takes the next job. Returns the job's host and `true` if a player waits for the job.
    fn pop_next(queue: &Queue) -> Option<(PlayerId, bool)> {
        let job = queue.backlog.lock().pop_next(queue.searches_per_player)?;
        Some((job.priority.host, job.priority.class == SearchClass::Human))
    }

    fn small_queue() -> Queue {
        Queue::new(&Settings {
            search_queue: 3,
            searches_per_player: 2,
            ..Settings::default()
        })
    }

    #[test]
    fn human_searches_come_before_bot_searches() {
        let queue = small_queue();
        for (host, has_human) in [(1, false), (2, true), (3, false), (4, true)] {
            add(&queue, host, has_human);
        }
        let order: Vec<_> = std::iter::from_fn(|| pop_next(&queue)).collect();
        let expect = [(2, true), (4, true), (1, false), (3, false)];
        assert_eq!(
            order,
            expect.map(|(host, has_human)| (player(host), has_human))
        );
    }

    #[test]
    fn analyses_of_ended_matches_come_last() {
        let queue = small_queue();
        for (host, class) in [
            (1, SearchClass::Analysis),
            (2, SearchClass::BotsOnly),
            (3, SearchClass::Analysis),
            (4, SearchClass::Human),
        ] {
            add_to(&queue, host, class);
        }
        let order: Vec<_> = std::iter::from_fn(|| pop_next(&queue)).collect();
        assert_eq!(
            order.iter().map(|(host, _)| *host).collect::<Vec<_>>(),
            [4, 2, 1, 3].map(player)
        );
    }

    #[test]
    fn hosts_take_turns() {
        let queue = Queue::new(&Settings {
            search_queue: 9,
            searches_per_player: 9,
            ..Settings::default()
        });
        for host in [1, 1, 1, 2, 2, 3] {
            add(&queue, host, true);
        }
        let mut order: Vec<_> = (0..4).map_while(|_| pop_next(&queue)).collect();
        // Host 4 adds its first job only now. Its turn numbers begin at the current turn, not at
        // zero.
        for host in [4, 4, 3] {
            add(&queue, host, true);
        }
        order.extend(std::iter::from_fn(|| pop_next(&queue)));
        let expect = [1, 2, 3, 1, 2, 4, 3, 1, 4].map(|host| (player(host), true));
        assert_eq!(order, expect);
        assert!(queue.backlog.lock().last_turns.len() <= 2);
    }

    #[test]
    fn host_is_limited_to_searches_per_player() {
        let queue = small_queue();
        for host in [1, 1, 1] {
            add(&queue, host, true);
        }
        add(&queue, 2, false);
        assert_eq!(pop_next(&queue), Some((player(1), true)));
        assert_eq!(pop_next(&queue), Some((player(1), true)));
        assert_eq!(pop_next(&queue), Some((player(2), false)));
        assert_eq!(pop_next(&queue), None);
        queue.finish(player(2));
        assert_eq!(pop_next(&queue), None);
        queue.finish(player(1));
        assert_eq!(pop_next(&queue), Some((player(1), true)));
        for host in [1, 1] {
            queue.finish(player(host));
        }
        assert!(queue.backlog.lock().running_searches.is_empty());
    }

    #[test]
    fn full_bot_queue_leaves_room_for_humans() {
        let queue = small_queue();
        for host in 0..3 {
            add(&queue, host, false);
        }
        assert!(
            queue
                .acquire_permit(SearchClass::BotsOnly)
                .now_or_never()
                .is_none()
        );
        assert!(
            queue
                .acquire_permit(SearchClass::Human)
                .now_or_never()
                .is_some()
        );
        assert!(
            queue
                .acquire_permit(SearchClass::Analysis)
                .now_or_never()
                .is_some()
        );
    }

    #[test]
    fn closed_queue_drops_jobs_and_yields_none() {
        let queue = small_queue();
        add(&queue, 1, true);
        queue.close();
        assert!(queue.take().is_none());
        assert!(queue.backlog.lock().jobs.iter().all(VecDeque::is_empty));
    }
}
