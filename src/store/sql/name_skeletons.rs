//! Updates the stored name skeletons when their algorithm changes.

use super::{Sql, SqlWrite, Value, execute_each, query_all};
use crate::name_skeleton;

/// Recomputes the stored name skeletons with the current algorithm. Names that look alike have the
/// same skeleton.
pub(crate) async fn recompute_name_skeletons<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    let names = read_names(db).await?;
    let recomputed = name_skeleton::recomputed_skeletons(&names);
    let sql = "UPDATE names SET likeness = ?2 WHERE likeness = ?1";
    execute_each(db, sql, &to_params(&recomputed)).await
}

/// Adds the missing name skeletons that are computed from the original case of the current names.
/// Names that look alike share a skeleton.
pub(crate) async fn add_missing_name_skeletons<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    let names = read_names(db).await?;
    let missing = name_skeleton::missing_skeletons(&names);
    let sql =
        "INSERT INTO names (likeness, player) SELECT ?2, player FROM names WHERE likeness = ?1";
    execute_each(db, sql, &to_params(&missing)).await
}

async fn read_names<S: Sql>(db: &S) -> Result<Vec<name_skeleton::StoredSkeleton>, S::Error> {
    let sql = "SELECT n.likeness, CASE WHEN n.until_ms IS NULL THEN p.name END
               FROM names n JOIN players p ON p.id = n.player ORDER BY n.likeness";
    query_all(db, sql, &[]).await
}

fn to_params<'a>(skeletons: &'a [(&str, String)]) -> Vec<Vec<Value<'a>>> {
    let params = |(stored, added): &'a (&str, String)| vec![(*stored).into(), added.into()];
    skeletons.iter().map(params).collect()
}
