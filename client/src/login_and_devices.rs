//! `ply pair`, `login`, `recovery`, `devices` and `logout`: manage the devices of a player.

use plyhouse_protocol::{
    ClientMessage, ErrorCode, FollowedMatch, GameSummary, Hello, MatchId, PlayerId, ReauthProof,
    ServerMessage, SessionSummary, Token, VERSION, Welcome,
};

use crate::CommandContext;
use crate::args::LoginTarget;
use crate::device_label::default_device_label;
use crate::exit::Failure;
use crate::identity_store::{IdentityLock, IdentityStore};
use crate::line_terminal::{Input, InputMode};
use crate::password_prompt;
use crate::request_client::{RequestClient, refusal};
use crate::sanitize::sanitize;

/// Pairing codes and recovery keys are distinguished by their length in characters.
const PAIRING_CODE_CHARS: usize = 8;
const RECOVERY_KEY_CHARS: usize = 26;

/// Player who has signed in with a stored identity, and the connection for the player's requests.
pub(crate) struct SignedInPlayer {
    pub(crate) client: RequestClient,
    identity: IdentityLock,
    pub(crate) name: String,
    /// Public id.
    pub(crate) player_id: PlayerId,
    /// Whether the player has an account. The name of an account is unique.
    pub(crate) is_account: bool,
    token: Token,
    live_matches: Vec<MatchId>,
    /// Live matches of the player.
    pub(crate) followed_matches: Vec<FollowedMatch>,
    /// Games that the server offers.
    pub(crate) games: Vec<GameSummary>,
}

/// Prints a pairing code. Another device can use this code to sign in as the same player.
pub(crate) async fn create_pairing_code(context: &CommandContext) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, true).await?;
    let ServerMessage::LinkCode {
        code, expires_ms, ..
    } = signed_in.client.request(ClientMessage::LinkDevice).await?
    else {
        return Err(unexpected_response());
    };
    let text = format!(
        "{}\nOn the other device, within {} minutes: ply login {}{}\n\
         Both devices then play as {}.",
        sanitize(code.reveal()),
        expires_ms.div_ceil(60_000),
        sanitize(code.reveal()),
        context.server.command_options(),
        signed_in.name,
    );
    signed_in.client.finish(&text).await
}

/// Prints a recovery key. With this key, a player who has lost all devices can sign in again.
pub(crate) async fn create_recovery_key(context: &CommandContext) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, true).await?;
    let message = |proof| ClientMessage::CreateRecoveryKey { proof };
    let ServerMessage::RecoveryKey { key, .. } =
        signed_in.request_with_reauth(context, message).await?
    else {
        return Err(unexpected_response());
    };
    let text = format!(
        "{}\nWrite this key down: it is shown only once, and it replaces any older key.\n\
         If you lose all your devices, enter it at `ply login` to play as {} again.",
        sanitize(key.reveal()),
        signed_in.name,
    );
    signed_in.client.finish(&text).await
}

/// Signs in with a pairing code, a recovery key, or the name and password of an account. Without a
/// target, reads a pairing code or recovery key from the input.
pub(crate) async fn log_in(
    context: &CommandContext,
    target: Option<LoginTarget>,
    label: Option<String>,
) -> Result<(), Failure> {
    let credentials = match target {
        Some(LoginTarget::AccountName(name)) => Some(Hello {
            password: Some(password_prompt::read_password("Password: ")?),
            name: Some(name),
            ..Hello::default()
        }),
        Some(LoginTarget::PairingCode(code)) => Some(hello_with_code(&code)?),
        None => None,
    };
    let input_mode = match credentials {
        Some(_) => InputMode::Disabled,
        None => InputMode::Lines,
    };
    let mut client = RequestClient::open(context, input_mode).await?;
    let credentials = match credentials {
        Some(credentials) => credentials,
        None => {
            client.print("Pairing code or recovery key:")?;
            match client.next_input().await {
                Input::Line(line) => hello_with_code(&line)?,
                Input::Interrupt => return Err(Failure::Stopped),
                Input::Eof => return Err(password_prompt::end_of_input("a code")),
            }
        }
    };
    // Reserve an identity slot before signing in, because a pairing code can be used only once.
    let identities = IdentityStore::open_for_server(&context.server.url)?;
    let query = context.identity_query();
    let reservation = identities.reserve_for_new_player(&query).await?;
    let hello = Hello {
        protocol: Some(VERSION),
        label: Some(label.unwrap_or_else(default_device_label)),
        ..credentials
    };
    let welcome = send_hello(&mut client, hello).await?;
    let live = live_match_ids(&welcome);
    reservation.save_player(&welcome.token, &welcome.player.name, &live)?;
    let text = format!("Logged in as {}.", sanitize(&welcome.player.name));
    client.finish(&text).await
}

/// Returns a `hello` with a pairing code or a recovery key. Spaces and hyphens in `text` are
/// ignored.
fn hello_with_code(text: &str) -> Result<Hello, Failure> {
    let code_chars = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let code: String = code_chars.collect();
    let length = code.len();
    let proof = Some(Token::new(code));
    let (pair, recovery) = match length {
        PAIRING_CODE_CHARS => (proof, None),
        RECOVERY_KEY_CHARS => (None, proof),
        _ => {
            let why = "invalid code: a pairing code has 8 characters, a recovery key 26";
            return Err(Failure::Refused(why.to_owned()));
        }
    };
    Ok(Hello {
        link_code: pair,
        recovery_key: recovery,
        ..Hello::default()
    })
}

/// Prints the player's devices.
pub(crate) async fn list_devices(context: &CommandContext) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, false).await?;
    let sessions = signed_in.fetch_sessions().await?;
    for session in &sessions {
        signed_in.client.print(&device_line(session))?;
    }
    signed_in.client.close().await;
    Ok(())
}

/// Ends sessions of the player. The target is a session id, `others` or `all`. The default is the
/// current session.
pub(crate) async fn log_out(
    context: &CommandContext,
    target: Option<String>,
    is_confirmed: bool,
) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, false).await?;
    let sessions = signed_in.fetch_sessions().await?;
    let current = sessions.iter().find(|session| session.is_current);
    let current_id = current.ok_or_else(unexpected_response)?.session.to_string();
    let target = target.unwrap_or_else(|| current_id.clone());
    let ends_current = target == "all" || target.eq_ignore_ascii_case(&current_id);
    let leaves_no_device = ends_current && (target == "all" || sessions.len() == 1);
    if leaves_no_device && !is_confirmed {
        let why = format!(
            "no device of {} would stay logged in; to log in again, you would need a password or a \
             recovery key (to confirm, add --yes)",
            signed_in.name
        );
        return Err(Failure::Refused(why));
    }
    let is_target = |session: &SessionSummary| {
        let id = session.session.to_string();
        id.eq_ignore_ascii_case(&target)
    };
    if !matches!(&*target, "others" | "all") && !sessions.iter().any(is_target) {
        let why = "no such device; `ply devices` lists your devices";
        return Err(Failure::Refused(why.to_owned()));
    }
    let message = |proof| ClientMessage::EndSession {
        session: target.clone(),
        proof,
    };
    signed_in.request_with_reauth(context, message).await?;
    let text = match &*target {
        _ if ends_current => {
            signed_in.clear_identity()?;
            format!("Logged out of {}.", signed_in.name)
        }
        "others" => "Other devices logged out.".to_owned(),
        _ => "Device logged out.".to_owned(),
    };
    signed_in.client.finish(&text).await
}

/// Opens a connection for requests that do not require a player. Signs in if a player is stored on
/// this machine.
pub(crate) async fn open_as_player_or_guest(
    context: &CommandContext,
) -> Result<RequestClient, Failure> {
    let query = context.identity_query();
    let identity = match IdentityStore::open_for_server(&context.server.url) {
        Ok(slots) => slots.lock_best(&query, &[]).await.ok(),
        Err(_) => None,
    };
    let is_stored = identity.is_some_and(|slot| slot.token().is_some());
    match is_stored {
        true => Ok(SignedInPlayer::sign_in(context, true).await?.client),
        false => RequestClient::open(context, InputMode::Disabled).await,
    }
}

impl SignedInPlayer {
    /// Signs in as the stored player. If no player is stored, creates one if `create_if_missing` is
    /// set, and fails otherwise.
    pub(crate) async fn sign_in(
        context: &CommandContext,
        create_if_missing: bool,
    ) -> Result<Self, Failure> {
        let identities = IdentityStore::open_for_server(&context.server.url)?;
        let query = context.identity_query();
        let mut identity = identities.lock_best(&query, &[]).await?;
        if identity.token().is_none() && !create_if_missing {
            let (is_busy, names) = (identities.is_in_use(&query)?, identities.chosen_names()?);
            return Err(unknown_player(is_busy, context.name.as_deref(), &names));
        }
        let mut client = RequestClient::open(context, InputMode::Disabled).await?;
        let hello = Hello {
            protocol: Some(VERSION),
            name: context.name.clone(),
            token: identity.token().cloned(),
            keep_connections: Some(true),
            label: Some(default_device_label()),
            ..Hello::default()
        };
        let had_token = identity.token().is_some();
        let welcome = send_hello(&mut client, hello).await?;
        let live_matches = live_match_ids(&welcome);
        identity.save_player(&welcome.token, &welcome.player.name, &live_matches)?;
        if had_token && !welcome.resumed && !create_if_missing {
            let why = "the server no longer knows this player";
            return Err(Failure::Refused(why.to_owned()));
        }
        Ok(Self {
            client,
            identity,
            name: sanitize(&welcome.player.name),
            player_id: welcome.player.id,
            is_account: welcome.player.account,
            live_matches,
            token: welcome.token,
            followed_matches: welcome.following,
            games: welcome.games,
        })
    }

    /// Stores the new name of the player.
    pub(crate) fn save_name(&mut self, name: &str) -> Result<(), Failure> {
        self.name = sanitize(name);
        Ok(self
            .identity
            .save_player(&self.token, name, &self.live_matches)?)
    }

    /// Removes the stored identity. The caller does this after the server has deleted the player.
    pub(crate) fn clear_identity(&mut self) -> Result<(), Failure> {
        Ok(self.identity.clear()?)
    }

    /// Sends a request that may require the password. If the server requires the password, prompts
    /// for it and sends the request again.
    pub(crate) async fn request_with_reauth(
        &mut self,
        context: &CommandContext,
        message: impl Fn(Option<ReauthProof>) -> ClientMessage,
    ) -> Result<ServerMessage, Failure> {
        match self.client.try_request(message(None)).await? {
            Err(error) if error.code == Some(ErrorCode::WrongPassword) => {}
            answer => return answer.map_err(|error| refusal(&error)),
        }
        let password = password_prompt::read_password("Your password: ")?;
        // The server may have closed the old connection while the user typed the password.
        self.client = RequestClient::open(context, InputMode::Disabled).await?;
        let hello = Hello {
            protocol: Some(VERSION),
            token: Some(self.token.clone()),
            keep_connections: Some(true),
            ..Hello::default()
        };
        send_hello(&mut self.client, hello).await?;
        let proof = Some(ReauthProof::Password(password));
        self.client.request(message(proof)).await
    }

    async fn fetch_sessions(&mut self) -> Result<Vec<SessionSummary>, Failure> {
        match self.client.request(ClientMessage::Sessions).await? {
            ServerMessage::Sessions { sessions, .. } => Ok(sessions),
            _ => Err(unexpected_response()),
        }
    }
}

async fn send_hello(client: &mut RequestClient, hello: Hello) -> Result<Welcome, Failure> {
    match client
        .request(ClientMessage::Hello(Box::new(hello)))
        .await?
    {
        ServerMessage::Welcome(welcome) => Ok(*welcome),
        _ => Err(unexpected_response()),
    }
}

fn live_match_ids(welcome: &Welcome) -> Vec<MatchId> {
    let following = welcome.following.iter();
    following.map(|followed| followed.match_id).collect()
}

fn device_line(session: &SessionSummary) -> String {
    let is_now = match (session.is_current, session.connected) {
        (true, _) => ", this device",
        (false, true) => ", connected",
        (false, false) => "",
    };
    let of_bot = session.bot.as_ref();
    let of_bot = of_bot.map_or_else(String::new, |bot| format!(" of {}", sanitize(bot)));
    format!(
        "{}  {}{of_bot} ({}), last seen {}{is_now}",
        session.session,
        sanitize(&session.label),
        session.kind,
        sanitize(&session.last_seen_day),
    )
}

/// Explains why no stored player could be used. The message lists the names of the stored players.
fn unknown_player(is_busy: bool, requested: Option<&str>, names: &[String]) -> Failure {
    if is_busy {
        let why = "another `ply` on this machine is using this player; try again when it has ended";
        return Failure::Refused(why.to_owned());
    }
    let names: Vec<String> = names.iter().map(|name| sanitize(name)).collect();
    let next = match names.as_slice() {
        [] => "start with `ply play` or `ply login`".to_owned(),
        names => format!("select a saved player with --name: {}", names.join(", ")),
    };
    let what = match requested {
        Some(name) => format!("no player named {}", sanitize(name)),
        // A player with a chosen name is used only if `--name` selects it.
        None if !names.is_empty() => "no guest".to_owned(),
        None => "no player".to_owned(),
    };
    let why = format!("{what} is saved on this machine for this server; {next}");
    Failure::Refused(why)
}

pub(crate) fn unexpected_response() -> Failure {
    Failure::Failed("unexpected response from the server".to_owned())
}
