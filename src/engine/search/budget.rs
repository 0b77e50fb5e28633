//! What a search may still spend.

use std::time::{Duration, Instant};

use super::{Limits, Stop};

/// The clock and the stop flag are looked at once in so many nodes: often enough to answer within
/// a millisecond, seldom enough to cost nothing.
const POLL_NODES: u64 = 512;

/// On bare WebAssembly the standard library has no clock, and reading it panics.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The search must end now. Whatever it was in the middle of is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetExhausted;

/// Counts nodes and watches limits, stop flag and clock.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    limits: Limits,
    stop: &'a Stop,
    /// `None` where there is no clock.
    started_at: Option<Instant>,
    nodes: u64,
    /// At how many nodes to look at the limits again.
    next_check_nodes: u64,
}

impl<'a> Budget<'a> {
    /// A budget that only counts, until it is enforced.
    #[expect(
        clippy::disallowed_methods,
        reason = "time limits need a clock; this is its only use"
    )]
    pub(super) fn new(limits: Limits, stop: &'a Stop) -> Self {
        Self {
            limits,
            stop,
            started_at: HAS_CLOCK.then(Instant::now),
            nodes: 0,
            next_check_nodes: u64::MAX,
        }
    }

    /// From now on the limits hold; what came before had to be done to have an answer at all.
    pub(super) fn enforce(&mut self) -> Result<(), BudgetExhausted> {
        self.check_limits()
    }

    /// Other limits hold once they are enforced. What has been spent is spent.
    pub(super) const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Accounts for one more node.
    #[inline]
    pub(super) fn visit_node(&mut self) -> Result<(), BudgetExhausted> {
        if self.nodes >= self.next_check_nodes {
            self.check_limits()?;
        }
        self.nodes += 1;
        Ok(())
    }

    /// Accounts for so many more nodes; that they are too many is noticed with the next visit.
    #[inline]
    pub(super) const fn add_nodes(&mut self, nodes: u64) {
        self.nodes += nodes;
    }

    #[cold]
    fn check_limits(&mut self) -> Result<(), BudgetExhausted> {
        let nodes_max = self.limits.nodes.unwrap_or(u64::MAX);
        // A limit that is reached stays reached.
        self.next_check_nodes = self.nodes;
        if self.nodes >= nodes_max {
            return Err(BudgetExhausted);
        }
        self.poll_time_and_stop()?;
        self.next_check_nodes = nodes_max.min(self.nodes + POLL_NODES);
        Ok(())
    }

    fn poll_time_and_stop(&self) -> Result<(), BudgetExhausted> {
        let is_timed_out = self.limits.time.is_some_and(|most| self.elapsed() >= most);
        if is_timed_out || self.stop.is_stopped() {
            Err(BudgetExhausted)
        } else {
            Ok(())
        }
    }

    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started_at
            .map_or(Duration::ZERO, |begin| begin.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit_nodes(budget: &mut Budget<'_>, nodes_max: u64) -> u64 {
        (0..nodes_max)
            .take_while(|_| budget.visit_node().is_ok())
            .count() as u64
    }

    #[test]
    fn node_limit_applies_once_enforced() {
        let (limits, stop) = (Limits::nodes(100), Stop::new());
        let mut budget = Budget::new(limits, &stop);
        assert_eq!(visit_nodes(&mut budget, 90), 90);
        budget.enforce().expect("only nodes are counted so far");
        assert_eq!(visit_nodes(&mut budget, 90), 10);
        assert_eq!(budget.nodes(), 100);
    }

    #[test]
    fn stop_is_noticed_within_one_poll_interval() {
        let (limits, stop) = (Limits::default(), Stop::new());
        let mut budget = Budget::new(limits, &stop);
        budget.enforce().expect("not stopped yet");
        assert_eq!(visit_nodes(&mut budget, 700), 700);
        stop.stop();
        assert!(visit_nodes(&mut budget, 10 * POLL_NODES) <= POLL_NODES);
    }
}
