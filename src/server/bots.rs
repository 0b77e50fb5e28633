//! Where bots think: a fixed number of threads, away from the network, and a bounded queue.

mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

pub(super) use self::queue::{Class, Priority};
use self::queue::{Job, Queue, Task};
use super::context::clock::now;
use super::context::metrics::{GaugeGuard, Metrics};
use super::settings::{SearchMode, Settings};
use plyhouse_engine::catalog::{AnyPosition, MoveChoice};
use plyhouse_engine::search::{BotClock, Level, Limits, Report, Stop, TranspositionTable};
use plyhouse_protocol::PlayerId;

/// A bot waits in the queue for at most this many times what it may think, then moves unthinking.
const PATIENCE: u32 = 10;

/// The search threads.
#[derive(Debug)]
pub(super) struct Bots {
    search_time: Duration,
    table_bytes: usize,
    threads: Option<Threads>,
    metrics: Arc<Metrics>,
}

/// They end when this is dropped.
#[derive(Debug)]
struct Threads(Arc<Queue>, usize);

/// What is told on the way of a search.
pub(super) type Watch = Box<dyn FnMut(&Report<String>) + Send>;

/// What a bot is to think about.
pub(super) struct SearchRequest {
    pub(super) position: Box<dyn AnyPosition>,
    pub(super) level: Level,
    pub(super) seed: u64,
    /// The player whose match it is.
    pub(super) host: PlayerId,
    /// For how long it may think at most, beside what holds for all; by the clock of the match.
    pub(super) budget: Option<BotClock>,
    /// Whether somebody waits for the answer, and not only other bots and who watches them.
    pub(super) has_people: bool,
    /// Ends the thinking early.
    pub(super) stop: Stop,
    /// Who looks on, if anybody does.
    pub(super) watch: Option<Watch>,
}

impl Bots {
    /// Starts the threads. They end when this is dropped.
    pub(super) fn start(settings: &Settings, metrics: &Arc<Metrics>) -> std::io::Result<Self> {
        let threads = match settings.search {
            SearchMode::Inline => None,
            SearchMode::Threads(threads) => {
                Some(Threads::start(threads.max(1), settings, metrics)?)
            }
        };
        Ok(Self {
            search_time: settings.search_time,
            table_bytes: settings.search_table,
            threads,
            metrics: Arc::clone(metrics),
        })
    }

    /// The bot's move, and what it thinks of the position. `None` if it found none, for whatever
    /// reason: no room, no time, a panic.
    pub(super) async fn think(&self, mut question: SearchRequest) -> Option<MoveChoice> {
        let budget = question
            .budget
            .map(|clock| clock.search_time(self.search_time));
        let limits = Limits::time(budget.unwrap_or(self.search_time));
        if self.threads.is_none() {
            return self.think_here(question, &limits);
        }
        let place = Priority {
            host: question.host,
            class: match question.has_people {
                true => Class::People,
                false => Class::Bots,
            },
            level: question.level,
        };
        let metrics = Arc::clone(&self.metrics);
        let search =
            move |table: &mut TranspositionTable| question.search(&limits, table, &metrics);
        let found = self.lend(place, self.search_time * PATIENCE, search).await;
        if found.is_none() {
            self.metrics.searches_missed.inc();
        }
        found.flatten()
    }

    /// Has `work` done by a search thread with its table, once it is its turn. `None` if that did not come in
    /// time, or it panicked. Where there are no threads it is done at once.
    pub(super) async fn lend<T: Send + 'static>(
        &self,
        place: Priority,
        patience: Duration,
        work: impl FnOnce(&mut TranspositionTable) -> T + Send + 'static,
    ) -> Option<T> {
        let Some(threads) = &self.threads else {
            return Some(work(&mut TranspositionTable::new(self.table_bytes)));
        };
        let waiting = GaugeGuard::new(&self.metrics.searches_waiting);
        let (answer, done) = oneshot::channel();
        let working = async {
            let room = threads.0.room(place.class).await?;
            let task = Task::new(move |table| {
                if !answer.is_closed() {
                    // Nobody may be waiting any more.
                    let _ = answer.send(work(table));
                }
            });
            threads.0.add(Job {
                place,
                task,
                waiting,
                room,
            });
            done.await.ok()
        };
        let done = tokio::time::timeout(patience, working).await;
        done.ok().flatten()
    }

    /// How many searches there can be at a time.
    pub(super) fn threads(&self) -> usize {
        self.threads.as_ref().map_or(1, |threads| threads.1)
    }

    /// Searches on the thread of whoever asks. It takes the time that the server's clock shows, which
    /// is none where that is paused: what a bot is charged does not depend on the machine there.
    fn think_here(&self, mut question: SearchRequest, limits: &Limits) -> Option<MoveChoice> {
        let began = now();
        let mut table = TranspositionTable::new(self.table_bytes);
        let mut found = question.search(limits, &mut table, &self.metrics)?;
        found.report.time = now().saturating_duration_since(began);
        Some(found)
    }
}

impl Threads {
    fn start(count: usize, settings: &Settings, metrics: &Arc<Metrics>) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::new(settings));
        let threads = Self(Arc::clone(&queue), count);
        for number in 0..count {
            let queue = Arc::clone(&queue);
            let (table_bytes, metrics) = (settings.search_table, Arc::clone(metrics));
            thread::Builder::new()
                .name(format!("search-{number}"))
                .spawn(move || {
                    give_way();
                    work(&queue, TranspositionTable::new(table_bytes), &metrics);
                })?;
        }
        Ok(threads)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Lets every other thread run first: a search takes all it gets, and a message that waits for one
/// takes next to nothing.
#[cfg(target_os = "linux")]
fn give_way() {
    /// The least that Linux knows.
    const NICE: i32 = 19;
    // There the call is about the thread. Who may not even be modest thinks as others do.
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "search threads do not give way");
    }
}

/// Elsewhere it is about the whole process.
#[cfg(not(target_os = "linux"))]
const fn give_way() {}

/// Every thread has a table of its own, which forgets between searches.
fn work(queue: &Queue, mut table: TranspositionTable, metrics: &Metrics) {
    while let Some(job) = queue.take() {
        let Job {
            place,
            task,
            waiting,
            room,
        } = job;
        drop((room, waiting));
        if catch_unwind(AssertUnwindSafe(|| task.run(&mut table))).is_err() {
            let panics = metrics.panics.inc() + 1;
            tracing::error!(
                panics,
                "a search panicked; whoever asked goes on without it"
            );
        }
        queue.finished(place.host);
    }
}

impl SearchRequest {
    fn search(
        &mut self,
        limits: &Limits,
        table: &mut TranspositionTable,
        metrics: &Metrics,
    ) -> Option<MoveChoice> {
        if self.stop.is_stopped() {
            return None;
        }
        let choice = {
            let _running = GaugeGuard::new(&metrics.searches_running);
            let (position, level, seed) = (&self.position, self.level, self.seed);
            match &mut self.watch {
                None => position.choose_move(level, seed, limits, &self.stop, table),
                Some(watch) => position
                    .choose_move_with_progress(level, seed, limits, &self.stop, table, watch),
            }?
        };
        metrics
            .search_time
            .observe(choice.report.time.as_secs_f64());
        metrics.search_nodes.inc_by(choice.report.nodes);
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::catalog;

    /// What a bot is charged in a world whose clock is paused is the same on every machine.
    #[tokio::test(start_paused = true)]
    async fn a_search_takes_no_paused_time() {
        let settings = Settings {
            search: SearchMode::Inline,
            search_time: Duration::from_millis(5),
            ..Settings::default()
        };
        let bots = Bots::start(&settings, &Arc::default()).expect("no threads");
        let chess = catalog::find_game("chess").expect("it is there");
        let question = SearchRequest {
            position: chess.initial_position(),
            level: Level::Max,
            seed: 1,
            host: PlayerId(uuid::Uuid::nil()),
            budget: None,
            has_people: true,
            stop: Stop::new(),
            watch: None,
        };
        let choice = bots.think(question).await.expect("there are moves");
        assert_eq!(choice.report.time, Duration::ZERO);
    }
}
