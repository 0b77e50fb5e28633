//! Decoding of client requests, with precise errors.
//!
//! The decoder is written by hand, because an error must name the invalid field and contain the
//! request's `id`. Serde's derived deserialisation of tagged enums cannot report such errors.

mod field_parsers;
mod fields;
mod integers;
mod plain_object;
#[cfg(test)]
mod tests;

use self::field_parsers::{
    ABSENCE_LIMIT, BOOLEAN, BOT_DELAY, BOT_LEVEL, BOT_WAIT, CHAT_PRESET, CHAT_TEXT, CLOCK, COUNT,
    DECLINED_OFFER, GIVEN_TIME, LIMIT, MATCH, MATCH_RESULT, MATCH_STATUS, MOVES, NODES, OCCUPANT,
    OFFER, PASSWORD, POOL, POSITION, RATING_RANGE, SEAT, SEATS, SPECTATOR_ACCESS, SPECTATOR_DELAY,
    TEXT, VERSION, parse_text,
};
use self::fields::Fields;
use super::archive::HistoryRequest;
use super::chat::ChatContent;
use super::error::{ErrorCode, WireError};
use super::event::OfferKind;
use super::id::{Ply, RequestId, Seq};
use super::ratings::LeaderboardRequest;
use super::request::{
    ClientMessage, CreateRequest, Hello, Offer, ReauthProof, Request, SeatRequest, SeekRequest,
    SpectatorAccess,
};
use super::validated_text::{MatchRef, Token, is_password_same_as_name};

/// A decoded request, with the names of the fields that it does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Request that the client sent.
    pub request: Request,
    /// Names of the fields that the request does not use: at most eight, each at most 64 bytes
    /// long. The list leaves out fields whose value is `null`.
    pub ignored: Vec<String>,
}

/// Error for a message that is not a valid request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Error reply for the client.
    pub error: WireError,
    /// Whether the message was a `hello` with an invalid field. If a client's first message is not
    /// a `hello`, the server creates a guest. After an invalid `hello`, the server does not create
    /// a guest.
    pub is_hello: bool,
}

/// How clients may authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Clients may use all credentials that the protocol defines.
    AllMethods,
    /// The server has no accounts. The decoder ignores the password in `hello`, and treats account
    /// requests as unknown request types.
    GuestOnly,
    /// A trusted proxy authenticates clients. The server ignores all credentials in `hello`.
    ProxyAuthenticated,
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
    /// Decodes a client message with all authentication methods enabled.
    ///
    /// # Errors
    ///
    /// Fails with the error code `malformed`, `unknown_type` or `bad_field`. The error contains the
    /// request's `id` if the request has a valid `id`.
    pub fn decode(text: &str) -> Result<Decoded, Box<DecodeError>> {
        Self::decode_as(text, AuthMode::AllMethods)
    }

    /// Decodes a client message with the given authentication mode.
    ///
    /// # Errors
    ///
    /// See [`decode`](Self::decode).
    pub fn decode_as(text: &str, auth_mode: AuthMode) -> Result<Decoded, Box<DecodeError>> {
        // The value of a field is parsed later, if the request uses the field.
        let mut fields = Fields::split(text)
            .map_err(|error| DecodeError::new(None, ErrorCode::Malformed, error.to_string()))?;
        let id = fields.optional("id", COUNT);
        let re = id.as_ref().ok().copied().flatten().map(RequestId);
        let Some(kind) = fields.take("type").and_then(parse_text) else {
            return Err(DecodeError::new(
                re,
                ErrorCode::Malformed,
                "`type` must be a string",
            ));
        };
        let is_supported = |kind: &str| {
            auth_mode != AuthMode::GuestOnly || !ClientMessage::ACCOUNT_TYPES.contains(&kind)
        };
        let message = id.and_then(|_| match &*kind {
            "hello" => decode_hello(&mut fields, auth_mode).map(Some),
            kind if !is_supported(kind) => Ok(None),
            kind => decode_message(kind, &mut fields),
        });
        match message {
            Ok(Some(message)) => Ok(Decoded {
                request: Self { id: re, message },
                ignored: fields.into_ignored_names(),
            }),
            Ok(None) => {
                let types = ClientMessage::TYPES.into_iter();
                let types: Vec<&str> = types.filter(|kind| is_supported(kind)).collect();
                let types = types.join(", ");
                let message = format!("unknown request type; known types: {types}");
                Err(DecodeError::new(re, ErrorCode::UnknownType, message))
            }
            Err(BadField { field, expected }) => {
                let message = format!("`{field}` must be {expected}");
                let mut decode_error = DecodeError::new(re, ErrorCode::BadField, message);
                decode_error.error.field = Some(field.into());
                decode_error.is_hello = kind == "hello";
                Err(decode_error)
            }
        }
    }
}

/// Decodes a request other than `hello`. Returns `None` if the request type does not exist.
fn decode_message(kind: &str, fields: &mut Fields<'_>) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "ping" => ClientMessage::Ping,
        "create" => ClientMessage::Create(Box::new(decode_create(fields)?)),
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
            offer: decode_offer(fields)?,
        },
        "decline" => ClientMessage::Decline {
            target: fields.required("match", MATCH)?,
            offer: fields.required("offer", DECLINED_OFFER)?,
        },
        "give_time" => ClientMessage::GiveTime {
            target: fields.required("match", MATCH)?,
            ms: fields.required("ms", GIVEN_TIME)?,
        },
        "say" => ClientMessage::Say {
            target: fields.required("match", MATCH)?,
            content: decode_chat_content(fields)?,
        },
        "list" => ClientMessage::List {
            game: fields.optional("game", TEXT)?,
            status: fields.optional("status", MATCH_STATUS)?,
            limit: fields.optional("limit", LIMIT)?,
            after: fields
                .optional("after", TEXT)?
                .map(|text| MatchRef::from(&*text)),
            seekers: fields.optional("seekers", BOOLEAN)?,
        },
        "watch_list" => ClientMessage::WatchList {
            game: fields.optional("game", TEXT)?,
            status: fields.optional("status", MATCH_STATUS)?,
            seekers: fields.optional("seekers", BOOLEAN)?,
        },
        "unwatch_list" => ClientMessage::UnwatchList,
        "seek" => ClientMessage::Seek(Box::new(decode_seek(fields)?)),
        "unseek" => ClientMessage::CancelSeek,
        "resync" => ClientMessage::Resync {
            target: fields.required("match", MATCH)?,
            since: Seq(fields.required("since", COUNT)?),
        },
        _ => return decode_identity_message(kind, fields),
    }))
}

/// Decodes a request about the player's identity or blocked players. Passes other request types on
/// to [`decode_archive_message`].
fn decode_identity_message(
    kind: &str,
    fields: &mut Fields<'_>,
) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "block" => ClientMessage::Block {
            player: fields.optional("player", TEXT)?,
            enabled: fields.optional("on", BOOLEAN)?,
        },
        "sessions" => ClientMessage::Sessions,
        "pair" => ClientMessage::LinkDevice,
        "recovery" => ClientMessage::CreateRecoveryKey {
            proof: decode_proof(fields)?,
        },
        "end_session" => ClientMessage::EndSession {
            session: fields.required("session", TEXT)?,
            proof: decode_proof(fields)?,
        },
        "register" => decode_register(fields)?,
        "rename" => ClientMessage::Rename {
            name: fields.required("name", TEXT)?,
        },
        "create_key" => ClientMessage::CreateApiKey {
            label: fields.optional("label", TEXT)?,
            bot: fields.optional("bot", TEXT)?,
            proof: decode_proof(fields)?,
        },
        "forget_me" => ClientMessage::DeleteAccount {
            proof: decode_proof(fields)?,
        },
        "set_password" => ClientMessage::SetPassword {
            new: fields.required("new", PASSWORD)?,
            proof: decode_proof(fields)?,
        },
        _ => return decode_archive_message(kind, fields),
    }))
}

/// Decodes a request about ended matches, leaderboards, profiles or engine analysis. Returns `None`
/// if the request type does not exist.
fn decode_archive_message(
    kind: &str,
    fields: &mut Fields<'_>,
) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "history" => ClientMessage::History(Box::new(HistoryRequest {
            player: fields.optional("player", TEXT)?,
            game: fields.optional("game", TEXT)?,
            with: fields.optional("with", TEXT)?,
            result: fields.optional("result", MATCH_RESULT)?,
            before: fields.optional("before", MATCH)?,
            limit: fields.optional("limit", LIMIT)?,
        })),
        "leaders" => ClientMessage::Leaderboard(Box::new(LeaderboardRequest {
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
        "profile" => decode_profile(fields)?,
        _ => return Ok(None),
    }))
}

fn decode_hello(fields: &mut Fields<'_>, auth_mode: AuthMode) -> Result<ClientMessage, BadField> {
    if auth_mode == AuthMode::ProxyAuthenticated {
        return Ok(ClientMessage::Hello(Box::new(Hello {
            protocol: fields.optional("protocol", VERSION)?,
            ..Hello::default()
        })));
    }
    let mut credential = |field| {
        let text = fields.optional(field, TEXT);
        text.map(|text| text.map(Token::new))
    };
    let token = credential("token")?;
    let link_code = credential("pair")?;
    let recovery_key = credential("recovery")?;
    let password = match auth_mode {
        // A server without accounts ignores `password`.
        AuthMode::GuestOnly => None,
        AuthMode::AllMethods | AuthMode::ProxyAuthenticated => credential("password")?,
    };
    // A `hello` may contain at most one credential.
    let credentials = [
        ("token", token.is_some()),
        ("pair", link_code.is_some()),
        ("recovery", recovery_key.is_some()),
        ("password", password.is_some()),
    ];
    let mut given = credentials.into_iter().filter(|(_, is_given)| *is_given);
    if let (Some(_), Some((field, _))) = (given.next(), given.next_back()) {
        return Err(BadField::new(
            field,
            "omitted if another credential is given",
        ));
    }
    let name = fields.optional("name", TEXT)?;
    if password.is_some() && name.is_none() {
        return Err(BadField::new("name", "a string if `password` is given"));
    }
    Ok(ClientMessage::Hello(Box::new(Hello {
        protocol: fields.optional("protocol", VERSION)?,
        name,
        token,
        link_code,
        recovery_key,
        password,
        keep_connections: fields.optional("beside", BOOLEAN)?,
        label: fields.optional("label", TEXT)?,
    })))
}

/// Decodes the player's proof of identity from `password` or `recovery`. Returns `None` if both
/// fields are absent.
fn decode_proof(fields: &mut Fields<'_>) -> Result<Option<ReauthProof>, BadField> {
    let password = fields.optional("password", TEXT)?.map(Token::new);
    let recovery = fields.optional("recovery", TEXT)?.map(Token::new);
    match (password, recovery) {
        (Some(_), Some(_)) => Err(BadField::new("recovery", "omitted if `password` is given")),
        (Some(password), None) => Ok(Some(ReauthProof::Password(password))),
        (None, recovery) => Ok(recovery.map(ReauthProof::RecoveryKey)),
    }
}

fn decode_register(fields: &mut Fields<'_>) -> Result<ClientMessage, BadField> {
    let name = fields.required("name", TEXT)?;
    let password = fields.optional("password", PASSWORD)?;
    let is_same_as_name = |password: &Token| is_password_same_as_name(password.reveal(), &name);
    if password.as_ref().is_some_and(is_same_as_name) {
        return Err(BadField::new("password", "different from the name"));
    }
    let invite = fields.optional("invite", TEXT)?.map(Token::new);
    Ok(ClientMessage::Register {
        name,
        password,
        invite,
    })
}

fn decode_create(fields: &mut Fields<'_>) -> Result<CreateRequest, BadField> {
    let mut create = CreateRequest {
        game: fields.required("game", TEXT)?,
        seats: fields.optional("seats", SEATS)?,
        listed: fields.optional("listed", BOOLEAN)?,
        spectator_access: fields.optional("watch", SPECTATOR_ACCESS)?,
        spectator_delay_ms: fields.optional("delay_ms", SPECTATOR_DELAY)?,
        shuffle: fields.optional("shuffle", BOOLEAN)?,
        bot_delay_ms: fields.optional("pace_ms", BOT_DELAY)?,
        clock: fields.optional("clock", CLOCK)?,
        takebacks_allowed: fields.optional("takeback", BOOLEAN)?,
        absence_limit_ms: fields.optional("patience_ms", ABSENCE_LIMIT)?,
        stand_in: fields.optional("stand_in", TEXT)?,
        rated: fields.optional("rated", BOOLEAN)?,
        shows_bot_thinking: fields.optional("thinking", BOOLEAN)?,
        in_histories: fields.optional("history", BOOLEAN)?,
        position: fields.optional("position", POSITION)?,
        invited: fields.optional("for", TEXT)?,
    };
    let is_correspondence = create.clock.is_some_and(|clock| clock.is_correspondence());
    if let Some(level) = fields.optional("bot", BOT_LEVEL)? {
        seat_bot(&mut create, level, is_correspondence)?;
    }
    if is_correspondence && create.absence_limit_ms.is_some() {
        let expected = "omitted: correspondence matches have no absence limit";
        return Err(BadField::new("patience_ms", expected));
    }
    if is_correspondence && create.spectator_delay_ms.unwrap_or(0) > 0 {
        let expected = "0 or omitted: correspondence matches have no spectator delay";
        return Err(BadField::new("delay_ms", expected));
    }
    let is_hidden = create.spectator_access.unwrap_or_default() != SpectatorAccess::Anyone;
    if create.rated == Some(true) && is_hidden {
        let expected = r#"false or omitted unless `watch` is "anyone""#;
        return Err(BadField::new("rated", expected));
    }
    if create.rated == Some(true) && create.shows_bot_thinking == Some(true) {
        let expected = "false or omitted: not allowed in rated matches";
        return Err(BadField::new("thinking", expected));
    }
    if create.in_histories == Some(false) {
        check_history_opt_out(&create)?;
    }
    if create.rated == Some(true) && create.position.is_some() {
        let expected = "omitted: rated matches start from the standard position";
        return Err(BadField::new("position", expected));
    }
    if create.rated == Some(true) {
        let seats = create.seats.as_ref();
        let has_only_bots = seats.is_some_and(|seats| seats.iter().all(SeatRequest::is_bot));
        let has_assistance =
            create.stand_in.is_some() || create.takebacks_allowed == Some(true) || has_only_bots;
        check_rated_terms(create.clock.is_some(), has_assistance)?;
    }
    if create.invited.is_some() {
        check_challenge_seats(&create)?;
    }
    Ok(create)
}

/// Assigns a bot to the open seat. Fails for a correspondence match. Also fails if the number of
/// open seats is not one.
fn seat_bot(
    create: &mut CreateRequest,
    level: String,
    is_correspondence: bool,
) -> Result<(), BadField> {
    let mut seats = create.seats.take().unwrap_or(SeatRequest::DEFAULT);
    let mut open = seats.iter_mut().filter(|seat| **seat == SeatRequest::Open);
    match (open.next(), open.next()) {
        (Some(seat), None) if !is_correspondence => *seat = SeatRequest::Bot(level),
        _ => {
            let expected =
                "omitted unless exactly one seat is open; bots do not play correspondence";
            return Err(BadField::new("bot", expected));
        }
    }
    create.seats = Some(seats);
    Ok(())
}

/// Checks that a challenge has one seat for its creator and one open seat.
fn check_challenge_seats(create: &CreateRequest) -> Result<(), BadField> {
    let seats = create.seats.as_ref().unwrap_or(&SeatRequest::DEFAULT);
    if seats.contains(&SeatRequest::Me) && seats.contains(&SeatRequest::Open) {
        return Ok(());
    }
    let expected = r#"omitted unless one seat is "me" and the other "open""#;
    Err(BadField::new("for", expected))
}

/// Checks the terms of a match that will not appear in histories, because its creator set `history`
/// to false. Such a match must be unrated, must have a bot, and must have no open seat.
fn check_history_opt_out(create: &CreateRequest) -> Result<(), BadField> {
    let seats = create.seats.as_ref();
    let has_bot = seats.is_some_and(|seats| seats.iter().any(SeatRequest::is_bot));
    let is_open = seats.is_some_and(|seats| seats.contains(&SeatRequest::Open));
    if has_bot && !is_open && create.rated != Some(true) {
        return Ok(());
    }
    let expected =
        "true or omitted unless a bot has a seat, no seat is open and the match is casual";
    Err(BadField::new("history", expected))
}

/// Checks the terms of a rated match. The match must have a clock, and must not allow assistance
/// such as takebacks or stand-ins.
fn check_rated_terms(has_clock: bool, has_assistance: bool) -> Result<(), BadField> {
    if has_clock && !has_assistance {
        return Ok(());
    }
    let expected = "false or omitted unless the match has a clock and a player, without \
                    `takeback`, `stand_in` or, in a seek, `bot`";
    Err(BadField::new("rated", expected))
}

fn decode_seek(fields: &mut Fields<'_>) -> Result<SeekRequest, BadField> {
    let seek = SeekRequest {
        game: fields.required("game", TEXT)?,
        bot: fields.optional("bot", BOT_LEVEL)?,
        bot_after_ms: fields.optional("bot_after_ms", BOT_WAIT)?,
        clock: fields.optional("clock", CLOCK)?,
        rated: fields.optional("rated", BOOLEAN)?,
        rating_range: fields.optional("rating", RATING_RANGE)?,
        stand_in: fields.optional("stand_in", TEXT)?,
    };
    if seek.rated == Some(true) {
        let has_assistance = seek.stand_in.is_some() || seek.bot.is_some();
        check_rated_terms(seek.clock.is_some(), has_assistance)?;
    } else if seek.rating_range.is_some() {
        let expected = "omitted unless `rated` is true";
        return Err(BadField::new("rating", expected));
    }
    if seek.bot.is_some() && seek.clock.is_some_and(|clock| clock.is_correspondence()) {
        let expected = "omitted: bots do not play correspondence";
        return Err(BadField::new("bot", expected));
    }
    Ok(seek)
}

/// Decodes `profile`, which may contain a name or a player id, but not both.
fn decode_profile(fields: &mut Fields<'_>) -> Result<ClientMessage, BadField> {
    let name = fields.optional("name", TEXT)?;
    let player = fields.optional("player", TEXT)?;
    if name.is_some() && player.is_some() {
        return Err(BadField::new("player", "omitted if `name` is given"));
    }
    Ok(ClientMessage::Profile { name, player })
}

fn decode_offer(fields: &mut Fields<'_>) -> Result<Offer, BadField> {
    Ok(match fields.required("offer", OFFER)? {
        OfferKind::Draw => Offer::Draw {
            ply: Ply(fields.required("ply", COUNT)?),
        },
        OfferKind::Takeback => {
            let ply = fields.required("ply", COUNT)?;
            let to_ply = fields.optional("to_ply", COUNT)?;
            let is_one_or_two_plies_back = |to_ply| matches!(ply.checked_sub(to_ply), Some(1 | 2));
            if to_ply.is_some_and(|to_ply| !is_one_or_two_plies_back(to_ply)) {
                return Err(BadField::new("to_ply", "one or two less than `ply`"));
            }
            Offer::Takeback {
                ply: Ply(ply),
                to_ply: to_ply.map(Ply),
            }
        }
        OfferKind::Rematch | OfferKind::Challenge => Offer::Rematch,
    })
}

/// Decodes the content of a chat message, which is either a preset or free text.
fn decode_chat_content(fields: &mut Fields<'_>) -> Result<ChatContent, BadField> {
    match fields.optional("text", CHAT_TEXT)? {
        None => Ok(ChatContent::Preset(fields.required("preset", CHAT_PRESET)?)),
        Some(text) => match fields.optional("preset", CHAT_PRESET)? {
            None => Ok(ChatContent::Text(text)),
            Some(_) => Err(BadField::new("text", "omitted if `preset` is given")),
        },
    }
}

/// Error for a field that is missing, has the wrong type, or is out of range.
struct BadField {
    field: &'static str,
    expected: &'static str,
}

impl BadField {
    const fn new(field: &'static str, expected: &'static str) -> Self {
        Self { field, expected }
    }
}
