//! Before `ply play`: which of this machine's players has the match that is meant. A note tells
//! only where a player was last seen; what is true, the server says, and so it is asked, one player
//! after the other, as long as the notes leave a doubt.

use std::io;
use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, Hello, Request, RequestId, ServerMessage, Snapshot, Token, VERSION,
};
use tokio::time::timeout;

use crate::identity::{Hint, IdentityLock, Slots, Wish};
use crate::server::Server;
use crate::session::Plan;

/// How long one player's matches may be waited for. A server that takes longer is left to the
/// session, which knows how to wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes the slot of the player who has an interrupted match that fits the plan, else the best one
/// of whose player no other match is known to run: such a player's seat is left to whoever comes
/// back for it.
pub(crate) async fn take_slot(
    slots: &Slots,
    server: &Server,
    wish: &Wish,
    plan: &Plan,
) -> io::Result<Option<IdentityLock>> {
    let mut passed = Vec::new();
    loop {
        let Some(mut slot) = slots.take(wish, &passed).await? else {
            return Ok(None);
        };
        let doubtful = match slot.hint() {
            Hint::None => false,
            Hint::Only => !plan.takes_any() || !passed.is_empty(),
            Hint::OneOfMany => true,
        };
        let Some(token) = slot.token().filter(|_| doubtful).cloned() else {
            return Ok(Some(slot));
        };
        let asked = timeout(PATIENCE, matches_of(server, &token)).await;
        let Ok(Some(mine)) = asked else {
            return Ok(Some(slot));
        };
        if mine.iter().any(|old| plan.fits(old)) {
            return Ok(Some(slot));
        }
        let seated = mine.iter().filter(|old| old.you.is_some());
        let live: Vec<_> = seated.map(|old| old.match_id).collect();
        slot.keep_only(&live)?;
        if !live.is_empty() {
            passed.push(slot.number());
        }
    }
}

/// The live matches of a player, as the server tells them; `None` if it does not.
async fn matches_of(server: &Server, token: &Token) -> Option<Vec<Snapshot>> {
    let mut connection = server.connect().await.ok()?;
    let hello = Request {
        id: Some(RequestId(0)),
        message: ClientMessage::Hello(Box::new(Hello {
            protocol: Some(VERSION),

            token: Some(token.clone()),
            ..Hello::default()
        })),
    };
    connection.send(&hello).await.ok()?;
    let mut mine = Vec::new();
    let mut awaited: Option<usize> = None;
    while awaited.is_none_or(|count| mine.len() < count) {
        let text = connection.receive_text().await.ok()?;
        match ServerMessage::decode(&text) {
            Ok(Some(ServerMessage::Welcome(welcome))) => {
                // Of matches of days no snapshot comes by itself.
                let followed = welcome.following.iter();
                let (shown, days): (Vec<_>, Vec<_>) =
                    followed.partition(|followed| followed.correspondence.is_none());
                awaited = Some(shown.len() + days.len());
                for row in days {
                    let message = ClientMessage::Watch {
                        target: row.match_id.into(),
                    };
                    connection.send(&Request { id: None, message }).await.ok()?;
                }
            }
            Ok(Some(ServerMessage::Match(snapshot))) => mine.push(*snapshot),
            Ok(Some(ServerMessage::Error(_))) | Err(_) => return None,
            Ok(_) => {}
        }
    }
    let _ = connection.close().await;
    Some(mine)
}
