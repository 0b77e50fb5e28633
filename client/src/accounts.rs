//! `ply register`, `rename`, `password`, `key` and `forget`: a name that is the player's alone, and programs that play as
//! the player.

use plyhouse_protocol::{ClientMessage, ServerMessage, Token};

use crate::CommandContext;
use crate::devices::{Known, unexpected};
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::secret;

/// Takes a name for the player who is known here, or for a new one.
pub(crate) async fn register(
    visit: &CommandContext,
    name: String,
    has_password: bool,
    is_invited: bool,
) -> Result<(), Failure> {
    refuse_registered(visit).await?;
    let password = match has_password {
        true => Some(secret::read_new_password()?),
        false => None,
    };
    let invite = is_invited.then(secret::read_invitation_code).transpose()?;
    let mut known = Known::open(visit, true).await?;
    let hint = match &password {
        Some(_) => format!("On other devices: ply login {}", sanitize(&name)),
        None => "Without a password only your devices are you; `ply password` sets one.".to_owned(),
    };
    let asked = ClientMessage::Register {
        name: name.clone(),
        password,
        invite,
    };
    known.dialogue.ask(asked).await?;
    known.is_called(&name)?;
    let text = format!(
        "{} is your name alone from now on.\n{hint}",
        sanitize(&name)
    );
    known.dialogue.say(&text)?;
    known.dialogue.close().await;
    Ok(())
}

/// Refuses whoever is registered before anything is asked. Somebody may think about a password for longer than
/// a connection may be silent, so there is another one afterwards.
async fn refuse_registered(visit: &CommandContext) -> Result<(), Failure> {
    let known = Known::open(visit, true).await?;
    if known.is_account {
        let called = &known.name;
        let why = format!("you are {called} already; `ply rename` takes another name");
        return Err(Failure::Refused(why));
    }
    known.dialogue.close().await;
    Ok(())
}

/// Takes another name.
pub(crate) async fn rename(visit: &CommandContext, name: String) -> Result<(), Failure> {
    let mut known = Known::open(visit, false).await?;
    let asked = ClientMessage::Rename { name: name.clone() };
    known.dialogue.ask(asked).await?;
    known.is_called(&name)?;
    let text = format!("You are {} from now on.", sanitize(&name));
    known.dialogue.say(&text)?;
    known.dialogue.close().await;
    Ok(())
}

/// Sets a password, or another one.
pub(crate) async fn password(visit: &CommandContext) -> Result<(), Failure> {
    let new: Token = secret::read_new_password()?;
    let mut known = Known::open(visit, false).await?;
    let asked = |proof| ClientMessage::SetPassword {
        new: new.clone(),
        proof,
    };
    known.ask_proved(visit, asked).await?;
    let text = "That is your password from now on. Your other devices are signed out.";
    known.dialogue.say(text)?;
    known.dialogue.close().await;
    Ok(())
}

/// Has the server forget the player, and forgets the player here.
pub(crate) async fn forget(visit: &CommandContext, is_sure: bool) -> Result<(), Failure> {
    let mut known = Known::open(visit, false).await?;
    if !is_sure {
        let why = "nobody is ever that player again, and copies that others have made cannot be called back. \
                   If that is meant: --yes";
        return Err(Failure::Refused(why.to_owned()));
    }
    let asked = |proof| ClientMessage::DeleteAccount { proof };
    known.ask_proved(visit, asked).await?;
    known.is_nobody()?;
    known.dialogue.say("You are forgotten.")?;
    known.dialogue.close().await;
    Ok(())
}

/// Prints a key by which a program plays as the player, or as this program of the player's.
pub(crate) async fn create_key(
    visit: &CommandContext,
    label: Option<String>,
    bot: Option<String>,
) -> Result<(), Failure> {
    let mut known = Known::open(visit, true).await?;
    let asked = |proof| ClientMessage::CreateApiKey {
        label: label.clone(),
        bot: bot.clone(),
        proof,
    };
    let ServerMessage::ApiKey { key, player, .. } = known.ask_proved(visit, asked).await? else {
        return Err(unexpected());
    };
    let plays = match bot {
        Some(_) => format!("as {}, who is yours", sanitize(&player.name)),
        None => "as you".to_owned(),
    };
    let text = format!(
        "{}\nIt is told this once. A program that has it plays {plays}; `ply devices` lists it.",
        sanitize(key.reveal())
    );
    known.dialogue.say(&text)?;
    known.dialogue.close().await;
    Ok(())
}
