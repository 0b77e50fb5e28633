//! How one connection of a player stands to the others: which of them end because of which.

use plyhouse_protocol::{SessionId, SessionKind};
use serde::{Deserialize, Serialize};

/// How many connections one session may have, and one player: more tabs and devices than anybody looks at.
const OF_SESSION_MAX: usize = 8;
const OF_PLAYER_MAX: usize = 32;

/// Which session of its player a connection is of, and when it has said hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The later the higher.
    pub(crate) number: u64,
    pub(crate) session: SessionId,
    /// What that is of.
    pub(crate) kind: SessionKind,
    /// Whether the earlier connections of its session stay.
    pub(crate) is_beside: bool,
}

/// The numbers of those of a player's connections that are to end: whose session has a later one that does
/// not stand beside others, and the oldest of too many.
pub(crate) fn excess_connections(connections: &[Standing]) -> Vec<u64> {
    let mut latest_first = connections.to_vec();
    latest_first.sort_unstable_by_key(|one| std::cmp::Reverse(one.number));
    let (mut stay, mut ended) = (Vec::<Standing>::new(), Vec::new());
    for one in latest_first {
        let of_session = || stay.iter().filter(|later| later.session == one.session);
        let is_surplus = of_session().any(|later| !later.is_beside)
            || of_session().count() >= OF_SESSION_MAX
            || stay.len() >= OF_PLAYER_MAX;
        match is_surplus {
            true => ended.push(one.number),
            false => stay.push(one),
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn standing(number: u64, session: u128, is_beside: bool) -> Standing {
        let session = SessionId(Uuid::from_u128(session));
        Standing {
            number,
            session,
            kind: SessionKind::Cli,
            is_beside,
        }
    }

    #[test]
    fn a_plain_connection_ends_the_earlier_of_its_session() {
        let others = [standing(1, 7, false), standing(2, 8, false)];
        let of = |last| excess_connections(&[others[0], last, others[1]]);
        assert_eq!(of(standing(3, 7, false)), [1]);
        assert_eq!(of(standing(3, 7, true)), [] as [u64; 0]);
        assert_eq!(of(standing(3, 9, false)), [] as [u64; 0]);
        // One that is heard of late is none the later for that.
        assert_eq!(of(standing(0, 7, false)), [0]);
        assert_eq!(of(standing(0, 7, true)), [0]);
    }

    #[test]
    fn the_oldest_of_too_many_ends() {
        let tabs: Vec<_> = (0..9).map(|n| standing(n, 7, true)).collect();
        assert_eq!(excess_connections(&tabs[..8]), [] as [u64; 0]);
        assert_eq!(excess_connections(&tabs), [0]);
        let devices: Vec<_> = (0..34).map(|n| standing(n, n.into(), false)).collect();
        assert_eq!(excess_connections(&devices), [1, 0]);
    }
}
