//! `ply pair`, `login`, `recovery`, `devices` and `logout`: the devices of a player.

use plyhouse_protocol::{
    ClientMessage, ErrorCode, FollowedMatch, GameSummary, Hello, MatchId, PlayerId, ReauthProof,
    ServerMessage, SessionSummary, Token, VERSION, Welcome,
};

use crate::CommandContext;
use crate::args::Who;
use crate::device::device;
use crate::dialogue::{Dialogue, refused};
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::identity::{IdentityLock, Slots, Wish};
use crate::secret;
use crate::terminal::{Input, InputMode};

/// How many characters a pairing code has, and how many a recovery key.
const CODE_CHARS: usize = 8;
const KEY_CHARS: usize = 26;

/// Somebody who is known here, on a connection of their own.
pub(crate) struct Known {
    pub(crate) dialogue: Dialogue,
    slot: IdentityLock,
    pub(crate) name: String,
    /// The public id.
    pub(crate) player: PlayerId,
    /// Whether the name is the player's alone.
    pub(crate) is_account: bool,
    token: Token,
    live: Vec<MatchId>,
    /// The live matches.
    pub(crate) following: Vec<FollowedMatch>,
    /// The games of the server.
    pub(crate) games: Vec<GameSummary>,
}

/// Prints a code by which another device becomes this player's.
pub(crate) async fn pair(visit: &CommandContext) -> Result<(), Failure> {
    let mut known = Known::open(visit, true).await?;
    let ServerMessage::LinkCode {
        code, expires_ms, ..
    } = known.dialogue.ask(ClientMessage::LinkDevice).await?
    else {
        return Err(unexpected());
    };
    let text = format!(
        "{}\nOn the other device, within {} minutes: ply login {}{}\n\
         It will then be {} there, too.",
        sanitize(code.reveal()),
        expires_ms.div_ceil(60_000),
        sanitize(code.reveal()),
        visit.server.command_options(),
        known.name,
    );
    known.dialogue.say(&text)?;
    known.dialogue.close().await;
    Ok(())
}

/// Prints a key by which the player comes back who has lost all devices.
pub(crate) async fn recovery(visit: &CommandContext) -> Result<(), Failure> {
    let mut known = Known::open(visit, true).await?;
    let asked = |proof| ClientMessage::CreateRecoveryKey { proof };
    let ServerMessage::RecoveryKey { key, .. } = known.ask_proved(visit, asked).await? else {
        return Err(unexpected());
    };
    let text = format!(
        "{}\nWrite it down: it is told this once, and an older one is void. Whoever has lost all devices\n\
         becomes {} again by `ply login`, which asks for it.",
        sanitize(key.reveal()),
        known.name,
    );
    known.dialogue.say(&text)?;
    known.dialogue.close().await;
    Ok(())
}

/// Becomes the player whose code, key or password is given, or typed.
pub(crate) async fn login(
    visit: &CommandContext,
    who: Option<Who>,
    label: Option<String>,
) -> Result<(), Failure> {
    let manner = match who {
        Some(_) => InputMode::Disabled,
        None => InputMode::Lines,
    };
    let way = match who {
        Some(Who::Account(name)) => Hello {
            password: Some(secret::read_password("Password: ")?),
            name: Some(name),
            ..Hello::default()
        },
        Some(Who::Paired(code)) => by_code(&code)?,
        None => Hello::default(),
    };
    let mut dialogue = Dialogue::open(visit, manner).await?;
    let way = match way == Hello::default() {
        false => way,
        true => {
            dialogue.say("The pairing code or the recovery key:")?;
            match dialogue.typed().await {
                Input::Line(line) => by_code(&line)?,
                Input::Interrupt | Input::EndOfInput => return Err(Failure::Stopped),
            }
        }
    };
    // First a place for what comes of it: a code is good once.
    let slots = Slots::of(&visit.server.url).map_err(no_place)?;
    let room = slots.make_room(&wish(visit)).await.map_err(no_place)?;
    let room = room.ok_or_else(no_room)?;
    let hello = Hello {
        protocol: Some(VERSION),
        label: Some(label.unwrap_or_else(device)),
        ..way
    };
    let welcome = welcomed(&mut dialogue, hello).await?;
    let kept = room.keep(&welcome.token, &welcome.player.name, &live(&welcome));
    kept.map_err(no_place)?;
    let text = format!(
        "You are {} here from now on.",
        sanitize(&welcome.player.name)
    );
    dialogue.say(&text)?;
    dialogue.close().await;
    Ok(())
}

/// A hello by a pairing code or a recovery key, however it is written.
fn by_code(text: &str) -> Result<Hello, Failure> {
    let written = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let written: String = written.collect();
    let length = written.len();
    let proof = Some(Token::new(written));
    let (pair, recovery) = match length {
        CODE_CHARS => (proof, None),
        KEY_CHARS => (None, proof),
        _ => {
            let why = "a pairing code has 8 characters, a recovery key 26";
            return Err(Failure::Refused(why.to_owned()));
        }
    };
    Ok(Hello {
        link_code: pair,
        recovery_key: recovery,
        ..Hello::default()
    })
}

/// Shows the player's devices.
pub(crate) async fn devices(visit: &CommandContext) -> Result<(), Failure> {
    let mut known = Known::open(visit, false).await?;
    let sessions = known.sessions().await?;
    for session in &sessions {
        known.dialogue.say(&line(session))?;
    }
    known.dialogue.close().await;
    Ok(())
}

/// Ends sessions of the player: this one, unless another is named, or `others`, or `all`.
pub(crate) async fn logout(
    visit: &CommandContext,
    which: Option<String>,
    is_sure: bool,
) -> Result<(), Failure> {
    let mut known = Known::open(visit, false).await?;
    let sessions = known.sessions().await?;
    let this = sessions.iter().find(|session| session.is_current);
    let this = this.ok_or_else(unexpected)?.session.to_string();
    let which = which.unwrap_or_else(|| this.clone());
    let ends_this = which == "all" || which.eq_ignore_ascii_case(&this);
    let none_is_left = ends_this && (which == "all" || sessions.len() == 1);
    if none_is_left && !is_sure {
        let why = format!(
            "no device would be left on which you are {}: only by a password or a recovery key does one come back. \
             If that is meant: --yes",
            known.name
        );
        return Err(Failure::Refused(why));
    }
    let is_known = |session: &SessionSummary| {
        let id = session.session.to_string();
        id.eq_ignore_ascii_case(&which)
    };
    if !matches!(&*which, "others" | "all") && !sessions.iter().any(is_known) {
        let why = "there is no such device; `ply devices` lists them";
        return Err(Failure::Refused(why.to_owned()));
    }
    let end = |proof| ClientMessage::EndSession {
        session: which.clone(),
        proof,
    };
    known.ask_proved(visit, end).await?;
    if ends_this {
        known.slot.vacate().map_err(no_place)?;
        let text = format!("You are no longer {} here.", known.name);
        known.dialogue.say(&text)?;
    } else {
        known.dialogue.say("Signed out there.")?;
    }
    known.dialogue.close().await;
    Ok(())
}

/// Opens a dialogue for a request that anyone may send: as the player who is known here, or else as a guest who is
/// not stored.
pub(crate) async fn open_for_anyone(visit: &CommandContext) -> Result<Dialogue, Failure> {
    let slot = match Slots::of(&visit.server.url) {
        Ok(slots) => slots.take(&wish(visit), &[]).await.ok().flatten(),
        Err(_) => None,
    };
    let is_known = slot.is_some_and(|slot| slot.token().is_some());
    match is_known {
        true => Ok(Known::open(visit, true).await?.dialogue),
        false => Dialogue::open(visit, InputMode::Disabled).await,
    }
}

impl Known {
    /// Says hello as the player who is known here; with `or_new` as a new one if there is none.
    pub(crate) async fn open(visit: &CommandContext, or_new: bool) -> Result<Self, Failure> {
        let slots = Slots::of(&visit.server.url).map_err(no_place)?;
        let slot = slots.take(&wish(visit), &[]).await.map_err(no_place)?;
        let mut slot = slot.ok_or_else(no_room)?;
        if slot.token().is_none() && !or_new {
            let is_busy = slots.is_busy(&wish(visit)).map_err(no_place)?;
            return Err(unknown(is_busy, &slots.names().map_err(no_place)?));
        }
        let mut dialogue = Dialogue::open(visit, InputMode::Disabled).await?;
        let hello = Hello {
            protocol: Some(VERSION),
            name: visit.name.clone(),
            token: slot.token().cloned(),
            keep_connections: Some(true),
            label: Some(device()),
            ..Hello::default()
        };
        let had_token = slot.token().is_some();
        let welcome = welcomed(&mut dialogue, hello).await?;
        let kept = slot.keep(&welcome.token, &welcome.player.name, &live(&welcome));
        kept.map_err(no_place)?;
        if had_token && !welcome.resumed && !or_new {
            let why = "the server does not know this player any more";
            return Err(Failure::Refused(why.to_owned()));
        }
        Ok(Self {
            dialogue,
            slot,
            name: sanitize(&welcome.player.name),
            player: welcome.player.id,
            is_account: welcome.player.account,
            live: live(&welcome),
            token: welcome.token,
            following: welcome.following,
            games: welcome.games,
        })
    }

    /// Takes note of how the player is called from now on.
    pub(crate) fn is_called(&mut self, name: &str) -> Result<(), Failure> {
        self.name = sanitize(name);
        let kept = self.slot.keep(&self.token, name, &self.live);
        kept.map_err(no_place)
    }

    /// Forgets the player here, whom the server knows no more.
    pub(crate) fn is_nobody(&mut self) -> Result<(), Failure> {
        self.slot.vacate().map_err(no_place)
    }

    /// Asks for what may want a password, and asks the person for that if so.
    pub(crate) async fn ask_proved(
        &mut self,
        visit: &CommandContext,
        message: impl Fn(Option<ReauthProof>) -> ClientMessage,
    ) -> Result<ServerMessage, Failure> {
        match self.dialogue.try_ask(message(None)).await? {
            Err(error) if error.code == Some(ErrorCode::WrongPassword) => {}
            answer => return answer.map_err(|error| refused(&error)),
        }
        let password = secret::read_password("Your password: ")?;
        // Somebody may have thought about it for longer than a connection may be silent.
        self.dialogue = Dialogue::open(visit, InputMode::Disabled).await?;
        let hello = Hello {
            protocol: Some(VERSION),
            token: Some(self.token.clone()),
            keep_connections: Some(true),
            ..Hello::default()
        };
        welcomed(&mut self.dialogue, hello).await?;
        let proof = Some(ReauthProof::Password(password));
        self.dialogue.ask(message(proof)).await
    }

    async fn sessions(&mut self) -> Result<Vec<SessionSummary>, Failure> {
        match self.dialogue.ask(ClientMessage::Sessions).await? {
            ServerMessage::Sessions { sessions, .. } => Ok(sessions),
            _ => Err(unexpected()),
        }
    }
}

async fn welcomed(dialogue: &mut Dialogue, hello: Hello) -> Result<Welcome, Failure> {
    match dialogue.ask(ClientMessage::Hello(Box::new(hello))).await? {
        ServerMessage::Welcome(welcome) => Ok(*welcome),
        _ => Err(unexpected()),
    }
}

/// The player's live matches.
fn live(welcome: &Welcome) -> Vec<MatchId> {
    let following = welcome.following.iter();
    following.map(|followed| followed.match_id).collect()
}

/// A device as it is listed.
fn line(session: &SessionSummary) -> String {
    let is_now = match (session.is_current, session.connected) {
        (true, _) => ", this one",
        (false, true) => ", connected",
        (false, false) => "",
    };
    let of_bot = session.bot.as_ref();
    let of_bot = of_bot.map_or_else(String::new, |bot| format!(" of {}", sanitize(bot)));
    format!(
        "{}  {}{of_bot} ({}), last on {}{is_now}",
        session.session,
        sanitize(&session.label),
        session.kind,
        sanitize(&session.last_seen_day),
    )
}

fn wish(visit: &CommandContext) -> Wish {
    Wish {
        name: visit.name.clone(),
        ..Wish::default()
    }
}

/// Why nobody is who was asked for, where these are known by their names.
fn unknown(is_busy: bool, names: &[String]) -> Failure {
    Failure::Refused(match (is_busy, names) {
        (true, _) => {
            "you are at play in another `ply` here; ask again when that has ended".to_owned()
        }
        (false, []) => "nobody is known here on this server yet".to_owned(),
        (false, names) => {
            let names: Vec<String> = names.iter().map(|name| sanitize(name)).collect();
            format!(
                "nobody is known here so, only by --name {}",
                names.join(", or ")
            )
        }
    })
}

fn no_place(error: std::io::Error) -> Failure {
    Failure::Failed(format!("who you are cannot be kept: {error}"))
}

fn no_room() -> Failure {
    Failure::Failed("all places for identities are taken".to_owned())
}

pub(crate) fn unexpected() -> Failure {
    Failure::Failed("the server has answered something else than was asked".to_owned())
}
