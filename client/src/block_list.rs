//! `ply block`, `unblock` and `blocked`: manage the list of blocked players.

use plyhouse_protocol::{ClientMessage, ServerMessage};

use crate::CommandContext;
use crate::exit::Failure;
use crate::login_and_devices::{SignedInPlayer, unexpected_response};
use crate::sanitize::sanitize;

/// Blocks or unblocks a player, and prints the list of blocked players.
pub(crate) async fn set_blocked(
    context: &CommandContext,
    target: &str,
    enabled: bool,
) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, enabled).await?;
    let player = match is_player_id(target) {
        true => target.to_owned(),
        false => fetch_player_id(&mut signed_in, target).await?,
    };
    let message = ClientMessage::Block {
        player: Some(player),
        enabled: Some(enabled),
    };
    request_and_print_blocked(signed_in, message).await
}

/// Prints the list of blocked players.
pub(crate) async fn list_blocked(context: &CommandContext) -> Result<(), Failure> {
    let signed_in = SignedInPlayer::sign_in(context, false).await?;
    let message = ClientMessage::Block {
        player: None,
        enabled: None,
    };
    request_and_print_blocked(signed_in, message).await
}

/// Returns whether `text` has the form of a player id, which is a UUID.
fn is_player_id(text: &str) -> bool {
    let is_uuid_char = |(at, c): (usize, char)| match at {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.char_indices().all(is_uuid_char)
}

/// Asks the server for the player id of the account with this name.
async fn fetch_player_id(signed_in: &mut SignedInPlayer, name: &str) -> Result<String, Failure> {
    let message = ClientMessage::Profile {
        name: Some(name.to_owned()),
        player: None,
    };
    match signed_in.client.request(message).await? {
        ServerMessage::Profile { profile, .. } => Ok(profile.player.id.to_string()),
        _ => Err(unexpected_response()),
    }
}

async fn request_and_print_blocked(
    mut signed_in: SignedInPlayer,
    message: ClientMessage,
) -> Result<(), Failure> {
    let ServerMessage::Blocked { players, .. } = signed_in.client.request(message).await? else {
        return Err(unexpected_response());
    };
    if players.is_empty() {
        signed_in.client.print("You have not blocked anyone.")?;
    }
    for player in players {
        let line = format!("{}  {}", player.id, sanitize(&player.name));
        signed_in.client.print(&line)?;
    }
    signed_in.client.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_player_id;

    #[test]
    fn player_id_is_distinguished_from_name() {
        assert!(is_player_id("5f0c0000-0000-4000-8000-000000000002"));
        for name in ["ada", "bea-bead-beef-face-bed-bad-cafe-dead", "Zoë"] {
            assert!(!is_player_id(name), "{name}");
        }
    }
}
