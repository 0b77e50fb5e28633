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
pub(super) struct Spent;

/// Counts nodes and watches limits, stop flag and clock.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    limits: Limits,
    stop: &'a Stop,
    /// `None` where there is no clock.
    begin: Option<Instant>,
    nodes: u64,
    /// At how many nodes to look at the limits again.
    next_look: u64,
}

impl<'a> Budget<'a> {
    /// A budget that only counts, until it is enforced.
    #[expect(
        clippy::disallowed_methods,
        reason = "a limit of time needs a clock, here alone"
    )]
    pub(super) fn new(limits: Limits, stop: &'a Stop) -> Self {
        Self {
            limits,
            stop,
            begin: HAS_CLOCK.then(Instant::now),
            nodes: 0,
            next_look: u64::MAX,
        }
    }

    /// From now on the limits hold; what came before had to be done to have an answer at all.
    pub(super) fn enforce(&mut self) -> Result<(), Spent> {
        self.look()
    }

    /// Other limits hold once they are enforced. What has been spent is spent.
    pub(super) const fn change(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Accounts for one more node.
    #[inline]
    pub(super) fn visit(&mut self) -> Result<(), Spent> {
        if self.nodes >= self.next_look {
            self.look()?;
        }
        self.nodes += 1;
        Ok(())
    }

    /// Accounts for so many more nodes; that they are too many is noticed with the next visit.
    #[inline]
    pub(super) const fn add(&mut self, nodes: u64) {
        self.nodes += nodes;
    }

    #[cold]
    fn look(&mut self) -> Result<(), Spent> {
        let most = self.limits.nodes.unwrap_or(u64::MAX);
        // A limit that is reached stays reached.
        self.next_look = self.nodes;
        if self.nodes >= most {
            return Err(Spent);
        }
        self.poll()?;
        self.next_look = most.min(self.nodes + POLL_NODES);
        Ok(())
    }

    fn poll(&self) -> Result<(), Spent> {
        let late = self.limits.time.is_some_and(|most| self.elapsed() >= most);
        if late || self.stop.is_stopped() {
            Err(Spent)
        } else {
            Ok(())
        }
    }

    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begin.map_or(Duration::ZERO, |begin| begin.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(budget: &mut Budget<'_>, most: u64) -> u64 {
        (0..most).take_while(|_| budget.visit().is_ok()).count() as u64
    }

    #[test]
    fn limits_hold_once_they_are_enforced() {
        let (limits, stop) = (Limits::nodes(100), Stop::new());
        let mut budget = Budget::new(limits, &stop);
        assert_eq!(visited(&mut budget, 90), 90);
        budget.enforce().expect("nothing is spent but nodes");
        assert_eq!(visited(&mut budget, 90), 10);
        assert_eq!(budget.nodes(), 100);
    }

    #[test]
    fn a_stop_is_noticed_in_the_middle_of_a_look() {
        let (limits, stop) = (Limits::default(), Stop::new());
        let mut budget = Budget::new(limits, &stop);
        budget.enforce().expect("not stopped yet");
        assert_eq!(visited(&mut budget, 700), 700);
        stop.stop();
        assert!(visited(&mut budget, 10 * POLL_NODES) <= POLL_NODES);
    }
}
