//! Reads requests, and says exactly what is wrong with one that cannot be read.
//!
//! By hand rather than by derive: an error must name the request's field and carry the request's
//! number, which derived deserialisation of a tagged enum cannot tell.

mod fields;
mod form;
#[cfg(test)]
mod tests;
mod whole;

use self::fields::Fields;
use self::form::{
    BOT, BOT_AFTER, CLOCK, COUNT, DECLINED, DELAY, FLAG, GIFT, LIMIT, MATCH, MOVES, NODES,
    OCCUPANT, OFFER, PACE, PASSWORD, PATIENCE, POOL, POSITION, PRESET, REMARK, RESULT, SEAT, SEATS,
    STATUS, TEXT, VERSION, WATCH, WINDOW,
};
use super::archive::History;
use super::error::{ErrorCode, WireError};
use super::event::OfferKind;
use super::id::{Ply, RequestId, Seq};
use super::ratings::Leaders;
use super::request::{
    ClientMessage, Create, Hello, Offer, Proof, Request, SeatRequest, Seek, WatchedBy,
};
use super::said::ChatContent;
use super::text::{MatchRef, Token, is_same};

/// A request that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The request.
    pub request: Request,
    /// Its fields that mean nothing in it, but for those that are `null`: at most eight, none longer than
    /// 64 bytes.
    pub ignored: Vec<String>,
}

/// A message that is no request: what to answer, and whether it tried to be a `hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The answer.
    pub error: WireError,
    /// Whether its `type` was `hello`, for which no guest is welcomed unasked.
    pub is_hello: bool,
}

/// How a client may tell who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// By all ways that there are.
    Freely,
    /// By those that need no account: the server has none, and knows nothing of them.
    WithoutAccounts,
    /// It is known already, by somebody whom the server trusts: what it says of that means nothing.
    Known,
}

impl DecodeError {
    fn new(re: Option<RequestId>, code: ErrorCode, message: impl Into<Box<str>>) -> Box<Self> {
        let error = WireError::new(code, message);
        Box::new(Self {
            error: WireError { re, ..error },
            is_hello: false,
        })
    }
}

impl Request {
    /// Reads one message of a client.
    ///
    /// # Errors
    ///
    /// `malformed`, `unknown_type` or `bad_field`, with the request's number if it has one.
    pub fn decode(text: &str) -> Result<Decoded, Box<DecodeError>> {
        Self::decode_as(text, AuthMode::Freely)
    }

    /// Reads one message of a client, of which it is known how it may tell who it is.
    ///
    /// # Errors
    ///
    /// See [`decode`](Self::decode).
    pub fn decode_as(text: &str, coming: AuthMode) -> Result<Decoded, Box<DecodeError>> {
        // Only what is a field of the request is looked into.
        let mut fields: Fields<'_> = serde_json::from_str(text)
            .map_err(|error| DecodeError::new(None, ErrorCode::Malformed, error.to_string()))?;
        let id = fields.optional("id", COUNT);
        let re = id.as_ref().ok().copied().flatten().map(RequestId);
        let Ok(Some(kind)) = fields.optional("type", TEXT) else {
            return Err(DecodeError::new(re, ErrorCode::Malformed, "no text `type`"));
        };
        let is_known = |kind: &str| {
            coming != AuthMode::WithoutAccounts || !ClientMessage::OF_ACCOUNTS.contains(&kind)
        };
        let message = id.and_then(|_| match &*kind {
            "hello" => hello(&mut fields, coming).map(Some),
            kind if !is_known(kind) => Ok(None),
            kind => read(kind, &mut fields),
        });
        match message {
            Ok(Some(message)) => Ok(Decoded {
                request: Self { id: re, message },
                ignored: fields.left(),
            }),
            Ok(None) => {
                let types = ClientMessage::TYPES.into_iter();
                let types: Vec<&str> = types.filter(|kind| is_known(kind)).collect();
                let types = types.join(", ");
                let message = format!("no such request; there are {types}");
                Err(DecodeError::new(re, ErrorCode::UnknownType, message))
            }
            Err(BadField { field, expected }) => {
                let message = format!("`{field}` must be {expected}");
                let mut refused = DecodeError::new(re, ErrorCode::BadField, message);
                refused.error.field = Some(field.into());
                refused.is_hello = kind == "hello";
                Err(refused)
            }
        }
    }
}

/// Reads the request of this type, which is not `hello`, or `None` if there is no such type.
fn read(kind: &str, fields: &mut Fields<'_>) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "ping" => ClientMessage::Ping,
        "create" => ClientMessage::Create(Box::new(create(fields)?)),
        "join" => ClientMessage::Join {
            target: fields.required("match", MATCH)?,
            seat: fields.optional("seat", SEAT)?,
        },
        "watch" => ClientMessage::Watch {
            target: fields.required("match", MATCH)?,
        },
        "leave" => ClientMessage::Leave {
            target: fields.required("match", MATCH)?,
        },
        "seat" => ClientMessage::Seat {
            target: fields.required("match", MATCH)?,
            seat: fields.required("seat", SEAT)?,
            occupant: fields.required("occupant", OCCUPANT)?,
        },
        "move" => ClientMessage::Move {
            target: fields.required("match", MATCH)?,
            ply: Ply(fields.required("ply", COUNT)?),
            m: fields.required("move", TEXT)?,
            takebacks: fields.optional("takebacks", COUNT)?,
        },
        "resign" => ClientMessage::Resign {
            target: fields.required("match", MATCH)?,
        },
        "abort" => ClientMessage::Abort {
            target: fields.required("match", MATCH)?,
        },
        "offer" => ClientMessage::Offer {
            target: fields.required("match", MATCH)?,
            offer: offer(fields)?,
        },
        "decline" => ClientMessage::Decline {
            target: fields.required("match", MATCH)?,
            offer: fields.required("offer", DECLINED)?,
        },
        "give_time" => ClientMessage::GiveTime {
            target: fields.required("match", MATCH)?,
            ms: fields.required("ms", GIFT)?,
        },
        "say" => ClientMessage::Say {
            target: fields.required("match", MATCH)?,
            saying: saying(fields)?,
        },
        "list" => ClientMessage::List {
            game: fields.optional("game", TEXT)?,
            status: fields.optional("status", STATUS)?,
            limit: fields.optional("limit", LIMIT)?,
            after: fields
                .optional("after", TEXT)?
                .map(|text| MatchRef::from(&*text)),
            seekers: fields.optional("seekers", FLAG)?,
        },
        "watch_list" => ClientMessage::WatchList {
            game: fields.optional("game", TEXT)?,
            status: fields.optional("status", STATUS)?,
            seekers: fields.optional("seekers", FLAG)?,
        },
        "unwatch_list" => ClientMessage::UnwatchList,
        "seek" => ClientMessage::Seek(Box::new(seek(fields)?)),
        "unseek" => ClientMessage::Unseek,
        "resync" => ClientMessage::Resync {
            target: fields.required("match", MATCH)?,
            since: Seq(fields.required("since", COUNT)?),
        },
        _ => return read_identity(kind, fields),
    }))
}

/// Reads the request of this type, if it is one of who somebody is, or whom they do not want to meet.
fn read_identity(kind: &str, fields: &mut Fields<'_>) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "block" => ClientMessage::Block {
            player: fields.optional("player", TEXT)?,
            on: fields.optional("on", FLAG)?,
        },
        "sessions" => ClientMessage::Sessions,
        "pair" => ClientMessage::Pair,
        "recovery" => ClientMessage::Recovery {
            proof: proof(fields)?,
        },
        "end_session" => ClientMessage::EndSession {
            session: fields.required("session", TEXT)?,
            proof: proof(fields)?,
        },
        "register" => register(fields)?,
        "rename" => ClientMessage::Rename {
            name: fields.required("name", TEXT)?,
        },
        "create_key" => ClientMessage::CreateKey {
            label: fields.optional("label", TEXT)?,
            bot: fields.optional("bot", TEXT)?,
            proof: proof(fields)?,
        },
        "forget_me" => ClientMessage::ForgetMe {
            proof: proof(fields)?,
        },
        "set_password" => ClientMessage::SetPassword {
            new: fields.required("new", PASSWORD)?,
            proof: proof(fields)?,
        },
        _ => return read_of_archive(kind, fields),
    }))
}

/// Reads the request of this type about matches that have ended, or for what searches think, or `None` if there is no such type.
fn read_of_archive(kind: &str, fields: &mut Fields<'_>) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "history" => ClientMessage::History(Box::new(history(fields)?)),
        "leaders" => ClientMessage::Leaders(Box::new(Leaders {
            game: fields.required("game", TEXT)?,
            pool: fields.optional("pool", POOL)?,
            limit: fields.optional("limit", LIMIT)?,
            after: fields.optional("after", COUNT)?,
        })),
        "explore" => ClientMessage::Explore {
            game: fields.required("game", TEXT)?,
            moves: fields.optional("moves", MOVES)?.unwrap_or_default(),
        },
        "hint" => ClientMessage::Hint {
            target: fields.required("match", MATCH)?,
            ply: Ply(fields.required("ply", COUNT)?),
        },
        "analyse" => ClientMessage::Analyse {
            target: fields.required("match", MATCH)?,
            nodes: fields.optional("nodes", NODES)?,
        },
        "profile" => profile(fields)?,
        _ => return Ok(None),
    }))
}

/// The ways to come back, one of which a hello may take.
const WAYS: [&str; 4] = ["token", "pair", "recovery", "password"];

fn hello(fields: &mut Fields<'_>, coming: AuthMode) -> Result<ClientMessage, BadField> {
    let known = match coming {
        AuthMode::Freely => WAYS.len(),
        // A password is one of accounts.
        AuthMode::WithoutAccounts => WAYS.len() - 1,
        AuthMode::Known => {
            return Ok(ClientMessage::Hello(Box::new(Hello {
                protocol: fields.optional("protocol", VERSION)?,
                ..Hello::default()
            })));
        }
    };
    let mut ways = [const { None }; WAYS.len()];
    for (way, field) in ways.iter_mut().zip(WAYS).take(known) {
        *way = fields.optional(field, TEXT)?.map(Token::new);
    }
    let mut taken = WAYS.iter().zip(&ways).filter(|(_, way)| way.is_some());
    if let (Some(_), Some((field, _))) = (taken.next(), taken.next_back()) {
        let expected = "left out beside another way to come back";
        return Err(BadField::new(field, expected));
    }
    let [token, pair, recovery, password] = ways;
    let name = fields.optional("name", TEXT)?;
    if password.is_some() && name.is_none() {
        return Err(BadField::new("name", "a text beside `password`"));
    }
    Ok(ClientMessage::Hello(Box::new(Hello {
        protocol: fields.optional("protocol", VERSION)?,
        name,
        token,
        pair,
        recovery,
        password,
        beside: fields.optional("beside", FLAG)?,
        label: fields.optional("label", TEXT)?,
    })))
}

/// By what the player proves anew who that is, if anything.
fn proof(fields: &mut Fields<'_>) -> Result<Option<Proof>, BadField> {
    let password = fields.optional("password", TEXT)?.map(Token::new);
    let recovery = fields.optional("recovery", TEXT)?.map(Token::new);
    match (password, recovery) {
        (Some(_), Some(_)) => Err(BadField::new("recovery", "left out beside `password`")),
        (Some(password), None) => Ok(Some(Proof::Password(password))),
        (None, recovery) => Ok(recovery.map(Proof::Recovery)),
    }
}

fn register(fields: &mut Fields<'_>) -> Result<ClientMessage, BadField> {
    let name = fields.required("name", TEXT)?;
    let password = fields.optional("password", PASSWORD)?;
    let is_name = |password: &Token| is_same(password.reveal(), &name);
    if password.as_ref().is_some_and(is_name) {
        return Err(BadField::new("password", "other than the name"));
    }
    let invite = fields.optional("invite", TEXT)?.map(Token::new);
    Ok(ClientMessage::Register {
        name,
        password,
        invite,
    })
}

fn create(fields: &mut Fields<'_>) -> Result<Create, BadField> {
    let mut create = Create {
        game: fields.required("game", TEXT)?,
        seats: fields.optional("seats", SEATS)?,
        listed: fields.optional("listed", FLAG)?,
        watch: fields.optional("watch", WATCH)?,
        delay_ms: fields.optional("delay_ms", DELAY)?,
        shuffle: fields.optional("shuffle", FLAG)?,
        pace_ms: fields.optional("pace_ms", PACE)?,
        clock: fields.optional("clock", CLOCK)?,
        takeback: fields.optional("takeback", FLAG)?,
        patience_ms: fields.optional("patience_ms", PATIENCE)?,
        stand_in: fields.optional("stand_in", TEXT)?,
        rated: fields.optional("rated", FLAG)?,
        thinking: fields.optional("thinking", FLAG)?,
        history: fields.optional("history", FLAG)?,
        position: fields.optional("position", POSITION)?,
        invited: fields.optional("for", TEXT)?,
    };
    let is_of_days = create.clock.is_some_and(|clock| clock.is_of_days());
    if let Some(level) = fields.optional("bot", BOT)? {
        let mut seats = create.seats.take().unwrap_or(SeatRequest::USUAL);
        let mut open = seats.iter_mut().filter(|seat| **seat == SeatRequest::Open);
        match (open.next(), open.next()) {
            (Some(seat), None) if !is_of_days => *seat = SeatRequest::Bot(level),
            _ => {
                return Err(BadField::new(
                    "bot",
                    "left out: no one seat waits for a bot",
                ));
            }
        }
        create.seats = Some(seats);
    }
    if is_of_days && create.patience_ms.is_some() {
        let expected = "left out: a match of days knows no absence";
        return Err(BadField::new("patience_ms", expected));
    }
    if is_of_days && create.delay_ms.is_some_and(|delay_ms| delay_ms > 0) {
        let expected = "left out: a match of days is told as it goes";
        return Err(BadField::new("delay_ms", expected));
    }
    let is_hidden = create.watch.unwrap_or_default() != WatchedBy::Anyone;
    if create.rated == Some(true) && is_hidden {
        let expected = r#"left out unless "anyone" may watch"#;
        return Err(BadField::new("rated", expected));
    }
    if create.rated == Some(true) && create.thinking == Some(true) {
        let expected = "left out: nobody is helped in a rated match";
        return Err(BadField::new("thinking", expected));
    }
    if create.history == Some(false) {
        check_without_history(&create)?;
    }
    if create.rated == Some(true) && create.position.is_some() {
        let expected = "left out: a rated match begins as its game does";
        return Err(BadField::new("position", expected));
    }
    let seats = create.seats.as_ref();
    let is_of_levels =
        seats.is_some_and(|seats| seats.iter().all(|seat| matches!(seat, SeatRequest::Bot(_))));
    if create.rated == Some(true) {
        let has_help = create.stand_in.is_some() || create.takeback == Some(true) || is_of_levels;
        check_rated(create.clock.is_some(), has_help)?;
    }
    if create.invited.is_some() {
        check_challenge(&create)?;
    }
    Ok(create)
}

/// Whether a match may be offered to one player alone: one seat is the creator's and the other is open.
fn check_challenge(create: &Create) -> Result<(), BadField> {
    let seats = create.seats.as_ref().unwrap_or(&SeatRequest::USUAL);
    match seats.contains(&SeatRequest::Me) && seats.contains(&SeatRequest::Open) {
        true => Ok(()),
        false => {
            let expected = r#"left out unless one seat is "me" and the other "open""#;
            Err(BadField::new("for", expected))
        }
    }
}

/// Whether a match may stay out of histories: only one of a single person, and only unrated.
fn check_without_history(create: &Create) -> Result<(), BadField> {
    let seats = create.seats.as_ref();
    let has_bot =
        seats.is_some_and(|seats| seats.iter().any(|seat| matches!(seat, SeatRequest::Bot(_))));
    let is_open = seats.is_some_and(|seats| seats.contains(&SeatRequest::Open));
    match has_bot && !is_open && create.rated != Some(true) {
        true => Ok(()),
        false => {
            let expected = "left out unless a bot has the other seat and the match is casual";
            Err(BadField::new("history", expected))
        }
    }
}

/// Whether a match may be rated that has a clock, and some help for its players, or not.
fn check_rated(has_clock: bool, has_help: bool) -> Result<(), BadField> {
    if has_clock && !has_help {
        return Ok(());
    }
    let expected =
        "left out: a rated match has a clock, no takebacks, and nobody plays for another";
    Err(BadField::new("rated", expected))
}

fn seek(fields: &mut Fields<'_>) -> Result<Seek, BadField> {
    let seek = Seek {
        game: fields.required("game", TEXT)?,
        bot: fields.optional("bot", BOT)?,
        bot_after_ms: fields.optional("bot_after_ms", BOT_AFTER)?,
        clock: fields.optional("clock", CLOCK)?,
        rated: fields.optional("rated", FLAG)?,
        rating: fields.optional("rating", WINDOW)?,
        stand_in: fields.optional("stand_in", TEXT)?,
    };
    if seek.rated == Some(true) {
        let has_help = seek.stand_in.is_some() || seek.bot.is_some();
        check_rated(seek.clock.is_some(), has_help)?;
    } else if seek.rating.is_some() {
        let expected = "left out unless the match is to be rated";
        return Err(BadField::new("rating", expected));
    }
    if seek.bot.is_some() && seek.clock.is_some_and(|clock| clock.is_of_days()) {
        let expected = "left out: bots look for nobody at days a move";
        return Err(BadField::new("bot", expected));
    }
    Ok(seek)
}

fn history(fields: &mut Fields<'_>) -> Result<History, BadField> {
    Ok(History {
        player: fields.optional("player", TEXT)?,
        game: fields.optional("game", TEXT)?,
        with: fields.optional("with", TEXT)?,
        result: fields.optional("result", RESULT)?,
        before: fields.optional("before", MATCH)?,
        limit: fields.optional("limit", LIMIT)?,
    })
}

/// By a name or by an id, and not by both.
fn profile(fields: &mut Fields<'_>) -> Result<ClientMessage, BadField> {
    let name = fields.optional("name", TEXT)?;
    let player = fields.optional("player", TEXT)?;
    if name.is_some() && player.is_some() {
        return Err(BadField::new("player", "left out beside `name`"));
    }
    Ok(ClientMessage::Profile { name, player })
}

fn offer(fields: &mut Fields<'_>) -> Result<Offer, BadField> {
    Ok(match fields.required("offer", OFFER)? {
        OfferKind::Draw => Offer::Draw {
            ply: Ply(fields.required("ply", COUNT)?),
        },
        OfferKind::Takeback => {
            let ply = fields.required("ply", COUNT)?;
            let to_ply = fields.optional("to_ply", COUNT)?;
            let fits = |to_ply| matches!(ply.checked_sub(to_ply), Some(1 | 2));
            if to_ply.is_some_and(|to_ply| !fits(to_ply)) {
                return Err(BadField::new("to_ply", "`ply` less one or two"));
            }
            Offer::Takeback {
                ply: Ply(ply),
                to_ply: to_ply.map(Ply),
            }
        }
        OfferKind::Rematch | OfferKind::Challenge => Offer::Rematch,
    })
}

/// One of the two, and not both.
fn saying(fields: &mut Fields<'_>) -> Result<ChatContent, BadField> {
    match fields.optional("text", REMARK)? {
        None => Ok(ChatContent::Preset(fields.required("preset", PRESET)?)),
        Some(text) => match fields.optional("preset", PRESET)? {
            None => Ok(ChatContent::Text(text)),
            Some(_) => Err(BadField::new("text", "left out beside `preset`")),
        },
    }
}

/// A field is missing, of the wrong type or out of its range.
struct BadField {
    field: &'static str,
    expected: &'static str,
}

impl BadField {
    const fn new(field: &'static str, expected: &'static str) -> Self {
        Self { field, expected }
    }
}
