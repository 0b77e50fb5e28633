//! Decides which connections of a player the server closes when another connection logs in.

use plyhouse_protocol::{SessionId, SessionKind};
use serde::{Deserialize, Serialize};

/// Maximum number of simultaneous connections per session. The limit per player is
/// [`PLAYER_CONNECTIONS_MAX`]. Both limits on simultaneous connections exceed the number of tabs
/// and devices that a person uses.
const SESSION_CONNECTIONS_MAX: usize = 8;
const PLAYER_CONNECTIONS_MAX: usize = 32;

/// Data that decides which of a player's connections are closed when the player has too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConnectionPrecedence {
    /// Number that the server gave to the connection's `hello` message. Later `hello` messages have
    /// higher numbers.
    pub(crate) number: u64,
    pub(crate) session: SessionId,
    pub(crate) kind: SessionKind,
    /// Whether earlier connections of the same session stay open when this connection logs in. If
    /// false, this connection replaces them.
    #[serde(rename = "is_beside")]
    pub(crate) keeps_earlier: bool,
}

/// Returns the `hello` numbers of the connections that must be closed. A connection must be closed
/// if a later connection of the same session replaces it. If more connections than a limit allows
/// remain, the oldest ones must be closed too.
pub(crate) fn excess_connections(connections: &[ConnectionPrecedence]) -> Vec<u64> {
    let mut latest_first = connections.to_vec();
    latest_first.sort_unstable_by_key(|one| std::cmp::Reverse(one.number));
    let (mut remaining, mut ended) = (Vec::<ConnectionPrecedence>::new(), Vec::new());
    for one in latest_first {
        let later_of_session = || {
            remaining
                .iter()
                .filter(|later| later.session == one.session)
        };
        let is_excess = later_of_session().any(|later| !later.keeps_earlier)
            || later_of_session().count() >= SESSION_CONNECTIONS_MAX
            || remaining.len() >= PLAYER_CONNECTIONS_MAX;
        match is_excess {
            true => ended.push(one.number),
            false => remaining.push(one),
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn precedence(number: u64, session: u128, keeps_earlier: bool) -> ConnectionPrecedence {
        let session = SessionId(Uuid::from_u128(session));
        ConnectionPrecedence {
            number,
            session,
            kind: SessionKind::Cli,
            keeps_earlier,
        }
    }

    #[test]
    fn new_connection_ends_earlier_one_of_same_session() {
        let others = [precedence(1, 7, false), precedence(2, 8, false)];
        let ended_with = |last| excess_connections(&[others[0], last, others[1]]);
        assert_eq!(ended_with(precedence(3, 7, false)), [1]);
        assert_eq!(ended_with(precedence(3, 7, true)), [] as [u64; 0]);
        assert_eq!(ended_with(precedence(3, 9, false)), [] as [u64; 0]);
        // The connection with the higher `hello` number counts as later, even if its login is
        // processed first.
        assert_eq!(ended_with(precedence(0, 7, false)), [0]);
        assert_eq!(ended_with(precedence(0, 7, true)), [0]);
    }

    #[test]
    fn oldest_connections_over_the_limit_end() {
        let tabs: Vec<_> = (0..9).map(|n| precedence(n, 7, true)).collect();
        assert_eq!(excess_connections(&tabs[..8]), [] as [u64; 0]);
        assert_eq!(excess_connections(&tabs), [0]);
        let devices: Vec<_> = (0..34).map(|n| precedence(n, n.into(), false)).collect();
        assert_eq!(excess_connections(&devices), [1, 0]);
    }
}
