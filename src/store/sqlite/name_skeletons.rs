//! Updates the stored name skeletons when their algorithm changes.

use rusqlite::Connection;

use crate::name_skeleton;

/// Recomputes the stored name skeletons with the current algorithm. Names that look alike have the
/// same skeleton.
pub(super) fn recompute_name_skeletons(connection: &Connection) -> rusqlite::Result<()> {
    let stored = read_names(connection)?;
    let mut update = connection.prepare("UPDATE names SET likeness = ?2 WHERE likeness = ?1")?;
    for (old, new) in name_skeleton::recomputed_skeletons(&stored) {
        update.execute((old, new))?;
    }
    Ok(())
}

/// Adds the missing name skeletons that are computed from the original case of the current names.
/// Names that look alike share a skeleton.
pub(super) fn add_missing_name_skeletons(connection: &Connection) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO names (likeness, player) SELECT ?2, player FROM names WHERE likeness = ?1";
    let mut insert = connection.prepare(sql)?;
    for (skeleton, added) in name_skeleton::missing_skeletons(&read_names(connection)?) {
        insert.execute((skeleton, added))?;
    }
    Ok(())
}

fn read_names(connection: &Connection) -> rusqlite::Result<Vec<name_skeleton::StoredSkeleton>> {
    let sql = "SELECT n.likeness, iif(n.until_ms IS NULL, p.name, NULL)
               FROM names n JOIN players p ON p.id = n.player ORDER BY n.likeness";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
