//! Matches, except their journals.

use plyhouse_engine::catalog;
use plyhouse_matches::Creation;
use plyhouse_protocol::{MatchCode, MatchId, MatchRef};

use super::{Row, Sql, exists, query_first};
use crate::RematchRecord;
use crate::records::match_record::terms_from_text;

/// Number of columns that [`creation_from_row`] reads.
pub(crate) const CREATION_COLUMN_COUNT: usize = 5;

/// Reads the creation data of a match from the first columns of a row: id, code, game, host and
/// terms. Returns a description of the fault if the row is not valid.
pub(crate) fn creation_from_row(row: &Row) -> Result<Creation, String> {
    let (code, game) = (row.text(1)?, row.text(2)?);
    Ok(Creation {
        id: row.get(0)?,
        code: code
            .parse()
            .map_err(|_| format!("invalid match code {code:?}"))?,
        game: catalog::find_game(game).ok_or_else(|| format!("unknown game {game:?}"))?,
        host: row.get(3)?,
        terms: terms_from_text(row.text(4)?)?,
    })
}

/// Returns the reference to a rematch that has this id and code. Returns `None` if the code is not
/// valid.
pub(crate) fn to_rematch((id, code): (MatchId, String)) -> Option<RematchRecord> {
    let code = code.parse().ok()?;
    Some(RematchRecord { id, code })
}

/// Returns the live match with this code. If no live match has the code, returns the most recently
/// created match that had it.
pub(crate) async fn find_by_code<S: Sql>(
    db: &S,
    code: MatchCode,
) -> Result<Option<MatchId>, S::Error> {
    let sql = "SELECT matches.id FROM matches WHERE code = ?1
               ORDER BY ended_ms IS NULL DESC, matches.id DESC LIMIT 1";
    query_first(db, sql, &[(&code.to_string()).into()]).await
}

/// Returns the id of a match that is given by its id or its code. If several matches have had the
/// code, see [`find_by_code`].
pub(crate) async fn find_match<S: Sql>(
    db: &S,
    name: MatchRef,
) -> Result<Option<MatchId>, S::Error> {
    match name {
        MatchRef::Id(id) => {
            let sql = "SELECT 1 FROM matches WHERE matches.id = ?1";
            Ok(exists(db, sql, &[id.into()]).await?.then_some(id))
        }
        MatchRef::Code(code) => find_by_code(db, code).await,
        MatchRef::Invalid => Ok(None),
    }
}
