//! Storage of matches and players: the traits that the server uses, and their implementations for
//! SQLite, PostgreSQL and memory.
//!
//! A write is durable once its future returns `Ok`. The server sends answers and broadcasts only
//! after the write is durable.

mod account_deletion;
#[cfg(test)]
mod conformance;
mod memory;
mod metrics;
mod name_skeleton;
mod port;
mod postgres;
mod ratings;
mod records;
mod sql;
mod sqlite;
mod store_copy;

pub use memory::MemoryStore;
pub use metrics::{StoreMetrics, duration_histogram};
pub use name_skeleton::{legacy_skeleton, name_skeleton, name_skeletons, visible_skeleton};
pub use port::admin_queue::AdminQueue;
pub use port::archive::ArchiveStore;
pub use port::cluster_directory;
pub use port::commands::CommandStore;
pub use port::delegation::port_types;
pub use port::identity::{IdentityChanges, IdentityStore};
pub use port::inspection::{
    Fault, InspectedMatch, InspectedPlayer, StoreAccessError, StoreInspector, VerificationReport,
    verify,
};
pub use port::journal::{
    JournalPosition, JournalStore, JournalTail, LiveMatches, LoadedMatch, NodeId, RematchRecord,
};
pub use port::ratings::RatingStore;
pub use port::store::{CorruptRecord, ReadError, ReadFuture, Store, WriteError, WriteFuture};
pub(crate) use port::store::{conflict_to_false, conflict_unless};
pub use postgres::{OpenPostgresError, PostgresAdminQueue, PostgresInspector, PostgresStore};
pub use ratings::{
    LeaderboardPage, LeaderboardQuery, MemoryRatings, NeededRatings, PlayerRating, RatingMismatch,
    RatingPost, RatingProgress, RatingStep, RatingUpdateError, RatingVersion, RatingsChange,
    rebuild_ratings, run_rating_step, to_rating_changes, verify_ratings,
};
pub use records::analysis::{AnalysisQuotaRequest, StoredAnalysis};
pub use records::ended_match::EndedMatch;
pub use records::match_record::MatchRecord;
pub use records::past_matches::{
    HistoryQuery, OpeningStats, Opponent, PastMatch, ResultCounts, Tally,
};
pub use records::player_identity::{
    Account, BLOCKS_MAX, Blocks, CommandId, DELETED_PLAYER_NAME, ExternalIdentity, IdentityChange,
    IdentityProof, NameChange, NewApiKey, NewBotAccount, OneTimeToken, Pairing, PasswordHash,
    PlayerDeletion, PlayerRecord, SessionRecord, SessionSelection, TokenHash, UniqueName,
};
pub use sqlite::{OpenError, SqliteAdminQueue, SqliteInspector, SqliteStore};
pub use store_copy::{CopyError, CopySide, copy_store};
