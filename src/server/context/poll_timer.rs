//! Measures how long a task occupies its thread. Other tasks on the same thread wait during a poll,
//! so long polls determine the server's highest latencies.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use prometheus_client::metrics::histogram::Histogram;

use super::clock_and_rng::now;

/// Minimum duration of a recorded poll. Nearly all polls are shorter.
const LONG_POLL: Duration = Duration::from_millis(1);

pin_project! {
    /// A task whose long polls are recorded.
    pub(crate) struct PollTimer<F> {
        #[pin]
        task: F,
        long_polls: Histogram,
    }
}

impl<F> PollTimer<F> {
    /// Creates a timer for a task. The timer records polls that take a millisecond or longer in
    /// `long_polls`.
    pub(crate) const fn new(task: F, long_polls: Histogram) -> Self {
        Self { task, long_polls }
    }
}

impl<F: Future> Future for PollTimer<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let begin = now();
        let polled = this.task.poll(context);
        let elapsed = now().saturating_duration_since(begin);
        if elapsed >= LONG_POLL {
            this.long_polls.observe(elapsed.as_secs_f64());
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::context::metrics::Metrics;

    #[tokio::test(start_paused = true)]
    async fn polls_of_a_millisecond_or_more_are_counted() {
        let metrics = Metrics::default();
        let task = async {
            // `advance` moves the paused clock during the current poll and then yields. The timer
            // therefore measures each duration as the duration of one poll.
            advance(Duration::from_micros(900)).await;
            advance(Duration::from_millis(3)).await;
            advance(Duration::from_millis(20)).await;
        };
        PollTimer::new(task, metrics.long_polls.clone()).await;
        let page = metrics.to_text();
        assert!(
            page.contains("plyhouse_long_poll_seconds_count 2\n"),
            "{page}"
        );
    }
}
