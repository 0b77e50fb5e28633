//! Budget of a search: the limits on nodes and time, and the stop flag.

use std::time::{Duration, Instant};

use super::{Limits, Stop};

/// Number of nodes between two checks of the clock and the stop flag. With this interval, the
/// search reacts within a millisecond, and the checks cost almost nothing.
const POLL_NODES: u64 = 512;

/// Whether the platform has a clock. On `wasm32-unknown-unknown`, reading the standard library's
/// clock panics.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Error returned when a limit is reached or the search is stopped. The interrupted node has no
/// valid result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetExhausted;

/// Counts nodes and checks the limits, the stop flag and the clock.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    limits: Limits,
    stop: &'a Stop,
    /// Start time of the search, or `None` on a platform without a clock.
    started_at: Option<Instant>,
    nodes: u64,
    /// Node count at which the limits are checked next.
    next_check_nodes: u64,
}

impl<'a> Budget<'a> {
    /// Creates a budget that only counts nodes until [`Budget::enforce`] is called.
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

    /// Checks the limits and starts to enforce them. Before the first call, the budget only counts
    /// nodes, so that a search can always find a move to return.
    #[cold]
    pub(super) fn enforce(&mut self) -> Result<(), BudgetExhausted> {
        let nodes_max = self.limits.nodes.unwrap_or(u64::MAX);
        // If this check fails, `next_check_nodes` keeps the current node count. The next visited
        // node is therefore checked too, and that check also fails.
        self.next_check_nodes = self.nodes;
        let is_timed_out = || self.limits.time.is_some_and(|most| self.elapsed() >= most);
        if self.nodes >= nodes_max || is_timed_out() || self.stop.is_stopped() {
            return Err(BudgetExhausted);
        }
        self.next_check_nodes = nodes_max.min(self.nodes + POLL_NODES);
        Ok(())
    }

    /// Replaces the limits. Nodes and time already spent count towards the new limits.
    pub(super) const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Counts one node. Checks the limits if a check is due.
    #[inline]
    pub(super) fn visit_node(&mut self) -> Result<(), BudgetExhausted> {
        if self.nodes >= self.next_check_nodes {
            self.enforce()?;
        }
        self.nodes += 1;
        Ok(())
    }

    /// Adds `nodes` to the count without a check. The next call of [`Budget::visit_node`] detects
    /// an exceeded limit.
    #[inline]
    pub(super) const fn add_nodes(&mut self, nodes: u64) {
        self.nodes += nodes;
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
