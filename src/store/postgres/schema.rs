//! The database schema and its migrations.

use std::cmp::Ordering;
use std::time::Duration;

use tokio_postgres::Client;

use super::OpenError;
use super::reconnecting_connection::{PgConnection, STATEMENT_TIMEOUT};
use super::writer::index_all_matches;
use crate::sql::name_skeletons::{add_missing_name_skeletons, recompute_name_skeletons};
use crate::sql::{SqlWrite, query_first};

/// Migrations of the schema. Each migration upgrades the schema by one version. Existing migrations
/// never change, and new migrations are appended.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE players (
        id     uuid PRIMARY KEY,
        name   text NOT NULL,
        token  bytea NOT NULL UNIQUE               -- the SHA-256 of it
    );

    CREATE TABLE matches (
        m         uuid PRIMARY KEY,                -- of version 7, so in the order of creation
        code      text NOT NULL,
        game      text NOT NULL,
        host      uuid NOT NULL,
        terms     text NOT NULL,                   -- JSON
        previous  uuid,                            -- the match of which it is the rematch
        node      uuid,                            -- whose it is; NULL if nobody serves it
        epoch     int8 NOT NULL DEFAULT 0,         -- how often it was taken over
        wake_ms   int8,                            -- milliseconds since 1970; NULL if it is served
        ended_ms  int8                             -- milliseconds since 1970; NULL while it is live
    );
    CREATE UNIQUE INDEX matches_live_code ON matches (code) WHERE ended_ms IS NULL;
    CREATE UNIQUE INDEX matches_next ON matches (previous) WHERE previous IS NOT NULL;
    CREATE INDEX matches_code ON matches (code, m);
    CREATE INDEX matches_served ON matches (m) WHERE ended_ms IS NULL AND wake_ms IS NULL;
    CREATE INDEX matches_due ON matches (wake_ms, m) WHERE wake_ms IS NOT NULL;
    CREATE INDEX matches_ended ON matches (ended_ms) WHERE ended_ms IS NOT NULL;

    -- A row is what was written at once: events, or, where the match was taken over, nothing. Its
    -- first entry is number n and its last number last; that of the creation has n = 0.
    CREATE TABLE journal (
        m      uuid NOT NULL REFERENCES matches ON DELETE CASCADE,
        n      int8 NOT NULL,
        last   int8 NOT NULL,
        seq    int8 NOT NULL,                      -- the number of the last event so far
        epoch  int8 NOT NULL,
        body   text NOT NULL,                      -- JSON: the events
        PRIMARY KEY (m, n)
    );

    CREATE TABLE parts (
        player    uuid NOT NULL,
        m         uuid NOT NULL REFERENCES matches ON DELETE CASCADE,
        seat      int2,                            -- where the player sits
        stood_in  int2,                            -- where a bot stands in for the player
        is_days   boolean NOT NULL,                -- whether it is played over days, and then:
        turn      int2,                            -- which seat is to move
        due_ms    int8,                            -- by when
        absent_ms int8,                            -- since when the player has been away
        PRIMARY KEY (player, m)
    );
    CREATE INDEX parts_by_match ON parts (m);

    CREATE TABLE node (
        id       uuid PRIMARY KEY,                 -- a run of a server that serves matches
        expires  timestamptz NOT NULL              -- by the clock of the database
    );
    ", "
    -- Room within a page for what lists show, which is written often.
    ALTER TABLE matches
        SET (fillfactor = 70),
        ADD COLUMN taken_at timestamptz,           -- when it was taken over last
        ADD COLUMN listed   boolean NOT NULL DEFAULT false,
        ADD COLUMN status   text,                  -- by its card; NULL if it has none
        ADD COLUMN card     text;                  -- what lists show of it
    DROP INDEX matches_served;
    CREATE INDEX matches_served ON matches (node, m) WHERE ended_ms IS NULL AND wake_ms IS NULL;
    CREATE INDEX matches_listed ON matches (game, status, m) WHERE listed AND ended_ms IS NULL;
    CREATE INDEX matches_listed_ended ON matches (ended_ms) WHERE listed AND ended_ms IS NOT NULL;

    -- Whose a live match is, unless it is played over days.
    CREATE TABLE involved (
        m       uuid NOT NULL REFERENCES matches ON DELETE CASCADE,
        place   int2 NOT NULL,                     -- a seat, or 2 for its host, or 3 for whom it is for
        player  uuid,
        PRIMARY KEY (m, place)
    );
    CREATE INDEX involved_player ON involved (player, m) WHERE player IS NOT NULL;
    INSERT INTO involved (m, place, player)
        WITH live AS (
            SELECT m, host, terms::jsonb AS terms FROM matches
            WHERE ended_ms IS NULL
              AND NOT coalesce((terms::jsonb #>> '{clock,move_ms}')::int8 >= 3600000, false)),
        seated AS (
            SELECT DISTINCT ON (j.m, e.event -> 'seat')
                   j.m, (e.event ->> 'seat')::int2 AS seat, (e.event ->> 'player')::uuid AS player
            FROM live JOIN journal j ON j.m = live.m,
                 jsonb_array_elements(j.body::jsonb) WITH ORDINALITY AS e (event, place)
            WHERE e.event ->> 'type' = 'seated'
            ORDER BY j.m, e.event -> 'seat', j.n DESC, e.place DESC)
        SELECT m, seat, player FROM seated
        UNION ALL SELECT m, 2, host FROM live
        UNION ALL SELECT m, 3, (terms ->> 'for')::uuid FROM live;

    -- Who looks for somebody to play.
    CREATE TABLE seeks (
        player  uuid PRIMARY KEY,
        number  int8 NOT NULL GENERATED ALWAYS AS IDENTITY,    -- the order of coming
        node    uuid NOT NULL,                     -- on which server
        key     text NOT NULL,                     -- only seeks with one key are paired
        body    text NOT NULL
    );
    CREATE INDEX seeks_waiting ON seeks (key, number);
    CREATE INDEX seeks_of_node ON seeks (node);

    CREATE SEQUENCE sessions;
    ", "
    ALTER SEQUENCE sessions RENAME TO connection_numbers;
    -- A player has any number of tokens, each of a session. Those from before are sessions of which nobody
    -- knows when they began.
    CREATE TABLE sessions (
        token      bytea PRIMARY KEY,              -- the SHA-256 of it
        id         uuid NOT NULL UNIQUE,
        player     uuid NOT NULL,
        label      text NOT NULL,
        kind       text NOT NULL,
        created_ms int8 NOT NULL,                  -- milliseconds since 1970
        seen_day   int8 NOT NULL                   -- days since 1970
    );
    CREATE INDEX sessions_player ON sessions (player, created_ms, id);
    INSERT INTO sessions
        SELECT token, gen_random_uuid(), id, 'device', 'web',
               floor(extract(epoch FROM now()) * 1000)::int8,
               floor(extract(epoch FROM now()) / 86400)::int8
        FROM players;
    ALTER TABLE players DROP COLUMN token;
    ", "
    -- To look up the match of every row costs a seventh of all moves. A row comes after another of its
    -- match, or with the match, and whoever forgets a match forgets its journal.
    ALTER TABLE journal DROP CONSTRAINT journal_m_fkey;
    ALTER TABLE involved DROP CONSTRAINT involved_m_fkey;
    ", "
    -- How one more device becomes a player's: by a code from another one, or by a key that was written down.
    CREATE TABLE pairings (
        player     uuid PRIMARY KEY,
        code       bytea NOT NULL UNIQUE,          -- the SHA-256 of it
        expires_ms int8 NOT NULL                   -- milliseconds since 1970
    );
    CREATE INDEX pairings_end ON pairings (expires_ms);
    CREATE TABLE recoveries (
        player uuid PRIMARY KEY,
        key    bytea NOT NULL UNIQUE               -- the SHA-256 of it
    );
    ", "
    -- Players whose name is theirs alone. Until now all are guests.
    ALTER TABLE players ADD COLUMN kind text;      -- NULL for a guest
    ALTER TABLE sessions ADD COLUMN recovered boolean NOT NULL DEFAULT false;  -- begun by a recovery key
    CREATE TABLE accounts (
        player     uuid PRIMARY KEY,
        password   text,                           -- its Argon2id hash, as a PHC string
        renamed_ms int8                            -- milliseconds since 1970; NULL with the first name
    );
    CREATE TABLE names (
        likeness text PRIMARY KEY,                 -- what names that look alike have in common
        player   uuid NOT NULL,
        until_ms int8                              -- until when it is kept for who has another name by now
    );
    CREATE INDEX names_player ON names (player);
    CREATE INDEX names_end ON names (until_ms) WHERE until_ms IS NOT NULL;
    ", "
    -- What ended matches are found by: who played them, and how they began. See ARCHIVED.
    ALTER TABLE matches ADD COLUMN summary text;   -- JSON: what it came to; NULL if it never began
    CREATE TABLE played (
        player   uuid NOT NULL,                    -- who sat there at the start
        ended_ms int8 NOT NULL,
        m        uuid NOT NULL,
        seat     int2 NOT NULL,
        game     text NOT NULL,
        other    uuid,                             -- the player across the board; NULL if it was a bot
        result   text NOT NULL,
        open     boolean NOT NULL,                 -- whether others find it
        PRIMARY KEY (player, ended_ms, m)
    );
    CREATE INDEX played_match ON played (m);
    CREATE TABLE openings (
        game       text COLLATE \"C\" NOT NULL,
        line       text COLLATE \"C\" NOT NULL,    -- the moves before it
        move       text COLLATE \"C\" NOT NULL,    -- empty for all matches
        n          int8 NOT NULL,
        won_first  int8 NOT NULL,
        won_second int8 NOT NULL,
        drawn      int8 NOT NULL,
        PRIMARY KEY (game, line, move)
    );
    ", "
    -- What ratings are reckoned from, and what has come of it.
    CREATE TABLE ledger (
        no      int8 PRIMARY KEY,                  -- in the order in which it was written
        m       uuid UNIQUE,                       -- the rated match that ended
        unrated uuid,                              -- whose matches up to here count for nobody
        body    text NOT NULL                      -- JSON
    );
    CREATE INDEX ledger_unrated ON ledger (no) WHERE unrated IS NOT NULL;
    -- The last number that was given. Whoever gives one locks it until it can be seen.
    CREATE TABLE ledger_end (no int8 NOT NULL);
    INSERT INTO ledger_end VALUES (0);
    -- Rated matches are always kept.
    ALTER TABLE matches ADD COLUMN ended_no int8;  -- of a rated match that has ended
    DROP INDEX matches_ended;
    CREATE INDEX matches_ended ON matches (ended_ms) WHERE ended_ms IS NOT NULL AND ended_no IS NULL;
    CREATE TABLE folds (
        id         int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        place      text NOT NULL,                  -- live; built, to take its place; or stale
        cursor     int8 NOT NULL,                  -- the last row that was posted
        known      int8 NOT NULL,                  -- up to where it knows whose matches do not count
        last_ms    int8 NOT NULL,                  -- milliseconds since 1970, as the next two
        started_ms int8 NOT NULL
    );
    CREATE UNIQUE INDEX folds_place ON folds (place) WHERE place <> 'stale';
    INSERT INTO folds (place, cursor, known, last_ms, started_ms) VALUES ('live', 0, 0, 0, 0);
    CREATE TABLE rating (
        fold       int8 NOT NULL,
        player     uuid NOT NULL,
        game       text COLLATE \"C\" NOT NULL,
        pool       text COLLATE \"C\" NOT NULL,
        rating     float8 NOT NULL,
        deviation  float8 NOT NULL,
        volatility float8 NOT NULL,
        games      int8 NOT NULL,
        last_ms    int8 NOT NULL,
        PRIMARY KEY (fold, player, game, pool)
    );
    CREATE INDEX rating_leaders ON rating (fold, game, pool, rating DESC, player, last_ms)
        WHERE deviation <= 75;
    CREATE TABLE rating_days (
        fold   int8 NOT NULL,
        player uuid NOT NULL,
        game   text NOT NULL,
        pool   text NOT NULL,
        day    int8 NOT NULL,                      -- days since 1970
        rating float8 NOT NULL,                    -- at its end
        PRIMARY KEY (fold, player, game, pool, day)
    );
    CREATE TABLE rating_changes (
        fold           int8 NOT NULL,
        no             int8 NOT NULL,              -- the row of the ledger
        seat           int2 NOT NULL,
        player         uuid NOT NULL,
        game           text NOT NULL,
        pool           text NOT NULL,
        at_ms          int8 NOT NULL,
        algorithm      int8 NOT NULL,              -- its version
        rating         float8 NOT NULL,            -- before
        deviation      float8 NOT NULL,
        volatility     float8 NOT NULL,
        new_rating     float8 NOT NULL,            -- after
        new_deviation  float8 NOT NULL,
        new_volatility float8 NOT NULL,
        PRIMARY KEY (fold, no, seat)
    );
    CREATE TABLE rating_pairs (
        fold  int8 NOT NULL,
        one   uuid NOT NULL,
        other uuid NOT NULL,
        body  text NOT NULL,                       -- JSON: what both have played lately
        PRIMARY KEY (fold, one, other)
    );
    CREATE TABLE conduct (
        fold     int8 NOT NULL,
        player   uuid NOT NULL,
        until_ms int8 NOT NULL,                    -- until when the player plays no rated matches
        body     text NOT NULL,                    -- JSON: how the player has left matches lately
        PRIMARY KEY (fold, player)
    );
    ", "
    -- Accounts of programs. Until now there are none.
    ALTER TABLE accounts ADD COLUMN owner uuid;    -- NULL for a person
    CREATE INDEX accounts_owner ON accounts (owner, player) WHERE owner IS NOT NULL;
    ",
    // Adds the table of players who block each other.
    "
    CREATE TABLE blocks (
        player   uuid NOT NULL,                    -- who wants it so
        other    uuid NOT NULL,
        since_ms int8 NOT NULL,                    -- milliseconds since 1970
        PRIMARY KEY (player, other)
    );
    CREATE INDEX blocks_other ON blocks (other, player);
    ", "
    -- Whom a seek fits by ratings, which is more with time.
    ALTER TABLE seeks
        ADD COLUMN rating int8 NOT NULL DEFAULT 0,
        ADD COLUMN low    int8,                    -- how much weaker the other may be; NULL for anybody
        ADD COLUMN high   int8,                    -- how much stronger
        ADD COLUMN since  timestamptz NOT NULL DEFAULT now();
    ", "
    -- What the operator gives somebody, whom a proxy knows, who is being forgotten, and what the operator asks
    -- a server for.
    ALTER TABLE players ADD COLUMN gone boolean NOT NULL DEFAULT false;  -- whether it was forgotten
    CREATE TABLE passes (
        code       bytea PRIMARY KEY,              -- the SHA-256 of it
        player     uuid,                           -- whose sessions it begins; NULL for an invitation
        expires_ms int8 NOT NULL                   -- milliseconds since 1970
    );
    CREATE TABLE externals (
        name   text COLLATE \"C\" PRIMARY KEY,     -- as the proxy knows them
        player uuid NOT NULL UNIQUE
    );
    CREATE TABLE forgetting (
        player uuid PRIMARY KEY,
        after  uuid                                -- the match up to which the name is in none any more
    );
    CREATE TABLE orders (
        id       uuid PRIMARY KEY,
        asked    timestamptz NOT NULL DEFAULT now(),
        body     text NOT NULL,
        taken    boolean NOT NULL DEFAULT false,   -- whether a server does it
        answer   text                              -- what has come of it
    );
    ", "
    -- What players' ended matches came to is counted as they are filed: somebody may have a hundred thousand.
    -- In one order, so that of two servers none waits for the other in a circle.
    CREATE TABLE results (
        player   uuid NOT NULL,
        seen_by  uuid NOT NULL,                    -- who may know of them: zeros for everybody, else who sat there
        result   text COLLATE \"C\" NOT NULL,
        n        int8 NOT NULL,
        first_ms int8 NOT NULL,                    -- when the first of them ended
        PRIMARY KEY (player, seen_by, result)
    );
    CREATE FUNCTION results_of_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO results AS r
            SELECT player, s, result, count(*) * CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END, min(ended_ms)
            FROM changed, unnest(CASE WHEN open THEN ARRAY['00000000-0000-0000-0000-000000000000'::uuid]
                                      ELSE ARRAY[player, other] END) AS s
            WHERE s IS NOT NULL GROUP BY player, s, result ORDER BY player, s, result
            ON CONFLICT (player, seen_by, result) DO UPDATE SET
                n = r.n + excluded.n, first_ms = least(r.first_ms, excluded.first_ms);
        IF TG_OP = 'DELETE' THEN
            DELETE FROM results WHERE n <= 0 AND player IN (SELECT player FROM changed);
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER results_of_more AFTER INSERT ON played REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION results_of_changed();
    CREATE TRIGGER results_of_fewer AFTER DELETE ON played REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION results_of_changed();
    INSERT INTO results
        SELECT player, s, result, count(*), min(ended_ms)
        FROM played, unnest(CASE WHEN open THEN ARRAY['00000000-0000-0000-0000-000000000000'::uuid]
                                 ELSE ARRAY[player, other] END) AS s
        WHERE s IS NOT NULL GROUP BY player, s, result;
    ", "
    -- Rated matches that get their number later, once those may know of their end who had no seat in them.
    CREATE TABLE ledger_waiting (
        m      uuid PRIMARY KEY,
        due_ms int8 NOT NULL,                      -- milliseconds since 1970
        body   text NOT NULL                       -- JSON: the row of the ledger
    );
    CREATE INDEX ledger_waiting_due ON ledger_waiting (due_ms);
    ", "
    -- What names have in common that look alike is found otherwise.
    ", "
    -- What was thought of ended matches.
    CREATE TABLE analyses (
        m     uuid PRIMARY KEY,
        nodes int8 NOT NULL,                       -- how many positions were visited to value one
        body  text NOT NULL                        -- JSON
    );
    ", "
    -- Which session has made a code: with that one it is void. Of those from before that is not known.
    ALTER TABLE pairings ADD COLUMN session uuid;
    ", "
    -- Names are kept by what they look like as they are written, too.
    ", "
    -- When players have had matches looked at, for a day. Of two servers that count one more of a player at the
    -- same time, the key lets one.
    CREATE TABLE analyses_asked (
        player   uuid,
        no       int8,
        asked_ms int8 NOT NULL,                    -- milliseconds since 1970
        PRIMARY KEY (player, no)
    );
    CREATE INDEX analyses_asked_ms ON analyses_asked (asked_ms);
    "];

/// Schema version that introduced the history of ended matches. When the migration introduces the
/// history, it also adds all matches that ended before the migration.
const HISTORY_VERSION: usize = 7;

/// Schema version that recomputes the name skeletons. All confusable names share a skeleton.
pub(super) const SKELETONS_VERSION: usize = 15;

/// Schema version that adds further name skeletons, which are computed from the names in their
/// original case.
pub(super) const WRITTEN_NAMES_VERSION: usize = 18;

/// Key of the advisory lock that lets only one program at a time migrate the schema.
const MIGRATION_LOCK: i64 = 0x706c_7968_6f75_7365;

/// Migrates the schema to the current version.
pub(super) async fn migrate(connection: &mut PgConnection) -> Result<(), OpenError> {
    migrate_to(connection, MIGRATIONS.len()).await
}

/// Migrates the schema to the given version. After an error, the connection must be closed, which
/// rolls the migration back.
pub(super) async fn migrate_to(
    connection: &mut PgConnection,
    target: usize,
) -> Result<(), OpenError> {
    connection.set_statement_timeout(Duration::MAX);
    let sql = format!(
        "BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK});
         CREATE TABLE IF NOT EXISTS plyhouse (version int8 NOT NULL)"
    );
    connection.execute_batch(&sql).await?;
    let version: Option<usize> =
        query_first(&*connection, "SELECT version FROM plyhouse", &[]).await?;
    let current = version.unwrap_or(0);
    let Some(missing) = MIGRATIONS[..target].get(current..) else {
        return Err(OpenError::TooNew);
    };
    for (version, migration) in (current + 1..).zip(missing) {
        connection.execute_batch(migration).await?;
        match version {
            HISTORY_VERSION => index_all_matches(connection).await?,
            SKELETONS_VERSION => recompute_name_skeletons(connection).await?,
            WRITTEN_NAMES_VERSION => add_missing_name_skeletons(connection).await?,
            _ => {}
        }
    }
    let sql = match version {
        None => "INSERT INTO plyhouse VALUES ($1)",
        Some(_) => "UPDATE plyhouse SET version = $1",
    };
    connection.execute(sql, &[target.into()]).await?;
    connection.execute_batch("COMMIT").await?;
    connection.set_statement_timeout(STATEMENT_TIMEOUT);
    Ok(())
}

/// Key of the advisory lock that running servers hold. A server outside a cluster holds the lock
/// exclusively. The servers of a cluster hold it in shared mode.
const SERVER_LOCK: i64 = 0x706c_7968_6f75_7366;

/// Statement that takes the server lock exclusively.
pub(super) const EXCLUSIVE_LOCK: &str = "SELECT pg_try_advisory_lock($1)";

/// Statement that takes the server lock in shared mode.
pub(super) const SHARED_LOCK: &str = "SELECT pg_try_advisory_lock_shared($1)";

/// Takes the server lock until this connection ends, by running one of the statements above. Fails
/// if another server holds the lock in a mode that conflicts.
pub(super) async fn lock(client: &Client, lock_sql: &str) -> Result<(), OpenError> {
    let row = client.query_one(lock_sql, &[&SERVER_LOCK]).await?;
    let is_locked: bool = row.get(0);
    is_locked.then_some(()).ok_or(OpenError::InUse)
}

/// Checks that the schema has the version that this program expects.
pub(super) async fn check_version(client: &Client) -> Result<(), OpenError> {
    let exists = client.query_one("SELECT to_regclass('plyhouse') IS NOT NULL", &[]);
    if !exists.await?.get::<_, bool>(0) {
        return Err(OpenError::NoStore);
    }
    let row = client
        .query_one("SELECT version FROM plyhouse", &[])
        .await?;
    let version = usize::try_from(row.get::<_, i64>(0)).unwrap_or(usize::MAX);
    match version.cmp(&MIGRATIONS.len()) {
        Ordering::Less => Err(OpenError::TooOld),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(OpenError::TooNew),
    }
}
