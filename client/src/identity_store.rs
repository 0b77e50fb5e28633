//! Stores players and their session tokens on this machine between runs. At most one process uses a
//! token at a time.
//!
//! A token gives access to one session of a player. If two processes used the same token, the
//! server would close the older connection. If two users share a machine, each of them must
//! therefore use a different player. Each server has a series of slots, `<server>`, `<server>.1`,
//! `<server>.2` …, and each slot stores one token. An advisory lock on a file next to the slot
//! protects the slot. The operating system releases the lock when the process ends, even after a
//! crash. A process chooses a free slot by these rules:
//!
//! - With `--name`, the process considers only players with that name. Without `--name`, it
//!   considers a player with a chosen name only if the player sits in the requested match.
//! - The process prefers a player who was last seen in the requested match. If the user requests a
//!   game instead, it prefers the player with the newest match of that game. Otherwise, it prefers
//!   the lowest slot number.
//! - If no stored player fits, the process uses the first unused or vacated slot for a new player.
//!
//! These rules give two terminals on one machine different players without any configuration. After
//! a restart, each terminal finds its own seat. A slot also contains notes on the matches in which
//! its player has a seat. These notes may be outdated, so `identity_selection` asks the server for
//! the current state.
//!
//! The folder has mode 0700 and each file has mode 0600. Files are replaced atomically.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use plyhouse_protocol::{MatchId, Token};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// Maximum number of players that are stored for one server.
const SLOTS_MAX: usize = 32;

/// Maximum number of matches in the notes of one player. This number equals the server's default
/// limit on the live matches that a player may host.
const SEAT_NOTES_MAX: usize = 16;

/// Maximum number of bytes that are read from the file of a slot. Valid files are smaller than 3
/// KiB.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Maximum number of attempts to acquire the lock that a process holds while it chooses a slot. The
/// lock prevents two processes from choosing a slot at the same time. Choosing a slot takes
/// milliseconds, so a process that holds the lock for a second must be hanging. If all attempts
/// fail, the slot is therefore chosen without the lock.
const CHOOSE_LOCK_ATTEMPTS: u32 = 20;
const CHOOSE_LOCK_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Error of the identity store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IdentityStoreError {
    /// Every slot is locked or has a player.
    #[error("too many players are saved on this machine; log one out with `ply logout`")]
    NoFreeSlot,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<IdentityStoreError> for Failure {
    fn from(error: IdentityStoreError) -> Self {
        Self::Failed(match error {
            IdentityStoreError::NoFreeSlot => error.to_string(),
            IdentityStoreError::Io(error) => {
                format!("cannot access the players saved on this machine: {error}")
            }
        })
    }
}

type Result<T> = std::result::Result<T, IdentityStoreError>;

/// Identity slots of one server.
#[derive(Debug)]
pub(crate) struct IdentityStore {
    dir: PathBuf,
    server_file_name: String,
}

/// Criteria for choosing a slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdentityQuery {
    /// Required name of the player.
    pub(crate) name: Option<String>,
    /// Code or id of a match. A player who sits in this match is preferred.
    pub(crate) target: Option<String>,
    /// Game id. A player who sits in a match of this game is preferred.
    pub(crate) game: Option<String>,
}

/// Slot that this process has locked. Dropping the value releases the lock.
#[derive(Debug)]
pub(crate) struct IdentityLock {
    slot_number: usize,
    path: PathBuf,
    remembered_seat: RememberedSeat,
    /// Whether the user chose the player's name, in this run or an earlier one.
    has_chosen_name: bool,
    record: Option<IdentityRecord>,
    _lock: FileLock,
}

/// Slot that is reserved for a new player.
#[derive(Debug)]
pub(crate) struct IdentityReservation {
    identity: IdentityLock,
    /// Vacant slot to which the reserved slot's current player will be moved. `None` if the
    /// reserved slot has no player.
    replaced_player_slot: Option<IdentityLock>,
}

/// Whether the notes of the chosen slot contain a match that fits the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RememberedSeat {
    /// The slot has no note on a requested match.
    None,
    /// Of the free slots that fit the query, only this slot has a note on a requested match.
    Unique,
    /// This slot and at least one other free slot that fits the query have a note on a requested
    /// match.
    Ambiguous,
}

/// Contents of a slot's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IdentityRecord {
    token: Token,
    name: String,
    /// Whether the user chose the name. If false, the server assigned the name.
    #[serde(default)]
    #[serde(rename = "named")]
    has_chosen_name: bool,
    #[serde(default)]
    seats: Vec<SeatNote>,
}

/// Match where the player of a slot was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatNote {
    pub(crate) id: MatchId,
    pub(crate) code: String,
    pub(crate) game: String,
}

impl IdentityStore {
    /// Opens the slots of a server, under `$XDG_STATE_HOME` or `~/.local/state`.
    pub(crate) fn open_for_server(server: &str) -> Result<Self> {
        let xdg = Xdg::new().map_err(io::Error::other)?;
        let no_folder = || io::Error::from(io::ErrorKind::NotFound);
        let state = xdg.state_dir().ok_or_else(no_folder)?;
        Self::open_in_directory(state.join("plyhouse"), server)
    }

    fn open_in_directory(dir: PathBuf, server: &str) -> Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&dir)
            .and_then(|()| fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)))
            .map_err(|error| io::Error::other(format!("{}: {error}", dir.display())))?;
        Ok(Self {
            dir,
            server_file_name: server_file_name(server),
        })
    }

    /// Locks the free slot that fits the query best. Slots whose numbers are in `skipped` are not
    /// considered.
    pub(crate) async fn lock_best(
        &self,
        query: &IdentityQuery,
        skipped: &[usize],
    ) -> Result<IdentityLock> {
        let choose_lock = FileLock::open(&self.dir.join("choosing.lock"))?;
        for _ in 0..CHOOSE_LOCK_ATTEMPTS {
            if choose_lock.try_lock()? {
                break;
            }
            tokio::time::sleep(CHOOSE_LOCK_RETRY_DELAY).await;
        }
        self.choose_and_lock(query, skipped)
    }

    /// Returns whether another process has locked the slot of a player who fits the query.
    pub(crate) fn is_in_use(&self, query: &IdentityQuery) -> Result<bool> {
        for number in 0..SLOTS_MAX {
            if self.slot_path(number).exists() && self.try_lock_slot(number)?.is_none() {
                let record = read_record(&self.slot_path(number))?;
                if record.is_some_and(|record| query.accepts_record(&record)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the player names that users of this machine have chosen.
    pub(crate) fn chosen_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for number in 0..SLOTS_MAX {
            let record = read_record(&self.slot_path(number))?;
            names.extend(
                record
                    .filter(|record| record.has_chosen_name)
                    .map(|record| record.name),
            );
        }
        Ok(names)
    }

    /// Locks the best slot for a new player. If the slot already has a player, also locks a vacant
    /// slot for that player.
    pub(crate) async fn reserve_for_new_player(
        &self,
        query: &IdentityQuery,
    ) -> Result<IdentityReservation> {
        let identity = self.lock_best(query, &[]).await?;
        let replaced_player_slot = match identity.record {
            Some(_) => Some(self.lock_vacant(identity.slot_number)?),
            None => None,
        };
        Ok(IdentityReservation {
            identity,
            replaced_player_slot,
        })
    }

    /// Locks a slot without a player, other than the slot with the number `locked`.
    fn lock_vacant(&self, locked: usize) -> Result<IdentityLock> {
        for number in (0..SLOTS_MAX).filter(|number| *number != locked) {
            if let Some(vacant) = self.try_lock_slot(number)?
                && vacant.record.is_none()
            {
                return Ok(vacant);
            }
        }
        Err(IdentityStoreError::NoFreeSlot)
    }

    fn choose_and_lock(&self, query: &IdentityQuery, skipped: &[usize]) -> Result<IdentityLock> {
        // Best slot so far, together with its rank. A slot with a player ranks above an empty slot.
        // Among slots with players, the slot whose notes contain the newest requested match ranks
        // highest.
        let mut best: Option<((bool, Option<MatchId>), IdentityLock)> = None;
        let mut remembered_count = 0;
        for number in (0..SLOTS_MAX).filter(|number| !skipped.contains(number)) {
            let Some(identity) = self.try_lock_slot(number)? else {
                continue;
            };
            let Some(record) = &identity.record else {
                // Slots are filled in ascending order, so the slots after an unused slot are unused
                // too.
                let was_used = identity.path.exists();
                best.get_or_insert(((false, None), identity));
                if was_used {
                    continue;
                }
                break;
            };
            if !query.accepts_record(record) {
                continue;
            }
            let newest = query.newest_match_in(record);
            remembered_count += u32::from(newest.is_some());
            let rank = (true, newest);
            if best.as_ref().is_none_or(|(so_far, _)| rank > *so_far) {
                best = Some((rank, identity));
            }
        }
        let (_, mut slot) = best.ok_or(IdentityStoreError::NoFreeSlot)?;
        slot.remembered_seat = match remembered_count {
            0 => RememberedSeat::None,
            1 => RememberedSeat::Unique,
            _ => RememberedSeat::Ambiguous,
        };
        slot.has_chosen_name |= query.name.is_some();
        Ok(slot)
    }

    /// Returns the path of a slot's file.
    fn slot_path(&self, number: usize) -> PathBuf {
        self.dir.join(match number {
            0 => self.server_file_name.clone(),
            number => format!("{}.{number}", self.server_file_name),
        })
    }

    fn try_lock_slot(&self, number: usize) -> io::Result<Option<IdentityLock>> {
        let path = self.slot_path(number);
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let lock = FileLock::open(Path::new(&lock))?;
        if !lock.try_lock()? {
            return Ok(None);
        }
        let record = read_record(&path)?;
        Ok(Some(IdentityLock {
            slot_number: number,
            path,
            remembered_seat: RememberedSeat::None,
            has_chosen_name: record.as_ref().is_some_and(|record| record.has_chosen_name),
            record,
            _lock: lock,
        }))
    }
}

impl IdentityQuery {
    /// Returns whether the query accepts the player of a slot.
    fn accepts_record(&self, record: &IdentityRecord) -> bool {
        match &self.name {
            Some(name) => *name == record.name,
            None => {
                !record.has_chosen_name
                    || self.target.is_some() && self.newest_match_in(record).is_some()
            }
        }
    }

    /// Searches the notes of `record` for matches that the query requests, and returns the newest
    /// one. Match ids sort by creation time.
    fn newest_match_in(&self, record: &IdentityRecord) -> Option<MatchId> {
        let notes = record.seats.iter().filter(|note| self.accepts_seat(note));
        notes.map(|note| note.id).max()
    }

    fn accepts_seat(&self, note: &SeatNote) -> bool {
        match (&self.target, &self.game) {
            (Some(target), _) => {
                note.code.eq_ignore_ascii_case(target)
                    || note.id.to_string().eq_ignore_ascii_case(target)
            }
            (None, Some(game)) => note.game == *game,
            (None, None) => false,
        }
    }
}

impl IdentityReservation {
    /// Stores a player in the reserved slot. If the slot already contains a player, that player
    /// moves to another slot and can then be selected by name.
    pub(crate) fn save_player(mut self, token: &Token, name: &str, live: &[MatchId]) -> Result<()> {
        if let (Some(mut spare), Some(record)) =
            (self.replaced_player_slot, self.identity.record.take())
        {
            spare.record = Some(IdentityRecord {
                has_chosen_name: true,
                ..record
            });
            spare.write_record()?;
        }
        self.identity.save_player(token, name, live)
    }
}

impl IdentityLock {
    pub(crate) const fn slot_number(&self) -> usize {
        self.slot_number
    }

    pub(crate) const fn remembered_seat(&self) -> RememberedSeat {
        self.remembered_seat
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.record.as_ref().map(|record| &record.token)
    }

    /// Returns the stored name. The client sends this name with `hello`, in case the server has
    /// deleted the player.
    pub(crate) fn name(&self) -> Option<&str> {
        self.record.as_ref().map(|record| record.name.as_str())
    }

    /// Stores a player. If the token is unchanged, keeps the notes on the matches in `live` and
    /// removes all other notes. If the token is new, removes all notes.
    pub(crate) fn save_player(
        &mut self,
        token: &Token,
        name: &str,
        live: &[MatchId],
    ) -> Result<()> {
        let mut seats = match self.record.take() {
            Some(record) if record.token == *token => record.seats,
            Some(_) | None => Vec::new(),
        };
        seats.retain(|note| live.contains(&note.id));
        self.record = Some(IdentityRecord {
            token: token.clone(),
            name: name.to_owned(),
            has_chosen_name: self.has_chosen_name,
            seats,
        });
        self.write_record()
    }

    /// Removes the player from the slot.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.record = None;
        self.write_record()
    }

    /// Removes each note on a match that is not in `live`.
    pub(crate) fn retain_live_seats(&mut self, live: &[MatchId]) -> Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        record.seats.retain(|note| live.contains(&note.id));
        self.write_record()
    }

    /// Stores a note that the player sits in a match.
    pub(crate) fn add_seat(&mut self, note: &SeatNote) -> Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        if record.seats.contains(note) {
            return Ok(());
        }
        record.seats.retain(|known| known.id != note.id);
        record.seats.truncate(SEAT_NOTES_MAX - 1);
        record.seats.insert(0, note.clone());
        self.write_record()
    }

    /// Removes the note on a match.
    pub(crate) fn remove_seat(&mut self, id: MatchId) -> Result<()> {
        match &mut self.record {
            Some(record) if record.seats.iter().any(|note| note.id == id) => {
                record.seats.retain(|note| note.id != id);
                self.write_record()
            }
            Some(_) | None => Ok(()),
        }
    }

    fn write_record(&self) -> Result<()> {
        let json = serde_json::to_vec(&self.record).map_err(io::Error::from)?;
        let new = self.path.with_added_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&json)?;
        file.sync_all()?;
        Ok(fs::rename(&new, &self.path)?)
    }
}

/// File that only one process can lock at a time.
#[derive(Debug)]
struct FileLock(File);

impl FileLock {
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path).map(Self)
    }

    /// Tries to lock the file. Returns false if another process holds the lock.
    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for FileLock {
    /// Unlocks the file explicitly. Closing the file would not release the lock while a child
    /// process is starting. The child has a copy of the file descriptor until it executes its
    /// program.
    fn drop(&mut self) {
        // An error is ignored, because closing the file usually releases the lock too.
        let _ = self.0.unlock();
    }
}

/// Reads the file of a slot. An invalid file is treated as missing and is later replaced.
fn read_record(path: &Path) -> io::Result<Option<IdentityRecord>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut json = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json).unwrap_or(None))
}

/// Encodes a server URL as a file name. Different URLs get different file names, even if a slot
/// number or `.lock` is appended. Dots in the host stay unescaped, and all other dots of the URL
/// are escaped. An unescaped dot after the path can therefore only begin an appended slot number or
/// `.lock`.
fn server_file_name(server: &str) -> String {
    let address = server.strip_prefix("ws://").unwrap_or(server);
    let host = address.find(['/', '?']).unwrap_or(address.len());
    let mut name = String::with_capacity(address.len());
    for (at, byte) in address.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b':' => {
                name.push(char::from(byte));
            }
            b'.' if (1..host).contains(&at) => name.push('.'),
            byte => name.push_str(&format!("%{byte:02x}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "ws://127.0.0.1:7878/ws";

    fn open_store(dir: &tempfile::TempDir) -> IdentityStore {
        IdentityStore::open_in_directory(dir.path().join("plyhouse"), SERVER).unwrap()
    }

    fn query(name: Option<&str>, target: Option<&str>, game: Option<&str>) -> IdentityQuery {
        IdentityQuery {
            name: name.map(str::to_owned),
            target: target.map(str::to_owned),
            game: game.map(str::to_owned),
        }
    }

    fn seat_note(id: u8, code: &str) -> SeatNote {
        SeatNote {
            id: serde_json::from_str(&format!("\"00000000-0000-0000-0000-0000000000{id:02}\""))
                .unwrap(),
            code: code.to_owned(),
            game: "tic-tac-toe".to_owned(),
        }
    }

    fn token(text: &str) -> Token {
        Token::new(text.to_owned())
    }

    fn lock_best(store: &IdentityStore, query: &IdentityQuery) -> IdentityLock {
        store.choose_and_lock(query, &[]).unwrap()
    }

    fn token_text(identity: &IdentityLock) -> Option<&str> {
        identity.token().map(Token::reveal)
    }

    #[test]
    fn second_process_gets_new_player_and_each_keeps_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut first = lock_best(&store, &IdentityQuery::default());
        first.save_player(&token("one"), "ada", &[]).unwrap();
        let mut second = lock_best(&store, &IdentityQuery::default());
        assert_eq!(token_text(&second), None);
        second.save_player(&token("two"), "bo", &[]).unwrap();

        drop(first);
        let first = lock_best(&store, &IdentityQuery::default());
        assert_eq!(token_text(&first), Some("one"));
        drop(second);
        assert_eq!(
            token_text(&lock_best(&store, &IdentityQuery::default())),
            Some("two")
        );
    }

    #[test]
    fn player_locked_by_another_process_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let is_in_use = |name: Option<&str>| store.is_in_use(&query(name, None, None)).unwrap();
        assert!(!is_in_use(None));
        let mut first = lock_best(&store, &IdentityQuery::default());
        assert!(!is_in_use(None), "no player is stored yet");
        first.save_player(&token("one"), "ada", &[]).unwrap();
        assert!(is_in_use(None) && is_in_use(Some("ada")) && !is_in_use(Some("bo")));
        drop(first);
        assert!(!is_in_use(None));
        assert_eq!(store.chosen_names().unwrap(), [""; 0]);
        let mut named = lock_best(&store, &query(Some("bo"), None, None));
        named.save_player(&token("two"), "bo", &[]).unwrap();
        assert_eq!(store.chosen_names().unwrap(), ["bo"]);
    }

    #[test]
    fn each_name_selects_its_own_identity() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        lock_best(&store, &IdentityQuery::default())
            .save_player(&token("one"), "ada", &[])
            .unwrap();
        let mut bo = lock_best(&store, &query(Some("bo"), None, None));
        assert_eq!(token_text(&bo), None);
        bo.save_player(&token("two"), "bo", &[]).unwrap();
        drop(bo);
        let token_of = |name| {
            let slot = lock_best(&store, &query(Some(name), None, None));
            token_text(&slot).map(str::to_owned)
        };
        assert_eq!(token_of("bo").as_deref(), Some("two"));
        assert_eq!(token_of("ada").as_deref(), Some("one"));
        assert_eq!(token_of("eve"), None);
    }

    #[test]
    fn chosen_name_needs_its_name_or_match_code() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut ben = lock_best(&store, &query(Some("Ben"), None, None));
        ben.save_player(&token("one"), "Ben", &[]).unwrap();
        ben.add_seat(&seat_note(7, "K7QM2P")).unwrap();
        drop(ben);
        let token_of = |name, target, game| {
            let slot = lock_best(&store, &query(name, target, game));
            token_text(&slot).map(str::to_owned)
        };
        assert_eq!(token_of(None, None, None), None);
        assert_eq!(token_of(None, None, Some("tic-tac-toe")), None);
        let bens = [
            token_of(Some("Ben"), None, None),
            token_of(None, Some("k7qm2p"), None),
            token_of(Some("Ben"), None, None),
        ];
        assert_eq!(bens, [(); 3].map(|()| Some("one".to_owned())));

        // If a player is selected by match code, the player's name must still count as chosen by
        // the user.
        let mut ben = lock_best(&store, &query(None, Some("K7QM2P"), None));
        ben.save_player(&token("one"), "Ben", &[]).unwrap();
        drop(ben);
        assert_eq!(token_of(None, None, None), None);
    }

    #[tokio::test]
    async fn replaced_player_is_found_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut slot = lock_best(&store, &IdentityQuery::default());
        slot.save_player(&token("one"), "guest-abcd", &[]).unwrap();
        drop(slot);
        let reserve = async || {
            store
                .reserve_for_new_player(&IdentityQuery::default())
                .await
                .unwrap()
        };
        // If a reservation is dropped without saving a player, no player moves to another slot.
        drop(reserve().await);
        assert_eq!(
            token_text(&lock_best(&store, &IdentityQuery::default())),
            Some("one")
        );
        assert_eq!(store.try_lock_slot(1).unwrap().unwrap().record, None);
        reserve()
            .await
            .save_player(&token("two"), "ada", &[])
            .unwrap();
        let token_of = |name: Option<&str>| {
            token_text(&lock_best(&store, &query(name, None, None))).map(str::to_owned)
        };
        assert_eq!(token_of(None).as_deref(), Some("two"));
        assert_eq!(token_of(Some("guest-abcd")).as_deref(), Some("one"));

        // The next new player takes the slot that was vacated. Players in slots with higher numbers
        // can still be found by name.
        lock_best(&store, &IdentityQuery::default())
            .clear()
            .unwrap();
        assert_eq!(token_of(None), None);
        assert_eq!(token_of(Some("guest-abcd")).as_deref(), Some("one"));
        reserve()
            .await
            .save_player(&token("three"), "bo", &[])
            .unwrap();
        let bo = lock_best(&store, &IdentityQuery::default());
        assert_eq!((bo.slot_number(), token_text(&bo)), (0, Some("three")));
    }

    #[test]
    fn player_seated_in_requested_match_is_preferred() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut first = lock_best(&store, &IdentityQuery::default());
        let mut second = lock_best(&store, &IdentityQuery::default());
        assert_eq!(first.path.with_added_extension("1"), second.path);
        first.save_player(&token("one"), "ada", &[]).unwrap();
        second.save_player(&token("two"), "bo", &[]).unwrap();
        second.add_seat(&seat_note(7, "K7QM2P")).unwrap();
        drop((first, second));

        let token_of = |identity_query: &IdentityQuery| {
            token_text(&lock_best(&store, identity_query)).map(str::to_owned)
        };
        assert_eq!(token_of(&IdentityQuery::default()).as_deref(), Some("one"));
        assert_eq!(
            token_of(&query(None, Some("k7qm2p"), None)).as_deref(),
            Some("two")
        );
        assert_eq!(
            token_of(&query(None, None, Some("tic-tac-toe"))).as_deref(),
            Some("two")
        );
        assert_eq!(
            token_of(&query(None, None, Some("chess"))).as_deref(),
            Some("one")
        );

        let mut second = lock_best(&store, &query(None, Some("K7QM2P"), None));
        second.remove_seat(seat_note(7, "").id).unwrap();
        drop(second);
        assert_eq!(
            token_of(&query(None, Some("K7QM2P"), None)).as_deref(),
            Some("one")
        );
    }

    #[test]
    fn player_seated_in_newest_match_is_preferred() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut players = ["one", "two", "three"].map(|secret| {
            let mut slot = lock_best(&store, &IdentityQuery::default());
            slot.save_player(&token(secret), secret, &[]).unwrap();
            slot
        });
        for (slot, id) in players.iter_mut().zip([3, 8, 5]) {
            slot.add_seat(&seat_note(id, "K7QM2P")).unwrap();
        }
        drop(players);
        let game = query(None, None, Some("tic-tac-toe"));
        let mut second = lock_best(&store, &game);
        assert_eq!(token_text(&second), Some("two"));
        assert_eq!(second.remembered_seat(), RememberedSeat::Ambiguous);
        let other = store.choose_and_lock(&game, &[0, 2]).unwrap();
        assert_eq!(
            (token_text(&other), other.remembered_seat()),
            (None, RememberedSeat::None)
        );
        second.remove_seat(seat_note(8, "").id).unwrap();
        drop(second);
        assert_eq!(token_text(&lock_best(&store, &game)), Some("three"));
    }

    #[test]
    fn seats_of_ended_matches_and_old_tokens_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut slot = lock_best(&store, &IdentityQuery::default());
        slot.save_player(&token("one"), "ada", &[]).unwrap();
        for id in 1..=20 {
            slot.add_seat(&seat_note(id, "K7QM2P")).unwrap();
        }
        let seat_count = |slot: &IdentityLock| slot.record.as_ref().unwrap().seats.len();
        assert_eq!(seat_count(&slot), SEAT_NOTES_MAX);
        slot.save_player(&token("one"), "ada", &[seat_note(20, "").id])
            .unwrap();
        assert_eq!(seat_count(&slot), 1);
        slot.save_player(&token("new"), "ada", &[seat_note(20, "").id])
            .unwrap();
        assert_eq!(seat_count(&slot), 0);
    }

    #[test]
    fn identity_files_are_private_and_invalid_file_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let mut slot = lock_best(&store, &IdentityQuery::default());
        slot.save_player(&token("one"), "ada", &[]).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&store.dir), 0o700);
        assert_eq!(mode(&slot.path), 0o600);
        assert_eq!(slot.path.file_name().unwrap(), "127.0.0.1:7878%2fws");
        fs::write(&slot.path, "not json").unwrap();
        drop(slot);
        assert_eq!(
            token_text(&lock_best(&store, &IdentityQuery::default())),
            None
        );
    }

    #[test]
    fn server_file_names_stay_in_the_directory() {
        assert_eq!(server_file_name("ws://../x"), "%2e.%2fx");
        assert_eq!(server_file_name("ws://a.b/ws.1"), "a.b%2fws%2e1");
        assert_eq!(server_file_name("ws://a%2fb"), "a%252fb");
    }
}
