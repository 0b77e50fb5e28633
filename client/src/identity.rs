//! Who this process is on a server: tokens kept from one run to the next, each held by at most
//! one process at a time.
//!
//! A token *is* a player's session, and the server lets a session have one connection: of two processes
//! that showed the same token, the older would be thrown out. Yet two people at two terminals of one
//! machine are two players. So there is a row of slots for each server, `<server>`, `<server>.1`,
//! `<server>.2` …, each with a token of its own and guarded by an advisory lock on a file beside
//! it, which the system frees when the process ends, however it ends. A process takes a free slot:
//!
//! - with `--name`, only slots of a player of that name are looked at, so a name is an identity;
//!   without it, only players whose name nobody chose, except who sits in the match asked for;
//! - a slot whose player was last seen in the match that is asked for goes first; where a game is
//!   asked for, the one whose player sits in the newest match of it; then the lowest number;
//! - if no slot fits, the first unused or vacated one becomes a new player's.
//!
//! Two terminals of one machine are thus two players without further ado, and each of them, killed
//! and started again, finds its seat. Which matches a slot's player sits in is noted in the slot.
//! It is a hint only: what is true, the server says, and `scout` asks it.
//!
//! The folder has mode 0700 and each file 0600; a file is replaced as a whole, never half.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use plyhouse_protocol::{MatchId, Token};
use serde::{Deserialize, Serialize};

/// How many players one machine has on one server. More names than that are not remembered.
const SLOTS_MAX: usize = 32;

/// How many matches of a player are noted: as many as a server lets one host, by default.
const NOTES_MAX: usize = 16;

/// The largest file that is read; ours have less than 3 KiB.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// How often, and with what pause, to ask for the lock under which a slot is chosen. Choosing
/// takes milliseconds; after a second its holder must be hanging, and a slot is chosen without it.
const CHOOSING_TRIES: u32 = 20;
const CHOOSING_PAUSE: Duration = Duration::from_millis(50);

/// The slots of one server.
#[derive(Debug)]
pub(crate) struct Slots {
    dir: PathBuf,
    server: String,
}

/// Which slot would be best.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// Only a player of this name.
    pub(crate) name: Option<String>,
    /// If possible one who sits in this match: its code or id.
    pub(crate) target: Option<String>,
    /// If possible one who sits in a match of this game.
    pub(crate) game: Option<String>,
}

/// A slot that no other process has while this value lives.
#[derive(Debug)]
pub(crate) struct IdentityLock {
    number: usize,
    path: PathBuf,
    hint: Hint,
    /// Whether the player's name was chosen, now or in an earlier run.
    named: bool,
    record: Option<Record>,
    _lock: Lock,
}

/// A slot for another player than the one who has it.
#[derive(Debug)]
pub(crate) struct Room {
    slot: IdentityLock,
    /// Where that one goes.
    spare: Option<IdentityLock>,
}

/// Whether a slot's notes say that its player sits in a match that is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// They do not.
    None,
    /// They do, and no other free slot's do.
    Only,
    /// They do, and those of other free slots too.
    OneOfMany,
}

/// What a slot's file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    token: Token,
    name: String,
    /// Whether the name was chosen, and not given by the server.
    #[serde(default)]
    named: bool,
    #[serde(default)]
    seats: Vec<SeatNote>,
}

/// A match in which a slot's player was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatNote {
    /// The match.
    pub(crate) id: MatchId,
    /// Its code.
    pub(crate) code: String,
    /// What is played.
    pub(crate) game: String,
}

impl Slots {
    /// The slots for a server, under `$XDG_STATE_HOME` or `~/.local/state`.
    pub(crate) fn of(server: &str) -> io::Result<Self> {
        let xdg = Xdg::new().map_err(io::Error::other)?;
        let state = xdg.state_dir().ok_or(io::ErrorKind::NotFound)?;
        Self::within(state.join("plyhouse"), server)
    }

    fn within(dir: PathBuf, server: &str) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
        let server = file_name(server);
        Ok(Self { dir, server })
    }

    /// Takes the free slot that fits best and was not `passed` over, which tells numbers of slots;
    /// `None` if all are taken.
    pub(crate) async fn take(
        &self,
        wish: &Wish,
        passed: &[usize],
    ) -> io::Result<Option<IdentityLock>> {
        let choosing = Lock::open(&self.dir.join("choosing.lock"))?;
        for _ in 0..CHOOSING_TRIES {
            if choosing.take()? {
                break;
            }
            tokio::time::sleep(CHOOSING_PAUSE).await;
        }
        self.choose(wish, passed)
    }

    /// Whether a player who is looked for is here, but has a slot that another process has.
    pub(crate) fn is_busy(&self, wish: &Wish) -> io::Result<bool> {
        for number in 0..SLOTS_MAX {
            if self.path(number).exists() && self.try_slot(number)?.is_none() {
                let record = read_record(&self.path(number))?;
                if record.is_some_and(|record| wish.may_be(&record)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The names that were chosen here.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for number in 0..SLOTS_MAX {
            let record = read_record(&self.path(number))?;
            names.extend(
                record
                    .filter(|record| record.named)
                    .map(|record| record.name),
            );
        }
        Ok(names)
    }

    /// Takes the slot that fits best for another player than the one who has it, and one for that player.
    /// `None` if all are taken.
    pub(crate) async fn make_room(&self, wish: &Wish) -> io::Result<Option<Room>> {
        let Some(slot) = self.take(wish, &[]).await? else {
            return Ok(None);
        };
        if slot.record.is_none() {
            return Ok(Some(Room { slot, spare: None }));
        }
        for number in (0..SLOTS_MAX).filter(|number| *number != slot.number) {
            if let Some(spare) = self.try_slot(number)?
                && spare.record.is_none()
            {
                let spare = Some(spare);
                return Ok(Some(Room { slot, spare }));
            }
        }
        Ok(None)
    }

    fn choose(&self, wish: &Wish, passed: &[usize]) -> io::Result<Option<IdentityLock>> {
        // Whether it has a player, and then which match.
        let mut best: Option<((bool, Option<MatchId>), IdentityLock)> = None;
        let mut hinted = 0;
        for number in (0..SLOTS_MAX).filter(|number| !passed.contains(number)) {
            let Some(slot) = self.try_slot(number)? else {
                continue;
            };
            let Some(record) = &slot.record else {
                // Slots fill up from below: behind one that was never used there is nothing to find.
                let was_used = slot.path.exists();
                best.get_or_insert(((false, None), slot));
                if was_used {
                    continue;
                }
                break;
            };
            if !wish.may_be(record) {
                continue;
            }
            let newest = wish.newest(record);
            hinted += u32::from(newest.is_some());
            let rank = (true, newest);
            if best.as_ref().is_none_or(|(so_far, _)| rank > *so_far) {
                best = Some((rank, slot));
            }
        }
        Ok(best.map(|(_, mut slot)| {
            slot.hint = match hinted {
                0 => Hint::None,
                1 => Hint::Only,
                _ => Hint::OneOfMany,
            };
            slot.named |= wish.name.is_some();
            slot
        }))
    }

    /// Where the record of a slot lies.
    fn path(&self, number: usize) -> PathBuf {
        self.dir.join(match number {
            0 => self.server.clone(),
            number => format!("{}.{number}", self.server),
        })
    }

    fn try_slot(&self, number: usize) -> io::Result<Option<IdentityLock>> {
        let path = self.path(number);
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let lock = Lock::open(Path::new(&lock))?;
        if !lock.take()? {
            return Ok(None);
        }
        let record = read_record(&path)?;
        Ok(Some(IdentityLock {
            number,
            path,
            hint: Hint::None,
            named: record.as_ref().is_some_and(|record| record.named),
            record,
            _lock: lock,
        }))
    }
}

impl Wish {
    /// Whether a slot's player is one that is looked for at all.
    fn may_be(&self, record: &Record) -> bool {
        match &self.name {
            Some(name) => *name == record.name,
            None => !record.named || self.target.is_some() && self.newest(record).is_some(),
        }
    }

    /// The newest match that is noted of a slot's player and is one that is asked for. Ids sort by
    /// the time of creation.
    fn newest(&self, record: &Record) -> Option<MatchId> {
        let notes = record.seats.iter().filter(|note| self.is_for(note));
        notes.map(|note| note.id).max()
    }

    fn is_for(&self, note: &SeatNote) -> bool {
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

impl Room {
    /// Keeps a player here. Whoever had the place moves, and is found by name from now on.
    pub(crate) fn keep(self, token: &Token, name: &str, live: &[MatchId]) -> io::Result<()> {
        let Self { mut slot, spare } = self;
        if let (Some(mut spare), Some(record)) = (spare, slot.record.take()) {
            spare.record = Some(Record {
                named: true,
                ..record
            });
            spare.write()?;
        }
        slot.keep(token, name, live)
    }
}

impl IdentityLock {
    /// Which of the server's slots it is.
    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// Whether its notes say that the player sits in a match that was wished for.
    pub(crate) const fn hint(&self) -> Hint {
        self.hint
    }

    /// The token that was kept here.
    pub(crate) fn token(&self) -> Option<&Token> {
        self.record.as_ref().map(|record| &record.token)
    }

    /// The name of the player that was kept here. A server that has forgotten the player may be
    /// told it again.
    pub(crate) fn name(&self) -> Option<&str> {
        self.record.as_ref().map(|record| record.name.as_str())
    }

    /// Keeps a player: the token and the name, and of the matches only those still `live`.
    pub(crate) fn keep(&mut self, token: &Token, name: &str, live: &[MatchId]) -> io::Result<()> {
        let mut seats = match self.record.take() {
            Some(record) if record.token == *token => record.seats,
            Some(_) | None => Vec::new(),
        };
        seats.retain(|note| live.contains(&note.id));
        self.record = Some(Record {
            token: token.clone(),
            name: name.to_owned(),
            named: self.named,
            seats,
        });
        self.write()
    }

    /// Forgets who was kept here.
    pub(crate) fn vacate(&mut self) -> io::Result<()> {
        self.record = None;
        self.write()
    }

    /// Keeps of the matches only those still `live`.
    pub(crate) fn keep_only(&mut self, live: &[MatchId]) -> io::Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        record.seats.retain(|note| live.contains(&note.id));
        self.write()
    }

    /// Notes that the player sits in a match.
    pub(crate) fn sat(&mut self, note: &SeatNote) -> io::Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        if record.seats.contains(note) {
            return Ok(());
        }
        record.seats.retain(|known| known.id != note.id);
        record.seats.truncate(NOTES_MAX - 1);
        record.seats.insert(0, note.clone());
        self.write()
    }

    /// Notes that the player sits in a match no more.
    pub(crate) fn left(&mut self, id: MatchId) -> io::Result<()> {
        match &mut self.record {
            Some(record) if record.seats.iter().any(|note| note.id == id) => {
                record.seats.retain(|note| note.id != id);
                self.write()
            }
            Some(_) | None => Ok(()),
        }
    }

    fn write(&self) -> io::Result<()> {
        let json = serde_json::to_vec(&self.record)?;
        let new = self.path.with_added_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&json)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}

/// A file that one process at a time can lock.
#[derive(Debug)]
struct Lock(File);

impl Lock {
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path).map(Self)
    }

    /// False if another process has it.
    fn take(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    /// To close the file is not enough: a program that is being started at this instant has a copy of
    /// it until it runs.
    fn drop(&mut self) {
        // What cannot be unlocked is so once it is closed.
        let _ = self.0.unlock();
    }
}

/// Reads a slot's file. One that cannot be understood is as good as none: it will be replaced.
fn read_record(path: &Path) -> io::Result<Option<Record>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut json = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json).unwrap_or(None))
}

/// A server's URL as the name of a file. Different URLs give different names, also with a slot's
/// number or `.lock` behind them: a dot stands for itself in the host only, and a path follows.
fn file_name(server: &str) -> String {
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

    fn slots(dir: &tempfile::TempDir) -> Slots {
        Slots::within(dir.path().join("plyhouse"), SERVER).unwrap()
    }

    fn wish(name: Option<&str>, target: Option<&str>, game: Option<&str>) -> Wish {
        Wish {
            name: name.map(str::to_owned),
            target: target.map(str::to_owned),
            game: game.map(str::to_owned),
        }
    }

    fn note(id: u8, code: &str) -> SeatNote {
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

    fn take(slots: &Slots, wish: &Wish) -> IdentityLock {
        slots.choose(wish, &[]).unwrap().unwrap()
    }

    fn secret(slot: &IdentityLock) -> Option<&str> {
        slot.token().map(Token::reveal)
    }

    #[test]
    fn a_second_process_is_another_player_and_each_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut first = take(&slots, &Wish::default());
        first.keep(&token("one"), "ada", &[]).unwrap();
        let mut second = take(&slots, &Wish::default());
        assert_eq!(secret(&second), None);
        second.keep(&token("two"), "bo", &[]).unwrap();

        drop(first);
        let first = take(&slots, &Wish::default());
        assert_eq!(secret(&first), Some("one"));
        drop(second);
        assert_eq!(secret(&take(&slots, &Wish::default())), Some("two"));
    }

    #[test]
    fn a_player_whom_another_process_has_is_busy() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let busy = |name: Option<&str>| slots.is_busy(&wish(name, None, None)).unwrap();
        assert!(!busy(None));
        let mut first = take(&slots, &Wish::default());
        assert!(!busy(None), "there is no player yet");
        first.keep(&token("one"), "ada", &[]).unwrap();
        assert!(busy(None) && busy(Some("ada")) && !busy(Some("bo")));
        drop(first);
        assert!(!busy(None));
        assert_eq!(slots.names().unwrap(), [""; 0]);
        let mut named = take(&slots, &wish(Some("bo"), None, None));
        named.keep(&token("two"), "bo", &[]).unwrap();
        assert_eq!(slots.names().unwrap(), ["bo"]);
    }

    #[test]
    fn a_name_is_an_identity() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        take(&slots, &Wish::default())
            .keep(&token("one"), "ada", &[])
            .unwrap();
        let mut bo = take(&slots, &wish(Some("bo"), None, None));
        assert_eq!(secret(&bo), None);
        bo.keep(&token("two"), "bo", &[]).unwrap();
        drop(bo);
        let found = |name| {
            let slot = take(&slots, &wish(Some(name), None, None));
            secret(&slot).map(str::to_owned)
        };
        assert_eq!(found("bo").as_deref(), Some("two"));
        assert_eq!(found("ada").as_deref(), Some("one"));
        assert_eq!(found("eve"), None);
    }

    #[test]
    fn nobody_plays_under_a_name_that_another_chose() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut ben = take(&slots, &wish(Some("Ben"), None, None));
        ben.keep(&token("one"), "Ben", &[]).unwrap();
        ben.sat(&note(7, "K7QM2P")).unwrap();
        drop(ben);
        let found = |name, target, game| {
            let slot = take(&slots, &wish(name, target, game));
            secret(&slot).map(str::to_owned)
        };
        assert_eq!(found(None, None, None), None);
        assert_eq!(found(None, None, Some("tic-tac-toe")), None);
        let bens = [
            found(Some("Ben"), None, None),
            found(None, Some("k7qm2p"), None),
            found(Some("Ben"), None, None),
        ];
        assert_eq!(bens, [(); 3].map(|()| Some("one".to_owned())));

        // Coming back by the match's code alone does not make the name any less chosen.
        let mut ben = take(&slots, &wish(None, Some("K7QM2P"), None));
        ben.keep(&token("one"), "Ben", &[]).unwrap();
        drop(ben);
        assert_eq!(found(None, None, None), None);
    }

    #[tokio::test]
    async fn whoever_makes_room_is_found_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut slot = take(&slots, &Wish::default());
        slot.keep(&token("one"), "guest-abcd", &[]).unwrap();
        drop(slot);
        let make_room = async || slots.make_room(&Wish::default()).await.unwrap().unwrap();
        // Nothing moves until somebody comes.
        drop(make_room().await);
        assert_eq!(secret(&take(&slots, &Wish::default())), Some("one"));
        assert_eq!(slots.try_slot(1).unwrap().unwrap().record, None);
        make_room().await.keep(&token("two"), "ada", &[]).unwrap();
        let found =
            |name: Option<&str>| secret(&take(&slots, &wish(name, None, None))).map(str::to_owned);
        assert_eq!(found(None).as_deref(), Some("two"));
        assert_eq!(found(Some("guest-abcd")).as_deref(), Some("one"));

        // What is vacant hides nobody, and is taken by the next.
        take(&slots, &Wish::default()).vacate().unwrap();
        assert_eq!(found(None), None);
        assert_eq!(found(Some("guest-abcd")).as_deref(), Some("one"));
        make_room().await.keep(&token("three"), "bo", &[]).unwrap();
        let bo = take(&slots, &Wish::default());
        assert_eq!((bo.number(), secret(&bo)), (0, Some("three")));
    }

    #[test]
    fn who_sits_in_the_match_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut first = take(&slots, &Wish::default());
        let mut second = take(&slots, &Wish::default());
        assert_eq!(first.path.with_added_extension("1"), second.path);
        first.keep(&token("one"), "ada", &[]).unwrap();
        second.keep(&token("two"), "bo", &[]).unwrap();
        second.sat(&note(7, "K7QM2P")).unwrap();
        drop((first, second));

        let found = |wish: &Wish| secret(&take(&slots, wish)).map(str::to_owned);
        assert_eq!(found(&Wish::default()).as_deref(), Some("one"));
        assert_eq!(
            found(&wish(None, Some("k7qm2p"), None)).as_deref(),
            Some("two")
        );
        assert_eq!(
            found(&wish(None, None, Some("tic-tac-toe"))).as_deref(),
            Some("two")
        );
        assert_eq!(
            found(&wish(None, None, Some("chess"))).as_deref(),
            Some("one")
        );

        let mut second = take(&slots, &wish(None, Some("K7QM2P"), None));
        second.left(note(7, "").id).unwrap();
        drop(second);
        assert_eq!(
            found(&wish(None, Some("K7QM2P"), None)).as_deref(),
            Some("one")
        );
    }

    #[test]
    fn who_sits_in_the_newest_match_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut players = ["one", "two", "three"].map(|secret| {
            let mut slot = take(&slots, &Wish::default());
            slot.keep(&token(secret), secret, &[]).unwrap();
            slot
        });
        for (slot, id) in players.iter_mut().zip([3, 8, 5]) {
            slot.sat(&note(id, "K7QM2P")).unwrap();
        }
        drop(players);
        let game = wish(None, None, Some("tic-tac-toe"));
        let mut second = take(&slots, &game);
        assert_eq!(secret(&second), Some("two"));
        assert_eq!(second.hint(), Hint::OneOfMany);
        let other = slots.choose(&game, &[0, 2]).unwrap().unwrap();
        assert_eq!((secret(&other), other.hint()), (None, Hint::None));
        second.left(note(8, "").id).unwrap();
        drop(second);
        assert_eq!(secret(&take(&slots, &game)), Some("three"));
    }

    #[test]
    fn what_the_server_no_longer_knows_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut slot = take(&slots, &Wish::default());
        slot.keep(&token("one"), "ada", &[]).unwrap();
        for id in 1..=20 {
            slot.sat(&note(id, "K7QM2P")).unwrap();
        }
        let seats = |slot: &IdentityLock| slot.record.as_ref().unwrap().seats.len();
        assert_eq!(seats(&slot), NOTES_MAX);
        slot.keep(&token("one"), "ada", &[note(20, "").id]).unwrap();
        assert_eq!(seats(&slot), 1);
        slot.keep(&token("new"), "ada", &[note(20, "").id]).unwrap();
        assert_eq!(seats(&slot), 0);
    }

    #[test]
    fn secrets_are_for_their_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let slots = slots(&dir);
        let mut slot = take(&slots, &Wish::default());
        slot.keep(&token("one"), "ada", &[]).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&slots.dir), 0o700);
        assert_eq!(mode(&slot.path), 0o600);
        assert_eq!(slot.path.file_name().unwrap(), "127.0.0.1:7878%2fws");
        fs::write(&slot.path, "not json").unwrap();
        drop(slot);
        assert_eq!(secret(&take(&slots, &Wish::default())), None);
    }

    #[test]
    fn names_of_files_stay_in_the_folder() {
        assert_eq!(file_name("ws://../x"), "%2e.%2fx");
        assert_eq!(file_name("ws://a.b/ws.1"), "a.b%2fws%2e1");
        assert_eq!(file_name("ws://a%2fb"), "a%252fb");
    }
}
