//! `ply block`, `unblock` and `blocked`: whom one does not want to meet.

use plyhouse_protocol::{ClientMessage, ServerMessage};

use crate::CommandContext;
use crate::devices::{Known, unexpected};
use crate::failure::Failure;
use crate::harmless::sanitize;

/// Blocks a player, or does not any more, and tells who is blocked.
pub(crate) async fn set(visit: &CommandContext, who: &str, on: bool) -> Result<(), Failure> {
    let mut known = Known::open(visit, on).await?;
    let player = match is_id(who) {
        true => who.to_owned(),
        false => id_of(&mut known, who).await?,
    };
    let asked = ClientMessage::Block {
        player: Some(player),
        enabled: Some(on),
    };
    tell(known, asked).await
}

/// Tells who is blocked.
pub(crate) async fn list(visit: &CommandContext) -> Result<(), Failure> {
    let known = Known::open(visit, false).await?;
    let asked = ClientMessage::Block {
        player: None,
        enabled: None,
    };
    tell(known, asked).await
}

/// Whether this looks like the id of a player.
fn is_id(who: &str) -> bool {
    let is_of_id = |(at, c): (usize, char)| match at {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    };
    who.len() == 36 && who.char_indices().all(is_of_id)
}

/// The id of the player whose alone this name is.
async fn id_of(known: &mut Known, name: &str) -> Result<String, Failure> {
    let asked = ClientMessage::Profile {
        name: Some(name.to_owned()),
        player: None,
    };
    match known.dialogue.ask(asked).await? {
        ServerMessage::Profile { profile, .. } => Ok(profile.player.id.to_string()),
        _ => Err(unexpected()),
    }
}

async fn tell(mut known: Known, asked: ClientMessage) -> Result<(), Failure> {
    let ServerMessage::Blocked { players, .. } = known.dialogue.ask(asked).await? else {
        return Err(unexpected());
    };
    if players.is_empty() {
        known.dialogue.say("You block nobody.")?;
    }
    for player in players {
        let line = format!("{}  {}", player.id, sanitize(&player.name));
        known.dialogue.say(&line)?;
    }
    known.dialogue.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn an_id_is_told_from_a_name() {
        assert!(is_id("5f0c0000-0000-4000-8000-000000000002"));
        for name in ["ada", "bea-bead-beef-face-bed-bad-cafe-dead", "Zoë"] {
            assert!(!is_id(name), "{name}");
        }
    }
}
