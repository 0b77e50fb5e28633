//! Search threads, which run bot searches and analyses separately from the network threads.
//! Searches wait in a bounded queue.

mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use self::queue::{Job, Queue, Task};
pub(super) use self::queue::{Priority, SearchClass};
use super::context::clock_and_rng::now;
use super::context::metrics::{GaugeGuard, Metrics};
use super::settings::{SearchMode, Settings};
use plyhouse_engine::catalog::{AnyPosition, MoveChoice};
use plyhouse_engine::search::{BotClock, Level, Limits, Report, Stop, TranspositionTable};
use plyhouse_protocol::PlayerId;

/// Ratio of a bot's search timeout to the maximum search time. The timeout includes the time in the
/// queue. After the timeout, the bot plays without a search.
const QUEUE_TIMEOUT_FACTOR: u32 = 10;

/// Pool of search threads.
#[derive(Debug)]
pub(super) struct SearchPool {
    search_time: Duration,
    table_bytes: usize,
    threads: Option<Threads>,
    metrics: Arc<Metrics>,
}

/// Running search threads, represented by their shared queue and their number. The threads end when
/// this value is dropped.
#[derive(Debug)]
struct Threads(Arc<Queue>, usize);

/// Callback for intermediate results of a search.
pub(super) type ProgressCallback = Box<dyn FnMut(&Report<String>) + Send>;

/// Request for a bot's move.
pub(super) struct SearchRequest {
    pub(super) position: Box<dyn AnyPosition>,
    pub(super) level: Level,
    pub(super) seed: u64,
    /// Host of the match. The search counts against the host's limit on concurrent searches.
    pub(super) host: PlayerId,
    /// Clock of the match, if it has one. The bot searches for a shorter time if it has little time
    /// left on the clock.
    pub(super) clock: Option<BotClock>,
    /// Whether a human player takes part in the match.
    pub(super) has_human: bool,
    /// Signal that stops the search early.
    pub(super) stop: Stop,
    /// Callback that receives intermediate results, if given.
    pub(super) on_progress: Option<ProgressCallback>,
}

impl SearchPool {
    /// Starts the search threads. The threads end when the pool is dropped.
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

    /// Returns the move that the bot chose, with the bot's evaluation of the position. Returns
    /// `None` if the search failed because of a timeout, a panic or `stop`.
    pub(super) async fn choose_move(&self, mut request: SearchRequest) -> Option<MoveChoice> {
        let search_time = self.search_time;
        let budget = request.clock.map(|clock| clock.search_time(search_time));
        let limits = Limits::time(budget.unwrap_or(search_time));
        if self.threads.is_none() {
            return self.choose_move_inline(request, &limits);
        }
        let priority = Priority {
            host: request.host,
            class: match request.has_human {
                true => SearchClass::Human,
                false => SearchClass::BotsOnly,
            },
            level: request.level,
        };
        let metrics = Arc::clone(&self.metrics);
        let search = move |table: &mut TranspositionTable| request.search(&limits, table, &metrics);
        let timeout = self.search_time * QUEUE_TIMEOUT_FACTOR;
        let choice = self.run_search(priority, timeout, search).await;
        if choice.is_none() {
            self.metrics.searches_missed.inc();
        }
        choice.flatten()
    }

    /// Runs `work` on a search thread with the thread's transposition table. Returns `None` after
    /// `timeout` or a panic. Without search threads, `work` runs immediately in the calling task.
    pub(super) async fn run_search<T: Send + 'static>(
        &self,
        priority: Priority,
        timeout: Duration,
        work: impl FnOnce(&mut TranspositionTable) -> T + Send + 'static,
    ) -> Option<T> {
        let Some(threads) = &self.threads else {
            return Some(work(&mut TranspositionTable::new(self.table_bytes)));
        };
        let waiting_gauge = GaugeGuard::new(&self.metrics.searches_waiting);
        let (result_sender, result) = oneshot::channel();
        let job = async {
            let queue_permit = threads.0.acquire_permit(priority.class).await?;
            let task: Task = Box::new(move |table| {
                if !result_sender.is_closed() {
                    // Sending the result fails if the caller has stopped waiting for it. This
                    // failure is harmless.
                    let _ = result_sender.send(work(table));
                }
            });
            threads.0.add(Job {
                priority,
                task,
                waiting_gauge,
                queue_permit,
            });
            result.await.ok()
        };
        let result = tokio::time::timeout(timeout, job).await;
        result.ok().flatten()
    }

    /// Returns the maximum number of concurrent searches.
    pub(super) fn thread_count(&self) -> usize {
        self.threads.as_ref().map_or(1, |threads| threads.1)
    }

    /// Searches on the calling thread. The reported search time is measured by the server's clock,
    /// so it is zero while tokio's clock is paused. Simulated runs therefore do not depend on the
    /// speed of the machine.
    fn choose_move_inline(
        &self,
        mut request: SearchRequest,
        limits: &Limits,
    ) -> Option<MoveChoice> {
        let started_at = now();
        let mut table = TranspositionTable::new(self.table_bytes);
        let mut choice = request.search(limits, &mut table, &self.metrics)?;
        choice.report.time = now().saturating_duration_since(started_at);
        Some(choice)
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
                    lower_priority();
                    run_worker(&queue, TranspositionTable::new(table_bytes), &metrics);
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

/// Gives the calling thread the lowest priority, so that network threads run first. A search uses
/// all CPU time it can get, while handling a message needs almost none.
#[cfg(target_os = "linux")]
fn lower_priority() {
    /// Lowest priority on Linux.
    const NICE: i32 = 19;
    // On Linux, `nice` affects only the calling thread. If the call fails, the thread keeps its
    // normal priority.
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "cannot lower the priority of search threads");
    }
}

/// On other systems, `nice` changes the priority of the whole process, so the server leaves the
/// priority unchanged.
#[cfg(not(target_os = "linux"))]
const fn lower_priority() {}

/// Runs jobs until the queue is closed. Each thread has its own transposition table, and every
/// search clears it first.
fn run_worker(queue: &Queue, mut table: TranspositionTable, metrics: &Metrics) {
    while let Some(job) = queue.take() {
        drop((job.queue_permit, job.waiting_gauge));
        if catch_unwind(AssertUnwindSafe(|| (job.task)(&mut table))).is_err() {
            let panics = metrics.panics.inc() + 1;
            tracing::error!(panics, "search panicked; continuing without a result");
        }
        queue.finish(job.priority.host);
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
            match &mut self.on_progress {
                None => position.choose_move(level, seed, limits, &self.stop, table),
                Some(watch) => position
                    .choose_move_with_progress(level, seed, limits, &self.stop, table, watch),
            }?
        };
        let search_time = choice.report.time.as_secs_f64();
        metrics.search_time.observe(search_time);
        metrics.search_nodes.inc_by(choice.report.nodes);
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::catalog;

    /// In simulated runs, the search time that is charged to a bot's clock must not depend on the
    /// speed of the machine.
    #[tokio::test(start_paused = true)]
    async fn inline_search_takes_no_time_while_the_clock_is_paused() {
        let settings = Settings {
            search: SearchMode::Inline,
            search_time: Duration::from_millis(5),
            ..Settings::default()
        };
        let bots =
            SearchPool::start(&settings, &Arc::default()).expect("inline search starts no threads");
        let chess = catalog::find_game("chess").expect("chess is in the catalog");
        let request = SearchRequest {
            position: chess.initial_position(),
            level: Level::Max,
            seed: 1,
            host: PlayerId(uuid::Uuid::nil()),
            clock: None,
            has_human: true,
            stop: Stop::new(),
            on_progress: None,
        };
        let choice = bots
            .choose_move(request)
            .await
            .expect("the initial position has moves");
        assert_eq!(choice.report.time, Duration::ZERO);
    }
}
