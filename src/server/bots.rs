//! Where bots think: a fixed number of threads, away from the network, and a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::panics::Panics;
use super::settings::{Search, Settings};
use crate::catalog::AnyPosition;
use crate::search::{Level, Limits, Stop, Table};

/// A bot waits in the queue for at most this many times what it may think, then moves unthinking.
const PATIENCE: u32 = 10;

/// The search threads.
#[derive(Debug)]
pub(super) struct Bots {
    search_time: Duration,
    table_bytes: usize,
    threads: Option<Threads>,
}

#[derive(Debug)]
struct Threads {
    queue: SyncSender<Job>,
    room: Arc<Semaphore>,
}

/// What a bot is to think about.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) position: Box<dyn AnyPosition>,
    pub(super) level: Level,
    pub(super) seed: u64,
    /// Ends the thinking early.
    pub(super) stop: Stop,
}

#[derive(Debug)]
struct Job {
    question: Question,
    limits: Limits,
    answer: oneshot::Sender<Option<String>>,
    _room: OwnedSemaphorePermit,
}

impl Bots {
    /// Starts the threads. They end when this is dropped.
    pub(super) fn start(settings: &Settings, panics: &Panics) -> std::io::Result<Self> {
        let threads = match settings.search {
            Search::Inline => None,
            Search::Threads(threads) => Some(Threads::start(threads.max(1), settings, panics)?),
        };
        Ok(Self {
            search_time: settings.search_time,
            table_bytes: settings.search_table,
            threads,
        })
    }

    /// The bot's move. `None` if it found none, for whatever reason: no room, no time, a panic.
    pub(super) async fn think(&self, question: Question) -> Option<String> {
        let limits = Limits {
            time: Some(self.search_time),
            ..Limits::default()
        };
        let Some(threads) = &self.threads else {
            return question.search(&limits, &mut Table::new(self.table_bytes));
        };
        let thinking = async {
            let room = Arc::clone(&threads.room).acquire_owned().await.ok()?;
            let (answer, thought) = oneshot::channel();
            let job = Job {
                question,
                limits,
                answer,
                _room: room,
            };
            // There is room for as many as there are permits.
            threads.queue.try_send(job).ok()?;
            thought.await.ok()?
        };
        tokio::time::timeout(self.search_time * PATIENCE, thinking)
            .await
            .ok()?
    }
}

impl Threads {
    fn start(count: usize, settings: &Settings, panics: &Panics) -> std::io::Result<Self> {
        let (room, table_bytes) = (settings.search_queue.max(1), settings.search_table);
        let (queue, jobs) = sync_channel(room);
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..count {
            let (jobs, panics) = (Arc::clone(&jobs), panics.clone());
            thread::Builder::new()
                .name(format!("search-{number}"))
                .spawn(move || work(&jobs, Table::new(table_bytes), &panics))?;
        }
        Ok(Self {
            queue,
            room: Arc::new(Semaphore::new(room)),
        })
    }
}

/// Every thread has a table of its own, which forgets between searches.
fn work(jobs: &Mutex<Receiver<Job>>, mut table: Table, panics: &Panics) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job {
            question,
            limits,
            answer,
            ..
        }) = job
        else {
            return; // The server is gone.
        };
        if question.stop.is_stopped() || answer.is_closed() {
            continue;
        }
        let found = catch_unwind(AssertUnwindSafe(|| question.search(&limits, &mut table)));
        // Nobody may be waiting any more.
        let _ = answer.send(found.unwrap_or_else(|_| {
            let panics = panics.count();
            tracing::error!(panics, "a search panicked; the bot moves without it");
            None
        }));
    }
}

impl Question {
    fn search(&self, limits: &Limits, table: &mut Table) -> Option<String> {
        self.position
            .choose(self.level, self.seed, limits, &self.stop, table)
            .map(|choice| choice.m)
    }
}
