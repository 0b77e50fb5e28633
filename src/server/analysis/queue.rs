//! Matches that are analysed now or wait for it, and the connections that follow an analysis.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use plyhouse_protocol::{MatchId, PlayerId};
use tokio::sync::Semaphore;

use super::progress::Analysis;
use crate::connection::id::ConnectionId;
use crate::context::locks::{ANALYSIS_QUEUE, Mutex};

/// Which ended matches are looked at.
#[derive(Debug)]
pub(crate) struct AnalysisQueue {
    pub(super) state: Mutex<QueueState, ANALYSIS_QUEUE>,
    /// A permit for each that is being looked at: each has a table of its own.
    pub(super) permits: Semaphore,
}

#[derive(Debug, Default)]
pub(super) struct QueueState {
    pub(super) jobs: HashMap<MatchId, (PlayerId, Arc<Analysis>)>,
    /// The connections that are told of one.
    pub(super) subscribers: HashSet<ConnectionId>,
}

impl AnalysisQueue {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            state: Mutex::default(),
            permits: Semaphore::new(threads),
        }
    }
}
