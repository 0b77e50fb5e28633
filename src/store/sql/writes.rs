//! Writes that all databases execute by shared statements.

use plyhouse_protocol::{MatchId, PlayerId};

use super::{SqlWrite, analyses, exists, identity_changes, players, ratings_changes};
use crate::{
    AnalysisQuotaRequest, IdentityChange, PlayerRecord, RatingsChange, SessionRecord,
    StoredAnalysis,
};

/// A write to tables other than those of the journals.
#[derive(Debug)]
pub enum SharedWrite {
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    ChangeIdentity(IdentityChange),
    /// Changes the rating ledger or a rating version.
    ChangeRatings(RatingsChange),
    /// Refused if there is no ended match with this id.
    StoreAnalysis(MatchId, StoredAnalysis),
    /// Refused if the quota is used up.
    CountAnalysisRequest(AnalysisQuotaRequest),
}

/// Order in which a transaction executes writes. All servers use the same order, so that two of
/// them do not deadlock on PostgreSQL.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum WriteOrder {
    Player,
    Identity,
    Analysis(MatchId),
    AnalysisRequest(PlayerId),
    /// The end of the ledger is locked before a rating version.
    Ledger,
    RatingVersion,
}

impl SharedWrite {
    pub(crate) const fn order(&self) -> WriteOrder {
        match self {
            Self::AddPlayer(..) => WriteOrder::Player,
            Self::ChangeIdentity(_) => WriteOrder::Identity,
            Self::StoreAnalysis(id, _) => WriteOrder::Analysis(*id),
            Self::CountAnalysisRequest(request) => WriteOrder::AnalysisRequest(request.player),
            Self::ChangeRatings(change) if change.is_ledger_change() => WriteOrder::Ledger,
            Self::ChangeRatings(_) => WriteOrder::RatingVersion,
        }
    }
}

/// A transaction with the statements that differ between the databases, because they affect
/// journals or tables that are not the same.
pub(crate) trait SharedTransaction: SqlWrite {
    /// Statements that delete a player's data from tables that only this database has. The
    /// parameter is the player.
    const OWN_DELETE_STATEMENTS: &'static [&'static str];

    /// Removes a player's name from the events and the summaries of these matches.
    fn remove_name(
        &self,
        matches: &[MatchId],
        player: PlayerId,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Counts an analysis request towards the quota of its player, and deletes requests that no
    /// longer count. Returns `false` if the quota is used up.
    fn count_analysis_request(
        &self,
        request: &AnalysisQuotaRequest,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;
}

/// Executes a write. Returns `false` if the write was refused.
pub(crate) async fn apply<S: SharedTransaction>(
    db: &S,
    write: &SharedWrite,
) -> Result<bool, S::Error> {
    match write {
        SharedWrite::AddPlayer(player, sessions) => {
            players::add_players(db, vec![player], sessions.iter().collect()).await?;
            Ok(true)
        }
        SharedWrite::ChangeIdentity(change) => identity_changes::apply_change(db, change).await,
        SharedWrite::ChangeRatings(change) => ratings_changes::apply_change(db, change).await,
        SharedWrite::StoreAnalysis(id, analysis) => {
            analyses::store_analysis(db, *id, analysis).await
        }
        SharedWrite::CountAnalysisRequest(request) => db.count_analysis_request(request).await,
    }
}

/// Determines from the stored data whether a write was applied. Called if the outcome of the commit
/// is unknown. Returns `None` if the stored data does not show whether the write was applied.
pub(crate) async fn is_applied<S: SharedTransaction>(
    db: &S,
    write: &SharedWrite,
) -> Result<Option<bool>, S::Error> {
    let is_applied = match write {
        SharedWrite::AddPlayer(player, _) => players::is_stored(db, player.id).await?,
        SharedWrite::ChangeIdentity(change) => {
            return identity_changes::is_applied(db, change).await;
        }
        SharedWrite::ChangeRatings(change) => return ratings_changes::is_applied(db, change).await,
        SharedWrite::StoreAnalysis(id, analysis) => analyses::load_analysis(db, *id)
            .await?
            .is_some_and(|stored| stored.nodes >= analysis.nodes),
        SharedWrite::CountAnalysisRequest(AnalysisQuotaRequest { player, at_ms, .. }) => {
            let sql = "SELECT 1 FROM analyses_asked WHERE player = ?1 AND asked_ms = ?2";
            exists(db, sql, &[(*player).into(), (*at_ms).into()]).await?
        }
    };
    Ok(Some(is_applied))
}
