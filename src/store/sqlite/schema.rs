//! Opens the database, and defines its schema and migrations.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{OpenError, history};
use crate::sql::name_skeletons::{add_missing_name_skeletons, recompute_name_skeletons};
use crate::sql::run_now;

/// Maximum time that a statement waits for a lock of another process, such as a backup.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Schema migrations, in order. Each migration upgrades the schema to the next version. Existing
/// migrations must not be changed. New migrations must be added at the end.
pub(super) const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE players (
        id      BLOB NOT NULL PRIMARY KEY,       -- a UUID
        name    TEXT NOT NULL,
        token   BLOB NOT NULL UNIQUE             -- the SHA-256 of it
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE matches (
        id       BLOB NOT NULL PRIMARY KEY,      -- a UUID of version 7, so in the order of creation
        code     TEXT NOT NULL,
        game     TEXT NOT NULL,
        host     BLOB NOT NULL REFERENCES players (id),
        listed   INTEGER NOT NULL,
        pace_ms  INTEGER NOT NULL,
        seed     INTEGER NOT NULL,               -- 64 bits, whose sign means nothing
        last_seq INTEGER NOT NULL,
        ended_ms INTEGER                         -- milliseconds since 1970; NULL while it is live
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX matches_by_code ON matches (code, id);
    CREATE INDEX matches_live ON matches (id) WHERE ended_ms IS NULL;
    CREATE INDEX matches_ended ON matches (ended_ms) WHERE ended_ms IS NOT NULL;

    CREATE TABLE events (
        match  BLOB NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
        seq    INTEGER NOT NULL,
        at_ms  INTEGER NOT NULL,
        event  TEXT NOT NULL,                    -- JSON
        PRIMARY KEY (match, seq)
    ) STRICT, WITHOUT ROWID;
    ",
    // From this schema version on, `last_seq` of a live match may be less than the number of
    // events, because not every move updates `last_seq`. An earlier program would report such a
    // match as corrupt. The increased schema version prevents an earlier program from opening the
    // database.
    "",
    // Moves the creation data that is not used for lookups into one JSON column. New fields can
    // then be added without changing the table.
    "
    CREATE TABLE matches_anew (
        id       BLOB NOT NULL PRIMARY KEY,      -- a UUID of version 7, so in the order of creation
        code     TEXT NOT NULL,
        game     TEXT NOT NULL,
        host     BLOB NOT NULL REFERENCES players (id),
        terms    TEXT NOT NULL,                  -- JSON
        last_seq INTEGER NOT NULL,
        ended_ms INTEGER                         -- milliseconds since 1970; NULL while it is live
    ) STRICT, WITHOUT ROWID;
    INSERT INTO matches_anew
        SELECT id, code, game, host,
            json_object(
                'listed', json(iif(listed, 'true', 'false')), 'pace_ms', pace_ms, 'seed', seed
            ),
            last_seq, ended_ms
        FROM matches ORDER BY id;
    DROP TABLE matches;
    ALTER TABLE matches_anew RENAME TO matches;
    CREATE INDEX matches_by_code ON matches (code, id);
    CREATE INDEX matches_live ON matches (id) WHERE ended_ms IS NULL;
    CREATE INDEX matches_ended ON matches (ended_ms) WHERE ended_ms IS NOT NULL;
    ",
    // A match has at most one rematch. The rematch stores the id of the previous match.
    "
    ALTER TABLE matches ADD COLUMN previous BLOB;  -- the match of which it is the rematch
    CREATE UNIQUE INDEX matches_next ON matches (previous) WHERE previous IS NOT NULL;
    ",
    // Adds the reminders of matches that need not be in memory. A reminder consists of a wake time
    // and the participations of the players.
    "
    ALTER TABLE matches ADD COLUMN wake_ms INTEGER;  -- milliseconds since 1970; NULL if it is served
    DROP INDEX matches_live;
    CREATE INDEX matches_served ON matches (id) WHERE ended_ms IS NULL AND wake_ms IS NULL;
    CREATE INDEX matches_due ON matches (wake_ms, id) WHERE wake_ms IS NOT NULL;

    CREATE TABLE parts (
        player   BLOB NOT NULL,
        match    BLOB NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
        seat     INTEGER,                        -- where the player sits
        stood_in INTEGER,                        -- where a bot stands in for the player
        is_days  INTEGER NOT NULL,               -- whether it is played over days, and then:
        turn     INTEGER,                        -- which seat is to move
        due_ms   INTEGER,                        -- by when
        PRIMARY KEY (player, match)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX parts_by_match ON parts (match);
    ",
    // Adds the time at which a player's absence began, if the absence is limited. Absence is not
    // limited in correspondence matches.
    "
    ALTER TABLE parts ADD COLUMN absent_ms INTEGER;  -- since when the player has been away
    ",
    // A player can have several tokens, one for each session. Existing tokens become sessions that
    // begin at the time of the migration, because their actual beginning is unknown.
    "
    CREATE TABLE sessions (
        token      BLOB NOT NULL PRIMARY KEY,    -- the SHA-256 of it
        id         BLOB NOT NULL UNIQUE,         -- a UUID
        player     BLOB NOT NULL REFERENCES players (id),
        label      TEXT NOT NULL,
        kind       TEXT NOT NULL,
        created_ms INTEGER NOT NULL,             -- milliseconds since 1970
        seen_day   INTEGER NOT NULL              -- days since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_player ON sessions (player, created_ms, id);
    INSERT INTO sessions
        SELECT token, randomblob(16), id, 'device', 'web', unixepoch() * 1000, unixepoch() / 86400
        FROM players ORDER BY token;
    CREATE TABLE players_anew (
        id      BLOB NOT NULL PRIMARY KEY,       -- a UUID
        name    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO players_anew SELECT id, name FROM players ORDER BY id;
    DROP TABLE players;
    ALTER TABLE players_anew RENAME TO players;
    ",
    // Adds tables for pairing codes and recovery keys, which let a player log in on another device.
    "
    CREATE TABLE pairings (
        player     BLOB NOT NULL PRIMARY KEY REFERENCES players (id),
        code       BLOB NOT NULL UNIQUE,         -- the SHA-256 of it
        expires_ms INTEGER NOT NULL              -- milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX pairings_by_end ON pairings (expires_ms);
    CREATE TABLE recoveries (
        player BLOB NOT NULL PRIMARY KEY REFERENCES players (id),
        key    BLOB NOT NULL UNIQUE              -- the SHA-256 of it
    ) STRICT, WITHOUT ROWID;
    ",
    // Adds accounts and unique names. All existing players become guests.
    "
    ALTER TABLE players ADD COLUMN kind TEXT;    -- NULL for a guest
    ALTER TABLE sessions ADD COLUMN recovered INTEGER NOT NULL DEFAULT 0;  -- begun by a recovery key
    CREATE TABLE accounts (
        player     BLOB NOT NULL PRIMARY KEY REFERENCES players (id),
        password   TEXT,                         -- its Argon2id hash, as a PHC string
        renamed_ms INTEGER                       -- milliseconds since 1970; NULL with the first name
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE names (
        likeness TEXT NOT NULL PRIMARY KEY,      -- what names that look alike have in common
        player   BLOB NOT NULL REFERENCES players (id),
        until_ms INTEGER                         -- until when it is kept for who has another name by now
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX names_by_player ON names (player);
    CREATE INDEX names_by_end ON names (until_ms) WHERE until_ms IS NOT NULL;
    ",
    // Adds each player's history of ended matches, and the opening statistics. The migration also
    // indexes the matches that ended earlier, see `HISTORY_VERSION`.
    "
    ALTER TABLE matches ADD COLUMN summary TEXT;  -- JSON: what it came to; NULL if it never began
    CREATE TABLE played (
        player   BLOB NOT NULL,                  -- who sat there at the start
        ended_ms INTEGER NOT NULL,
        match    BLOB NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
        seat     INTEGER NOT NULL,
        game     TEXT NOT NULL,
        other    BLOB,                           -- the player across the board; NULL if it was a bot
        result   TEXT NOT NULL,
        open     INTEGER NOT NULL,               -- whether others find it
        PRIMARY KEY (player, ended_ms, match)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE openings (
        game       TEXT NOT NULL,
        line       TEXT NOT NULL,                -- the moves before it
        move       TEXT NOT NULL,                -- empty for all matches
        n          INTEGER NOT NULL,
        won_first  INTEGER NOT NULL,
        won_second INTEGER NOT NULL,
        drawn      INTEGER NOT NULL,
        PRIMARY KEY (game, line, move)
    ) STRICT, WITHOUT ROWID;
    ",
    // The ledger of rated matches, and the ratings that are computed from it. The tables of rating
    // versions have row ids, so that the rows of a stale version can be deleted in batches.
    "
    CREATE TABLE ledger (
        no      INTEGER NOT NULL PRIMARY KEY,    -- in the order in which it was written
        match   BLOB UNIQUE,                     -- the rated match that ended
        unrated BLOB,                            -- whose matches up to here count for nobody
        body    TEXT NOT NULL                    -- JSON
    ) STRICT;
    CREATE INDEX ledger_unrated ON ledger (no) WHERE unrated IS NOT NULL;
    CREATE TABLE ledger_end (no INTEGER NOT NULL) STRICT;  -- the last number that was given
    INSERT INTO ledger_end VALUES (0);
    -- Rated matches are always kept.
    ALTER TABLE matches ADD COLUMN ended_no INTEGER;       -- of a rated match that has ended
    DROP INDEX matches_ended;
    CREATE INDEX matches_ended ON matches (ended_ms)
        WHERE ended_ms IS NOT NULL AND ended_no IS NULL;
    CREATE TABLE folds (
        id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        place      TEXT NOT NULL,                -- live; built, to take its place; or stale
        cursor     INTEGER NOT NULL,             -- the last row that was posted
        known      INTEGER NOT NULL,             -- up to where it knows whose matches do not count
        last_ms    INTEGER NOT NULL,             -- milliseconds since 1970, as the next two
        started_ms INTEGER NOT NULL
    ) STRICT;
    INSERT INTO folds (place, cursor, known, last_ms, started_ms) VALUES ('live', 0, 0, 0, 0);
    CREATE TABLE rating (
        fold       INTEGER NOT NULL,
        player     BLOB NOT NULL,
        game       TEXT NOT NULL,
        pool       TEXT NOT NULL,
        rating     REAL NOT NULL,
        deviation  REAL NOT NULL,
        volatility REAL NOT NULL,
        games      INTEGER NOT NULL,
        last_ms    INTEGER NOT NULL,
        PRIMARY KEY (fold, player, game, pool)
    ) STRICT;
    CREATE INDEX rating_leaders ON rating (fold, game, pool, rating DESC, player, last_ms)
        WHERE deviation <= 75;
    CREATE TABLE rating_days (
        fold   INTEGER NOT NULL,
        player BLOB NOT NULL,
        game   TEXT NOT NULL,
        pool   TEXT NOT NULL,
        day    INTEGER NOT NULL,                 -- days since 1970
        rating REAL NOT NULL,                    -- at its end
        PRIMARY KEY (fold, player, game, pool, day)
    ) STRICT;
    CREATE TABLE rating_changes (
        fold           INTEGER NOT NULL,
        no             INTEGER NOT NULL,         -- the row of the ledger
        seat           INTEGER NOT NULL,
        player         BLOB NOT NULL,
        game           TEXT NOT NULL,
        pool           TEXT NOT NULL,
        at_ms          INTEGER NOT NULL,
        algorithm      INTEGER NOT NULL,         -- its version
        rating         REAL NOT NULL,            -- before
        deviation      REAL NOT NULL,
        volatility     REAL NOT NULL,
        new_rating     REAL NOT NULL,            -- after
        new_deviation  REAL NOT NULL,
        new_volatility REAL NOT NULL,
        PRIMARY KEY (fold, no, seat)
    ) STRICT;
    CREATE TABLE rating_pairs (
        fold  INTEGER NOT NULL,
        one   BLOB NOT NULL,
        other BLOB NOT NULL,
        body  TEXT NOT NULL,                     -- JSON: what both have played lately
        PRIMARY KEY (fold, one, other)
    ) STRICT;
    CREATE TABLE conduct (
        fold     INTEGER NOT NULL,
        player   BLOB NOT NULL,
        until_ms INTEGER NOT NULL,               -- until when the player plays no rated matches
        body     TEXT NOT NULL,                  -- JSON: how the player has left matches lately
        PRIMARY KEY (fold, player)
    ) STRICT;
    ",
    // Adds the owners of bot accounts.
    "
    ALTER TABLE accounts ADD COLUMN owner BLOB REFERENCES players (id);  -- NULL for a person
    CREATE INDEX accounts_by_owner ON accounts (owner, player) WHERE owner IS NOT NULL;
    ",
    // Adds the table of players that block other players.
    "
    CREATE TABLE blocks (
        player   BLOB NOT NULL REFERENCES players (id),  -- who wants it so
        other    BLOB NOT NULL REFERENCES players (id),
        since_ms INTEGER NOT NULL,               -- milliseconds since 1970
        PRIMARY KEY (player, other)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX blocks_by_other ON blocks (other, player);
    ",
    // Adds tables for one-time tokens, external identities, account deletions in progress, and
    // operator commands.
    "
    ALTER TABLE players ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;  -- whether it was forgotten
    CREATE TABLE passes (
        code       BLOB NOT NULL PRIMARY KEY,    -- the SHA-256 of it
        player     BLOB REFERENCES players (id), -- whose sessions it begins; NULL for an invitation
        expires_ms INTEGER NOT NULL              -- milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE externals (
        name   TEXT NOT NULL PRIMARY KEY,        -- as the proxy knows them
        player BLOB NOT NULL UNIQUE REFERENCES players (id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE forgetting (
        player BLOB NOT NULL PRIMARY KEY REFERENCES players (id),
        after  BLOB NOT NULL                     -- the match up to which the name is in none any more
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE orders (
        id       BLOB NOT NULL PRIMARY KEY,      -- a UUID
        asked_ms INTEGER NOT NULL,               -- milliseconds since 1970
        body     TEXT NOT NULL,
        taken    INTEGER NOT NULL DEFAULT 0,     -- whether a server does it
        answer   TEXT                            -- what has come of it
    ) STRICT, WITHOUT ROWID;
    ",
    // Counts the results of each player. Triggers maintain the counts, because a player may have a
    // hundred thousand matches.
    "
    CREATE TABLE results (
        player   BLOB NOT NULL,
        seen_by  BLOB NOT NULL,                  -- who may know of them: zeros for everybody, else who sat there
        result   TEXT NOT NULL,
        n        INTEGER NOT NULL,
        first_ms INTEGER NOT NULL,               -- when the first of them ended
        PRIMARY KEY (player, seen_by, result)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO results
        SELECT player, seen_by, result, count(*), min(ended_ms) FROM (
            SELECT player, iif(open, zeroblob(16), player) AS seen_by, result, ended_ms FROM played
            UNION ALL
            SELECT player, other, result, ended_ms FROM played WHERE NOT open AND other IS NOT NULL
        ) GROUP BY player, seen_by, result;
    CREATE TRIGGER results_of_more AFTER INSERT ON played BEGIN
        INSERT INTO results
            VALUES (new.player, iif(new.open, zeroblob(16), new.player), new.result, 1, new.ended_ms)
            ON CONFLICT DO UPDATE SET n = n + 1, first_ms = min(first_ms, excluded.first_ms);
        INSERT INTO results
            SELECT new.player, new.other, new.result, 1, new.ended_ms
            WHERE NOT new.open AND new.other IS NOT NULL
            ON CONFLICT DO UPDATE SET n = n + 1, first_ms = min(first_ms, excluded.first_ms);
    END;
    CREATE TRIGGER results_of_fewer AFTER DELETE ON played BEGIN
        UPDATE results SET n = n - 1
            WHERE player = old.player AND result = old.result
              AND seen_by IN (iif(old.open, zeroblob(16), old.player), iif(old.open, NULL, old.other));
        DELETE FROM results
            WHERE player = old.player AND result = old.result AND n <= 0
              AND seen_by IN (iif(old.open, zeroblob(16), old.player), iif(old.open, NULL, old.other));
    END;
    ",
    // Adds a table for the ledger rows that have no number yet. If spectators see a match with a
    // delay, its ledger row gets a number only when spectators may see how the match ended.
    "
    CREATE TABLE ledger_waiting (
        match  BLOB NOT NULL PRIMARY KEY REFERENCES matches (id),
        due_ms INTEGER NOT NULL,                 -- milliseconds since 1970
        body   TEXT NOT NULL                     -- JSON: the row of the ledger
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX ledger_waiting_due ON ledger_waiting (due_ms);
    ",
    "-- What names have in common that look alike is found otherwise.",
    // Adds a table for the analyses of ended matches.
    "
    CREATE TABLE analyses (
        match BLOB NOT NULL PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
        nodes INTEGER NOT NULL,                  -- how many positions were visited to value one
        body  TEXT NOT NULL                      -- JSON
    ) STRICT, WITHOUT ROWID;
    ",
    // Adds the session that offered a pairing code. When this session ends, the code becomes
    // invalid. For codes that were stored before this migration, the session is unknown.
    "ALTER TABLE pairings ADD COLUMN session BLOB;",
    // Adds the name skeletons that are computed from names in their original case, see
    // `WRITTEN_NAMES_VERSION`.
    "",
    // Adds a table for recent analysis requests, which count towards the quotas of the players.
    "
    CREATE TABLE analyses_asked (
        player   BLOB NOT NULL,
        asked_ms INTEGER NOT NULL                -- milliseconds since 1970
    ) STRICT;
    CREATE INDEX analyses_asked_by ON analyses_asked (player, asked_ms);
    CREATE INDEX analyses_asked_ms ON analyses_asked (asked_ms);
    ",
];

/// Schema version that introduced the history of ended matches. Its migration also indexes the
/// matches that ended earlier.
const HISTORY_VERSION: usize = 10;

/// Schema version whose migration recomputes the name skeletons. Names that look alike have the
/// same skeleton.
pub(super) const SKELETONS_VERSION: usize = 17;

/// Schema version whose migration adds the name skeletons that are computed from names in their
/// original case.
pub(super) const WRITTEN_NAMES_VERSION: usize = 20;

/// Opens the database for writing. Creates the database if it is missing, and migrates its schema.
pub(super) fn open(path: &Path, directory: &Path) -> Result<Connection, OpenError> {
    let failed = |error| OpenError::Database(directory.to_owned(), error);
    let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
    let log = path.with_extension("db-wal");
    if size(path) == 0 && size(&log) > 0 {
        return Err(OpenError::LogWithoutDatabase(directory.to_owned()));
    }
    create_private(path).map_err(|error| OpenError::Directory(directory.to_owned(), error))?;
    let mut connection = open_read_write(path, OpenFlags::SQLITE_OPEN_CREATE).map_err(failed)?;
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(failed)? {
        return Err(OpenError::ReadOnly(path.to_owned()));
    }
    let version = schema_version(&connection).map_err(failed)?;
    if version == 0 {
        let sql = "SELECT count(*) FROM sqlite_schema";
        let tables: u64 = connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(failed)?;
        if tables > 0 {
            return Err(OpenError::ForeignDatabase(path.to_owned()));
        }
        // Incremental vacuum returns free pages to the file system. Incremental vacuum must be
        // enabled before the first table is created. An existing database is not changed, because
        // the store must open even if the disk accepts no writes.
        connection
            .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
            .map_err(failed)?;
    }
    let Some(pending) = MIGRATIONS.get(version..) else {
        return Err(OpenError::TooNew(path.to_owned()));
    };
    migrate(&mut connection, version, pending).map_err(failed)?;
    // A killed server may have left writes in the write-ahead log that were never synced. These
    // writes must be synced before any client can read them.
    checkpoint(&connection).map_err(failed)?;
    Ok(connection)
}

/// Returns a database in memory with the current schema.
pub(crate) fn open_in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    migrate(&mut connection, 0, MIGRATIONS)?;
    Ok(connection)
}

/// Creates the database file with access for its owner only, because it contains names and hashes
/// of tokens. SQLite creates the files of the write-ahead log with the same permissions. The
/// permissions of an existing file are not changed, because the operator may have chosen them.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reopens the database after a failure, and syncs all data that readers can already see.
pub(super) fn reopen(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open_read_write(path, OpenFlags::empty())?;
    checkpoint(&connection)?;
    Ok(connection)
}

/// Copies the write-ahead log into the database, syncs the database and truncates the log.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy: bool = connection.query_row(sql, [], |row| row.get(0))?;
    if busy {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    Ok(())
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    fix_query_plans(&connection)?;
    Ok(connection)
}

/// Makes the query plan of a statement independent of the values of its parameters. Otherwise,
/// SQLite would compile some cached statements again for each execution, because the cache of
/// rusqlite clears their parameters.
pub(crate) fn fix_query_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn open_read_write(path: &Path, extra_flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | extra_flags)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Each commit waits until its data is synced to disk.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // With foreign keys, SQLite would look up the match for each inserted event. The writer checks
    // that the match exists, and `verify` checks all references.
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    // After a checkpoint, SQLite truncates the write-ahead log to this number of bytes.
    connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
    enable_secure_delete(&connection)?;
    // A checkpoint starts when the write-ahead log has this number of pages. The number is high, so
    // that checkpoints are rare. A page that is written repeatedly between two checkpoints is
    // copied to the database only once.
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    // A negative cache size is in KiB. The cache holds the pages that thousands of busy matches
    // use, so that SQLite does not read them repeatedly.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Makes SQLite overwrite deleted data, so that the name of a deleted player does not remain in the
/// file. The setting is always enabled, because a page split moves rows and leaves their old bytes
/// behind. The setting does not slow down appends, because appends delete nothing.
fn enable_secure_delete(connection: &Connection) -> rusqlite::Result<()> {
    // The pragma returns the new setting as a row, which the closure ignores.
    connection.pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(()))
}

/// Opens the database for reading.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    // The connection needs write access to create the files of the write-ahead log if they are
    // missing.
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "query_only", "ON")?;
    Ok(connection)
}

/// Opens the database for read-only inspection, whether or not a server uses it.
pub(super) fn open_inspector(path: &Path, directory: &Path) -> Result<Connection, OpenError> {
    let failed = |error| OpenError::Database(directory.to_owned(), error);
    if !path.exists() {
        return Err(OpenError::NoStore(directory.to_owned()));
    }
    // A read-only connection reads the write-ahead log, but it never copies the log into the
    // database.
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    match schema_version(&connection).map_err(failed)? {
        version if version == MIGRATIONS.len() => Ok(connection),
        version if version < MIGRATIONS.len() => Err(OpenError::TooOld(path.to_owned())),
        _ => Err(OpenError::TooNew(path.to_owned())),
    }
}

/// Opens the database to queue operator commands while a server uses it.
pub(super) fn open_admin_queue(path: &Path, directory: &Path) -> Result<Connection, OpenError> {
    drop(open_inspector(path, directory)?);
    let failed = |error| OpenError::Database(directory.to_owned(), error);
    let open = || {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        enable_secure_delete(&connection)?;
        // Automatic checkpoints are disabled, because only the server copies the write-ahead log
        // into the database.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(connection)
    };
    open().map_err(failed)
}

fn schema_version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate(connection: &mut Connection, version: usize, pending: &[&str]) -> rusqlite::Result<()> {
    for (step, tables) in pending.iter().enumerate() {
        let transaction = connection.transaction()?;
        transaction.execute_batch(tables)?;
        if version + step + 1 == HISTORY_VERSION {
            history::index_all_matches(&transaction)?;
        }
        if version + step + 1 == SKELETONS_VERSION {
            run_now(recompute_name_skeletons(&*transaction))?;
        }
        if version + step + 1 == WRITTEN_NAMES_VERSION {
            run_now(add_missing_name_skeletons(&*transaction))?;
        }
        transaction.pragma_update(None, "user_version", version + step + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
