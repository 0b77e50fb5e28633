//! What the operator sees: the signs of the server, its metrics, its log, and what the service
//! manager is told.

mod metrics;
