//! The queue of match analyses, and the connections that receive their results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use plyhouse_protocol::{MatchId, PlayerId};
use tokio::sync::Semaphore;

use super::progress::Analysis;
use crate::connection::id::ConnectionId;
use crate::context::locks::{ANALYSIS_QUEUE, Guard, Mutex};

/// Queued and running analyses of matches, and the connections that receive their results.
#[derive(Debug)]
pub(crate) struct AnalysisQueue {
    state: Mutex<QueueState, ANALYSIS_QUEUE>,
    /// Limits the number of concurrent analyses, because each running analysis has its own
    /// transposition table.
    pub(super) permits: Semaphore,
}

#[derive(Debug, Default)]
pub(super) struct QueueState {
    pub(super) jobs: HashMap<MatchId, (PlayerId, Arc<Analysis>)>,
    /// Connections that are receiving an analysis.
    pub(super) subscribers: HashSet<ConnectionId>,
}

impl AnalysisQueue {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            state: Mutex::default(),
            permits: Semaphore::new(threads),
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, QueueState, ANALYSIS_QUEUE> {
        self.state.lock()
    }

    /// Returns whether the connection is receiving an analysis.
    pub(crate) fn is_subscribed(&self, connection: ConnectionId) -> bool {
        self.lock().subscribers.contains(&connection)
    }
}
