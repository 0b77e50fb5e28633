//! What bots are to think about, and in which order.
//!
//! Where somebody waits, thinking comes first; bots among themselves take what is left, and matches that have
//! ended what is left by these. Hosts take
//! turns: whoever has many bots thinking waits for the second until everybody has had a first. Among
//! those whose turn it is, weak bots are asked first, since they take next to no time. Nobody's matches
//! take more than a few threads, however many there are.
//!
//! The turns are those of start-time fair queueing (Goyal, Vin and Cheng, 1996), every search being
//! counted as one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::metrics::GaugeGuard;
use crate::settings::Settings;
use plyhouse_engine::search::{Level, TranspositionTable};
use plyhouse_protocol::PlayerId;

/// Something to think about.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) place: Priority,
    pub(super) task: Task,
    pub(super) waiting: GaugeGuard,
    /// Its place in the queue.
    pub(super) room: OwnedSemaphorePermit,
}

/// Whose turn something is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priority {
    /// The player for whom it is done.
    pub(crate) host: PlayerId,
    /// What it is for.
    pub(crate) class: Class,
    /// How strong the bot is; those that are weak need little.
    pub(crate) level: Level,
}

/// What is thought about for whom. All of the first come before any of the second, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Somebody waits for it.
    People,
    /// Bots among themselves.
    Bots,
    /// Matches that have ended.
    Past,
}

impl Class {
    const COUNT: usize = 3;
}

/// What a search thread does with its table.
pub(super) struct Task(Box<dyn FnOnce(&mut TranspositionTable) + Send>);

impl Task {
    pub(super) fn new(task: impl FnOnce(&mut TranspositionTable) + Send + 'static) -> Self {
        Self(Box::new(task))
    }

    pub(super) fn run(self, table: &mut TranspositionTable) {
        (self.0)(table);
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

/// What waits for a search thread.
#[derive(Debug)]
pub(super) struct Queue {
    per_player: usize,
    /// How many more may wait, by class: so none takes the room of another.
    rooms: [Arc<Semaphore>; Class::COUNT],
    backlog: Mutex<Backlog>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct Backlog {
    /// By class; each with its turn, in the order of their coming.
    jobs: [VecDeque<(u64, Job)>; Class::COUNT],
    /// The turn that was taken last.
    turn: u64,
    /// The last turn of hosts that have had one since.
    last_turns: HashMap<PlayerId, u64>,
    /// In whose matches so many bots are thinking.
    thinking: HashMap<PlayerId, usize>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(settings: &Settings) -> Self {
        let room = || Arc::new(Semaphore::new(settings.search_queue.max(1)));
        Self {
            per_player: settings.searches_per_player.max(1),
            rooms: [room(), room(), room()],
            backlog: Mutex::default(),
            filled: Condvar::new(),
        }
    }

    /// Waits for room for one more.
    pub(super) async fn room(&self, class: Class) -> Option<OwnedSemaphorePermit> {
        let room = Arc::clone(&self.rooms[class as usize]);
        room.acquire_owned().await.ok()
    }

    pub(super) fn add(&self, job: Job) {
        let Priority { host, class, .. } = job.place;
        let mut waiting = self.backlog.lock();
        let turn = waiting.next_turn(host);
        waiting.jobs[class as usize].push_back((turn, job));
        drop(waiting);
        self.filled.notify_one();
    }

    /// Waits for something to think about; [`finished`](Self::finished) is to be told of it. `None`
    /// once there will be nothing more.
    pub(super) fn take(&self) -> Option<Job> {
        let mut waiting = self.backlog.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(job) = waiting.next(self.per_player) {
                return Some(job);
            }
            self.filled.wait(&mut waiting);
        }
    }

    /// Notes that a bot of this player's has done thinking. The thread that tells so asks for the
    /// next, so nobody else has to be woken.
    pub(super) fn finished(&self, host: PlayerId) {
        let mut waiting = self.backlog.lock();
        if let Some(count) = waiting.thinking.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                waiting.thinking.remove(&host);
            }
        }
    }

    /// Lets every thread end, and drops what waits.
    pub(super) fn close(&self) {
        let jobs = {
            let mut waiting = self.backlog.lock();
            waiting.is_closed = true;
            std::mem::take(&mut waiting.jobs)
        };
        drop(jobs);
        self.filled.notify_all();
    }
}

impl Backlog {
    /// The turn of what this host adds now.
    fn next_turn(&mut self, host: PlayerId) -> u64 {
        let turn = self.last_turns.get(&host).map_or(0, |last| last + 1);
        let turn = turn.max(self.turn);
        self.last_turns.insert(host, turn);
        turn
    }

    fn next(&mut self, per_player: usize) -> Option<Job> {
        let thinking = &mut self.thinking;
        for jobs in &mut self.jobs {
            let may = |job: &Job| {
                let count = thinking.get(&job.place.host);
                count.is_none_or(|count| *count < per_player)
            };
            let admitted = jobs.iter().enumerate().filter(|(_, (_, job))| may(job));
            // Of those alike the first that came.
            let next = admitted.min_by_key(|(_, (turn, job))| (*turn, job.place.level));
            let Some((turn, job)) = next.map(|(at, _)| at).and_then(|at| jobs.remove(at)) else {
                continue;
            };
            *thinking.entry(job.place.host).or_default() += 1;
            self.turn = self.turn.max(turn);
            let now = self.turn;
            self.last_turns.retain(|_, last| *last >= now);
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

    const fn class(has_people: bool) -> Class {
        if has_people {
            Class::People
        } else {
            Class::Bots
        }
    }

    fn add(queue: &Queue, host: u128, has_people: bool) {
        add_to(queue, host, class(has_people));
    }

    fn add_to(queue: &Queue, host: u128, class: Class) {
        let room = queue.room(class).now_or_never().expect("there is room");
        queue.add(Job {
            place: Priority {
                host: player(host),
                class,
                level: Level::Max,
            },
            task: Task::new(|_| {}),
            waiting: GaugeGuard::new(&Default::default()),
            room: room.expect("it is open"),
        });
    }

    /// Whose turn it is, and whether somebody waits for it.
    fn next(queue: &Queue) -> Option<(PlayerId, bool)> {
        let job = queue.backlog.lock().next(queue.per_player)?;
        Some((job.place.host, job.place.class == Class::People))
    }

    fn queue() -> Queue {
        Queue::new(&Settings {
            search_queue: 3,
            searches_per_player: 2,
            ..Settings::default()
        })
    }

    #[test]
    fn who_waits_comes_before_bots_among_themselves() {
        let queue = queue();
        for (host, has_people) in [(1, false), (2, true), (3, false), (4, true)] {
            add(&queue, host, has_people);
        }
        let order: Vec<_> = std::iter::from_fn(|| next(&queue)).collect();
        let expect = [(2, true), (4, true), (1, false), (3, false)];
        assert_eq!(order, expect.map(|(host, people)| (player(host), people)));
    }

    #[test]
    fn what_has_ended_comes_last() {
        let queue = queue();
        for (host, class) in [
            (1, Class::Past),
            (2, Class::Bots),
            (3, Class::Past),
            (4, Class::People),
        ] {
            add_to(&queue, host, class);
        }
        let order: Vec<_> = std::iter::from_fn(|| next(&queue)).collect();
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
        let mut order: Vec<_> = (0..4).map_while(|_| next(&queue)).collect();
        // Who comes late has nothing to make up for, and nothing to catch up with.
        for host in [4, 4, 3] {
            add(&queue, host, true);
        }
        order.extend(std::iter::from_fn(|| next(&queue)));
        let expect = [1, 2, 3, 1, 2, 4, 3, 1, 4].map(|host| (player(host), true));
        assert_eq!(order, expect);
        assert!(queue.backlog.lock().last_turns.len() <= 2);
    }

    #[test]
    fn nobody_takes_all_threads() {
        let queue = queue();
        for host in [1, 1, 1] {
            add(&queue, host, true);
        }
        add(&queue, 2, false);
        assert_eq!(next(&queue), Some((player(1), true)));
        assert_eq!(next(&queue), Some((player(1), true)));
        assert_eq!(next(&queue), Some((player(2), false)));
        assert_eq!(next(&queue), None);
        queue.finished(player(2));
        assert_eq!(next(&queue), None);
        queue.finished(player(1));
        assert_eq!(next(&queue), Some((player(1), true)));
        for host in [1, 1] {
            queue.finished(player(host));
        }
        assert!(queue.backlog.lock().thinking.is_empty());
    }

    #[test]
    fn a_full_queue_of_bots_leaves_room_for_people() {
        let queue = queue();
        for host in 0..3 {
            add(&queue, host, false);
        }
        assert!(queue.room(Class::Bots).now_or_never().is_none());
        assert!(queue.room(Class::People).now_or_never().is_some());
        assert!(queue.room(Class::Past).now_or_never().is_some());
    }

    #[test]
    fn a_closed_queue_lets_its_threads_go() {
        let queue = queue();
        add(&queue, 1, true);
        queue.close();
        assert!(queue.take().is_none());
        assert!(queue.backlog.lock().jobs.iter().all(VecDeque::is_empty));
    }
}
