//! `ply register`, `rename`, `password`, `key` and `forget`: manage an account and its API keys.

use std::io::Write as _;

use plyhouse_protocol::{ClientMessage, ServerMessage, Token};

use crate::CommandContext;
use crate::exit::{Failure, OutputError};
use crate::login_and_devices::{SignedInPlayer, unexpected_response};
use crate::password_prompt;
use crate::sanitize::sanitize;

/// Registers the stored player as an account with this name. If no player is stored, the command
/// creates one first.
pub(crate) async fn register(
    context: &CommandContext,
    name: String,
    has_password: bool,
    is_invited: bool,
) -> Result<(), Failure> {
    ensure_not_registered(context).await?;
    let password = match has_password {
        true => Some(password_prompt::read_new_password()?),
        false => None,
    };
    let invite = is_invited
        .then(password_prompt::read_invitation_code)
        .transpose()?;
    let mut signed_in = SignedInPlayer::sign_in(context, true).await?;
    let hint = match &password {
        Some(_) => format!("On other devices: ply login {}", sanitize(&name)),
        None => "No password set: log in on other devices with `ply pair`, or run `ply password`."
            .to_owned(),
    };
    let message = ClientMessage::Register {
        name: name.clone(),
        password,
        invite,
    };
    signed_in.client.request(message).await?;
    signed_in.save_name(&name)?;
    let text = format!("Account {} created.\n{hint}", sanitize(&name));
    signed_in.client.finish(&text).await
}

/// Fails if the player is already registered. `register` calls this function before it shows any
/// prompt.
///
/// This function opens and closes its own connection, because the user may need a long time to
/// choose a password and the server closes silent connections. `register` opens a new connection
/// after the prompts.
async fn ensure_not_registered(context: &CommandContext) -> Result<(), Failure> {
    let signed_in = SignedInPlayer::sign_in(context, true).await?;
    if signed_in.is_account {
        let called = &signed_in.name;
        let why =
            format!("you already have an account, {called}; to change its name, use `ply rename`");
        return Err(Failure::Refused(why));
    }
    signed_in.client.close().await;
    Ok(())
}

/// Changes the name of the account.
pub(crate) async fn rename_player(context: &CommandContext, name: String) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, false).await?;
    let message = ClientMessage::Rename { name: name.clone() };
    signed_in.client.request(message).await?;
    signed_in.save_name(&name)?;
    let text = format!("Your name is now {}.", sanitize(&name));
    signed_in.client.finish(&text).await
}

/// Sets or changes the player's password.
pub(crate) async fn set_password(context: &CommandContext) -> Result<(), Failure> {
    let new: Token = password_prompt::read_new_password()?;
    let mut signed_in = SignedInPlayer::sign_in(context, false).await?;
    let message = |proof| ClientMessage::SetPassword {
        new: new.clone(),
        proof,
    };
    signed_in.request_with_reauth(context, message).await?;
    let text = "Password set. Your other devices were logged out.";
    signed_in.client.finish(text).await
}

/// Deletes the player on the server, then removes the player's identity from this machine.
pub(crate) async fn delete_account(
    context: &CommandContext,
    is_confirmed: bool,
) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, false).await?;
    if !is_confirmed {
        let why = "this deletes your account for good; to confirm, add --yes (copies of your games \
                   that others made are not deleted)";
        return Err(Failure::Refused(why.to_owned()));
    }
    let message = |proof| ClientMessage::DeleteAccount { proof };
    signed_in.request_with_reauth(context, message).await?;
    signed_in.clear_identity()?;
    signed_in.client.finish("Account deleted.").await
}

/// Creates and prints an API key. A program with this key plays as the user, or as the user's bot
/// account if `bot` names one.
pub(crate) async fn create_api_key(
    context: &CommandContext,
    label: Option<String>,
    bot: Option<String>,
) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, true).await?;
    let message = |proof| ClientMessage::CreateApiKey {
        label: label.clone(),
        bot: bot.clone(),
        proof,
    };
    let ServerMessage::ApiKey { key, player, .. } =
        signed_in.request_with_reauth(context, message).await?
    else {
        return Err(unexpected_response());
    };
    let plays = match bot {
        Some(_) => format!("as your bot {}", sanitize(&player.name)),
        None => "as you".to_owned(),
    };
    signed_in.client.print(&sanitize(key.reveal()))?;
    // The notice goes to standard error, so that `>` writes only the key to a file.
    let notice = format!(
        "This key is shown only once. A program with this key plays {plays}.\n\
         `ply devices` lists your keys."
    );
    writeln!(anstream::stderr().lock(), "{notice}").map_err(OutputError::from)?;
    signed_in.client.close().await;
    Ok(())
}
