//! Players, and the sessions by which they are known.

use std::fmt;

use plyhouse_protocol::{PlayerId, PlayerKind, SessionId, SessionKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The SHA-256 of a token, a code or a key, which themselves are never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// A player as the store remembers one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerRecord {
    /// The public id.
    pub id: PlayerId,
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: PlayerKind,
}

/// A session as the store remembers one: what proves who somebody is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// What its token is known by.
    pub token: TokenHash,
    /// Its id, which is no secret.
    pub id: SessionId,
    /// Whose it is.
    pub player: PlayerId,
    /// What its player calls it.
    pub label: String,
    /// What it is of.
    pub kind: SessionKind,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// The day on which it was used last, counted from 1970.
    pub last_used_day: u64,
    /// Whether it was begun by a recovery key.
    pub from_recovery_key: bool,
}

/// A code by which one more device becomes the player's, once and soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// What the code is known by.
    pub code: TokenHash,
    /// Whose device it will be.
    pub player: PlayerId,
    /// Until when it is good, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Some of the sessions of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionSelection {
    /// This one.
    One(SessionId),
    /// All but this one.
    AllBut(SessionId),
    /// All but this one and the keys of programs.
    AllButKeysAnd(SessionId),
    /// All.
    All,
}

impl SessionSelection {
    /// Whose pairing code is void with them: that of this session, or else of any, since one of the devices
    /// that are thrown out may have made it.
    pub(crate) const fn voided_pairing_session(self) -> Option<SessionId> {
        match self {
            Self::One(id) => Some(id),
            Self::AllBut(_) | Self::AllButKeysAnd(_) | Self::All => None,
        }
    }

    /// Whether this session is among them, of this kind.
    #[must_use]
    pub fn contains(self, id: SessionId, kind: SessionKind) -> bool {
        match self {
            Self::One(one) => id == one,
            Self::AllBut(one) => id != one,
            Self::AllButKeysAnd(one) => id != one && kind != SessionKind::Key,
            Self::All => true,
        }
    }
}

/// A change of what players are known by, once they are kept.
#[derive(Clone, Debug)]
pub enum IdentityChange {
    /// See [`Store::add_session`](crate::Store::add_session).
    AddSession(SessionRecord),
    /// See [`Store::offer_pairing`](crate::Store::offer_pairing).
    OfferPairing {
        /// What is offered.
        pairing: Pairing,
        /// By which session of its player.
        offered_by: SessionId,
        /// In milliseconds since 1970.
        now_ms: u64,
        /// How many may live at a time.
        max: usize,
    },
    /// See [`Store::take_pairing`](crate::Store::take_pairing).
    TakePairing(TokenHash, Box<SessionRecord>),
    /// See [`Store::store_recovery_key`](crate::Store::store_recovery_key).
    StoreRecoveryKey(PlayerId, TokenHash),
    /// See [`Store::renew_recovery_key`](crate::Store::renew_recovery_key).
    RenewRecoveryKey(PlayerId, TokenHash, IdentityProof),
    /// See [`Store::add_api_key`](crate::Store::add_api_key).
    AddApiKey(Box<NewApiKey>),
    /// See [`Store::end_sessions`](crate::Store::end_sessions).
    EndSessions(PlayerId, SessionSelection),
    /// See [`Store::touch_session`](crate::Store::touch_session).
    TouchSession(TokenHash, u64),
    /// See [`Store::name_player`](crate::Store::name_player).
    NamePlayer(Box<NameChange>),
    /// See [`Store::rename_guest`](crate::Store::rename_guest).
    RenameGuest(PlayerId, String),
    /// See [`Store::set_password`](crate::Store::set_password).
    SetPassword(PlayerId, PasswordHash, IdentityProof),
    /// See [`Store::store_account`](crate::Store::store_account).
    StoreAccount(PlayerId, Box<Account>),
    /// See [`Store::change_block`](crate::Store::change_block).
    ChangeBlock {
        /// Who wants it so.
        player: PlayerId,
        /// Whom the player does not want to meet.
        other: PlayerId,
        /// From when on, in milliseconds since 1970; `None` if not any more.
        since_ms: Option<u64>,
    },
    /// See [`Store::add_external_identity`](crate::Store::add_external_identity).
    AddExternalIdentity(Box<ExternalIdentity>),
    /// See [`Store::delete_player`](crate::Store::delete_player).
    DeletePlayer(Box<PlayerDeletion>),
    /// See [`Store::remove_names`](crate::Store::remove_names).
    RemoveNames(PlayerId),
    /// See [`Store::add_one_time_token`](crate::Store::add_one_time_token).
    AddOneTimeToken {
        /// What it is known by.
        code: TokenHash,
        /// What it is.
        token: OneTimeToken,
        /// In milliseconds since 1970.
        now_ms: u64,
        /// How many may be good at a time.
        max: usize,
    },
    /// See [`Store::take_one_time_token`](crate::Store::take_one_time_token).
    TakeOneTimeToken(TokenHash),
    /// See [`Store::claim_command`](crate::Store::claim_command).
    ClaimCommand(CommandId),
    /// See [`Store::store_command_result`](crate::Store::store_command_result).
    StoreCommandResult(CommandId, String),
}

/// How many others one player may block.
pub const BLOCKS_MAX: usize = 500;

/// Who does not want to meet whom, as far as one player is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Whom the player blocks, in the order in which that began.
    pub blocked: Vec<PlayerRecord>,
    /// Who blocks the player.
    pub blocked_by: Vec<PlayerId>,
    /// Whom the player does not meet for that, in the order of their ids. A person and the programs of that
    /// person are one in this: nobody gets around it by a program of their own.
    pub unpairable: Vec<PlayerId>,
}

/// The SQL by which a store finds whom a player does not meet. The one who owns the account, and all that are owned by the same, are one
/// with the player; and so are those who block them or are blocked by them with theirs. In this order no store looks
/// at all accounts.
macro_rules! unpairable_players_sql {
    ($of:literal) => {
        concat!(
            "WITH me (id) AS (
                 SELECT coalesce((SELECT owner FROM accounts WHERE player = ",
            $of,
            "), ",
            $of,
            ")),
             kin (id) AS (
                 SELECT id FROM me
                 UNION SELECT a.player FROM me CROSS JOIN accounts a WHERE a.owner = me.id),
             met (id) AS (
                 SELECT b.other FROM blocks b JOIN kin ON b.player = kin.id
                 UNION SELECT b.player FROM blocks b JOIN kin ON b.other = kin.id),
             theirs (id) AS (
                 SELECT coalesce(a.owner, met.id) FROM met LEFT JOIN accounts a ON a.player = met.id)
             SELECT id FROM theirs
             UNION SELECT a.player FROM theirs CROSS JOIN accounts a WHERE a.owner = theirs.id
             ORDER BY 1"
        )
    };
}
pub(crate) use unpairable_players_sql;

impl Blocks {
    /// Whether the player does not meet this one.
    #[must_use]
    pub fn is_unpairable_with(&self, other: PlayerId) -> bool {
        self.unpairable.contains(&other)
    }
}

/// What is kept of a password, in the form of a PHC string. Not shown, though nobody gets the password out
/// of it: it can be tried at leisure.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(secret)")
    }
}

/// What is kept of a player whose name is theirs alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What the password is known by, if there is one.
    pub password: Option<PasswordHash>,
    /// When the player took another name, in milliseconds since 1970.
    pub renamed_ms: Option<u64>,
    /// The names that are the player's alone, in the order of their likeness.
    pub unique_names: Vec<UniqueName>,
    /// Whose it is, if it is the account of a program.
    pub owner: Option<PlayerId>,
    /// The accounts of programs that are the player's, in the order of their ids. It follows from their owners.
    pub bots: Vec<PlayerRecord>,
    /// As whom a proxy knows the player, if one does.
    pub external_name: Option<String>,
}

/// Somebody of whom a proxy tells for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalIdentity {
    /// As whom the proxy knows them.
    pub external_name: String,
    /// The account that is made.
    pub player: PlayerRecord,
    /// What its name has in common with names that look like it, first that by which it is found.
    pub skeletons: Vec<String>,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
}

/// A player is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerDeletion {
    /// Who.
    pub player: PlayerId,
    /// That it is the player who asks, unless it is the operator.
    pub proof: Option<IdentityProof>,
    /// Until when nobody else gets the name, in milliseconds since 1970.
    pub name_reserved_until_ms: u64,
}

/// How a player is called of whom nothing else is known any more.
pub const DELETED_PLAYER_NAME: &str = "someone";

/// Something that the operator gives somebody, good once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTimeToken {
    /// Whose sessions it begins, where a recovery key would; else it is an invitation to register.
    pub player: Option<PlayerId>,
    /// Until when it is good, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Something that the operator asks a server for, through the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub Uuid);

/// By what somebody has proved to be a player. What a session alone is not enough for comes to nothing if it is
/// no longer so: whoever ends that session or sets another password ends that, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityProof {
    /// The session of the player that asks.
    pub session: SessionId,
    /// The player's password, as it was then.
    pub password: Option<PasswordHash>,
}

/// A key by which a program plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// The session that it is. It is its owner's, or of an account of a program of the owner's.
    pub session: SessionRecord,
    /// Who is to have it.
    pub owner: PlayerId,
    /// That it is the owner who asks.
    pub proof: IdentityProof,
    /// That account, if it is new.
    pub bot: Option<NewBotAccount>,
    /// How many keys an owner may have, those of programs' accounts among them.
    pub keys_max: usize,
}

/// An account of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBotAccount {
    /// The account.
    pub player: PlayerRecord,
    /// What its name has in common with names that look like it, first that by which it is found.
    pub skeletons: Vec<String>,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// How many an owner may have.
    pub bots_max: usize,
}

/// A name that is one player's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueName {
    /// Something that it has in common with names that look like it.
    pub skeleton: String,
    /// Until when it is kept for a player who has another one by now, in milliseconds since 1970.
    pub reserved_until_ms: Option<u64>,
}

impl UniqueName {
    /// A name from now on, with all that it has in common with others.
    pub(crate) fn from_skeletons(skeletons: &[String]) -> Vec<Self> {
        let names = skeletons.iter().map(|skeleton| Self {
            skeleton: skeleton.clone(),
            reserved_until_ms: None,
        });
        names.collect()
    }
}

/// A player takes a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameChange {
    /// The player, with that name.
    pub player: PlayerRecord,
    /// What it has in common with names that look like it, first that by which it is found.
    pub skeletons: Vec<String>,
    /// The invitation that is used up by it, if it takes one.
    pub invite: Option<TokenHash>,
    /// The password to be kept, if there is a new one.
    pub password: Option<PasswordHash>,
    /// What the player is before, as is believed; and when the name was taken that the player has then, if it
    /// was not the first.
    pub expected: (PlayerKind, Option<u64>),
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// Until when the name before is kept for the player, in milliseconds since 1970.
    pub old_name_reserved_until_ms: u64,
}

/// What is written of the kind of a player; nothing of guests.
pub(crate) fn player_kind_to_text(kind: PlayerKind) -> Option<&'static str> {
    (kind != PlayerKind::Guest).then(|| kind.as_str())
}

/// The kind of a player by what is written. Nothing else is written than what this program knows.
pub(crate) fn player_kind_from_text(text: Option<&str>) -> PlayerKind {
    match text {
        None => PlayerKind::Guest,
        Some("bot") => PlayerKind::Bot,
        Some(_) => PlayerKind::Account,
    }
}

/// The kind of a session by its word.
pub(crate) fn session_kind_from_text(text: &str) -> Option<SessionKind> {
    let mut kinds = SessionKind::ALL.iter().copied();
    kinds.find(|kind| kind.as_str() == text)
}
