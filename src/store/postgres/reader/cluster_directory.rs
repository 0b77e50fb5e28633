//! Reads the state that the servers of a cluster share.

use plyhouse_protocol::{MatchId, MatchStatus, PlayerId, SessionId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{Reader, match_ids};
use crate::port::cluster_directory::{MatchListPage, MatchListQuery, MatchRoute, SeekerPage};
use crate::postgres::journal_rows::{to_i64, to_u64};
use crate::postgres::reconnecting_connection::Params;
use crate::postgres::shared_sql::to_rows;
use crate::postgres::writer::batch::account_deletion::SELECT_DELETED_PLAYERS;
use crate::sql::players::players_from_rows;
use crate::{NodeId, PlayerRecord, ReadError};

/// Selects the live matches in the match list. Live and ended matches are selected by separate
/// queries, because each has its own index.
macro_rules! live_matches_sql {
    () => {
        "matches WHERE listed AND ended_ms IS NULL
         AND (game = $1 OR $1 IS NULL) AND (status = $2::text OR $2 IS NULL)"
    };
}
/// Selects the ended matches in the match list. If a match has a spectator delay, its end may still
/// be secret. For a match with a spectator delay, the query uses the status that the match owner
/// last published.
macro_rules! ended_matches_sql {
    () => {
        r#"matches WHERE listed AND ended_ms >= $3
         AND (game = $1 OR $1 IS NULL)
         AND ($2::text IS NULL
              OR $2 = CASE WHEN terms LIKE '%"delay_ms":%' THEN status ELSE 'ended' END)"#
    };
}

impl Reader {
    /// Returns all servers with a valid lease.
    pub(in crate::postgres) async fn live_nodes(&self) -> Result<Vec<NodeId>, ReadError> {
        let sql = "SELECT id FROM node WHERE expires > now()";
        let rows = self.query(sql, &[]).await?;
        Ok(rows.iter().map(|row| NodeId(row.get(0))).collect())
    }

    /// Returns the owner and state of a match.
    pub(in crate::postgres) async fn find_route(
        &self,
        id: MatchId,
    ) -> Result<Option<MatchRoute>, ReadError> {
        let sql = "SELECT node, epoch, ended_ms IS NOT NULL,
                          EXISTS (SELECT FROM node WHERE id = mt.node AND expires > now())
                   FROM matches mt WHERE m = $1";
        let rows = self.query(sql, &[&id.0]).await?;
        let route = |row: &Row| MatchRoute {
            owner: row.get::<_, Option<_>>(0).map(NodeId),
            is_lease_valid: row.get(3),
            epoch: to_u64(row.get(1)),
            has_ended: row.get(2),
        };
        Ok(rows.first().map(route))
    }

    /// Returns those of the given sessions that are no longer stored. Each session is passed
    /// together with its player's id.
    pub(in crate::postgres) async fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> Result<Vec<SessionId>, ReadError> {
        let (players, ids): (Vec<Uuid>, Vec<Uuid>) =
            sessions.iter().map(|(player, id)| (player.0, id.0)).unzip();
        let sql = "SELECT u.id FROM UNNEST($1::uuid[], $2::uuid[]) AS u (player, id)
                   WHERE NOT EXISTS (SELECT FROM sessions s
                                     WHERE s.player = u.player AND s.id = u.id)";
        let rows = self.query(sql, &[&players, &ids]).await?;
        Ok(rows.iter().map(|row| SessionId(row.get(0))).collect())
    }

    /// Returns those of the given players who have been deleted.
    pub(in crate::postgres) async fn deleted_players(
        &self,
        players: Vec<PlayerId>,
    ) -> Result<Vec<PlayerId>, ReadError> {
        let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
        let rows = self.query(SELECT_DELETED_PLAYERS, &[&players]).await?;
        Ok(rows.iter().map(|row| PlayerId(row.get(0))).collect())
    }

    /// Returns the current records of the given players. Unknown and deleted players are omitted.
    pub(in crate::postgres) async fn current_players(
        &self,
        players: Vec<PlayerId>,
    ) -> Result<Vec<PlayerRecord>, ReadError> {
        let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
        let sql = "SELECT id, name, kind FROM players WHERE id = ANY ($1) AND NOT gone";
        let rows = self.query(sql, &[&players]).await?;
        Ok(players_from_rows(&to_rows(&rows))?)
    }

    /// Returns those of the given matches that the server `node` does not own.
    pub(in crate::postgres) async fn foreign_matches(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> Result<Vec<MatchId>, ReadError> {
        let ids: Vec<Uuid> = ids.into_iter().map(|id| id.0).collect();
        let sql = "SELECT m FROM matches WHERE m = ANY($1) AND node IS DISTINCT FROM $2";
        let rows = self.query(sql, &[&ids, &node.0]).await?;
        Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
    }

    /// Returns at most `limit` live matches that have no wake time and no owner with a valid lease.
    /// The order is random.
    pub(in crate::postgres) async fn abandoned_matches(
        &self,
        limit: usize,
    ) -> Result<Vec<MatchId>, ReadError> {
        // The query checks leases per server instead of per match. Only a few servers own matches,
        // and nearly all of these servers have valid leases.
        let sql = "WITH RECURSIVE owner AS (
                       (SELECT node FROM matches
                        WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS NOT NULL
                        ORDER BY node LIMIT 1)
                       UNION ALL
                       SELECT (SELECT node FROM matches
                               WHERE ended_ms IS NULL AND wake_ms IS NULL AND node > owner.node
                               ORDER BY node LIMIT 1)
                       FROM owner WHERE owner.node IS NOT NULL)
                   SELECT m FROM (
                       SELECT m FROM matches
                       WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS NULL
                       UNION ALL
                       SELECT m FROM owner JOIN matches USING (node)
                       WHERE ended_ms IS NULL AND wake_ms IS NULL AND NOT EXISTS (
                           SELECT FROM node WHERE id = owner.node AND expires > now())) AS found
                   ORDER BY random() LIMIT $1";
        let rows = self.query(sql, &[&to_i64(limit as u64)]).await?;
        Ok(match_ids(&rows).collect())
    }

    /// Returns the live matches of a player, except correspondence matches.
    pub(in crate::postgres) async fn involved_matches(
        &self,
        player: PlayerId,
    ) -> Result<Vec<MatchId>, ReadError> {
        let sql = "SELECT DISTINCT m FROM involved WHERE player = $1 ORDER BY m";
        let rows = self.query(sql, &[&player.0]).await?;
        Ok(match_ids(&rows).collect())
    }

    /// Returns the number of live matches that a player hosts, except correspondence matches.
    pub(in crate::postgres) async fn hosted_match_count(
        &self,
        player: PlayerId,
    ) -> Result<usize, ReadError> {
        let sql = "SELECT count(*) FROM involved WHERE player = $1 AND place = 2";
        let rows = self.query(sql, &[&player.0]).await?;
        let count = rows.first().map_or(0, |row| to_u64(row.get(0)));
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns a new connection number from a database sequence.
    pub(in crate::postgres) async fn next_connection_number(&self) -> Result<u64, ReadError> {
        let rows = self
            .query("SELECT nextval('connection_numbers')", &[])
            .await?;
        let number = rows.first().map(|row| to_u64(row.get(0)));
        number.ok_or(ReadError::Unavailable)
    }

    /// Returns the players with waiting seeks on a server.
    pub(in crate::postgres) async fn seekers_on_node(
        &self,
        node: NodeId,
    ) -> Result<Vec<PlayerId>, ReadError> {
        let sql = "SELECT player FROM seeks WHERE node = $1";
        let rows = self.query(sql, &[&node.0]).await?;
        Ok(rows.iter().map(|row| PlayerId(row.get(0))).collect())
    }

    /// Returns whether a player has a waiting seek on a server.
    pub(in crate::postgres) async fn is_seeking(
        &self,
        player: PlayerId,
        node: NodeId,
    ) -> Result<bool, ReadError> {
        let sql = "SELECT player FROM seeks WHERE player = $1 AND node = $2";
        let rows = self.query(sql, &[&player.0, &node.0]).await?;
        Ok(!rows.is_empty())
    }

    /// Returns the number of waiting seeks and the bodies of the seeks that have waited longest.
    pub(in crate::postgres) async fn list_seekers(
        &self,
        key_prefix: Option<&str>,
        limit: usize,
    ) -> Result<SeekerPage, ReadError> {
        let sql = "SELECT seeks.body, count(*) OVER ()
                   FROM seeks JOIN node ON node.id = seeks.node AND node.expires > now()
                   WHERE $1::text IS NULL OR starts_with(seeks.key, $1)
                   ORDER BY seeks.since, seeks.number LIMIT $2";
        let limit = to_i64(limit as u64);
        let rows = self.query(sql, &[&key_prefix, &limit]).await?;
        Ok(SeekerPage {
            total: rows.first().map_or(0, |row| to_u64(row.get(1))),
            bodies: rows.iter().map(|row| row.get(0)).collect(),
        })
    }

    /// Returns one page of the matches that fit the query, and the total number of these matches.
    pub(in crate::postgres) async fn list_matches(
        &self,
        query: &MatchListQuery,
    ) -> Result<MatchListPage, ReadError> {
        let status = query.status.map(MatchStatus::as_str);
        let since = to_i64(query.ended_since_ms);
        let sql = concat!(
            "SELECT (SELECT count(*) FROM ",
            live_matches_sql!(),
            ") + (SELECT count(*) FROM ",
            ended_matches_sql!(),
            ")"
        );
        let total = self.query(sql, &[&query.game, &status, &since]).await?;
        let sql = concat!(
            "(SELECT m, card FROM ",
            live_matches_sql!(),
            " AND (m < $4 OR $4 IS NULL) ORDER BY m DESC LIMIT $5)
             UNION ALL (SELECT m, card FROM ",
            ended_matches_sql!(),
            " AND (m < $4 OR $4 IS NULL) ORDER BY m DESC LIMIT $5)
             ORDER BY m DESC LIMIT $5"
        );
        let (after, limit) = (query.after.map(|id| id.0), to_i64(query.limit as u64));
        let params: Params<'_> = &[&query.game, &status, &since, &after, &limit];
        let rows = self.query(sql, params).await?;
        Ok(MatchListPage {
            total: total.first().map_or(0, |row| to_u64(row.get(0))),
            summaries: rows.iter().map(|row| row.get(1)).collect(),
        })
    }
}
