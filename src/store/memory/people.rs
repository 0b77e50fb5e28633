//! The players who are kept in memory, and their sessions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plyhouse_protocol::{PlayerId, PlayerKind, SessionId, SessionKind};

use super::accounts::Accounts;
use super::blocks::Blocked;
use crate::{
    Account, Blocks, ExternalIdentity, Forget, Naming, NewKey, OneTimeToken, Pairing, PeopleChange,
    PlayerRecord, Proved, SessionRecord, Sessions, TokenHash,
};

/// How many players are kept, of about 400 bytes each. Then the first are forgotten.
pub(super) const PLAYERS_MAX: usize = 100_000;

/// Players and their sessions.
#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) players: BTreeMap<PlayerId, PlayerRecord>,
    sessions: BTreeMap<TokenHash, SessionRecord>,
    of_player: BTreeMap<PlayerId, BTreeSet<TokenHash>>,
    /// Whose turn it is to be forgotten.
    first: VecDeque<PlayerId>,
    /// Whom only others like them crowd out.
    lasting: BTreeSet<PlayerId>,
    /// Those of them whose turn it would have been otherwise, in that order.
    spared: VecDeque<PlayerId>,
    /// At most one a player, and the session that has made it.
    pairings: BTreeMap<PlayerId, (Pairing, SessionId)>,
    recoveries: BTreeMap<TokenHash, PlayerId>,
    passes: BTreeMap<TokenHash, OneTimeToken>,
    accounts: Accounts,
    blocked: Blocked,
    /// Whoever was forgotten.
    gone: BTreeSet<PlayerId>,
    /// The ids in `gone`, whoever went first in front; at most as many as players are kept.
    going: VecDeque<PlayerId>,
}

impl People {
    pub(super) fn add(&mut self, player: PlayerRecord, sessions: Vec<SessionRecord>) {
        let id = player.id;
        if self.gone.contains(&id) {
            return;
        }
        if self.players.insert(id, player).is_none() {
            self.first.push_back(id);
        }
        for session in sessions {
            self.of_player.entry(id).or_default().insert(session.token);
            self.sessions.entry(session.token).or_insert(session);
        }
        while self.first.len() > PLAYERS_MAX
            && let Some(first) = self.first.pop_front()
        {
            match self.lasting.contains(&first) {
                true => self.spared.push_back(first),
                false => self.forget(first),
            }
        }
        if self.spared.len() > PLAYERS_MAX
            && let Some(first) = self.spared.pop_front()
        {
            self.forget(first);
        }
    }

    fn forget(&mut self, player: PlayerId) {
        // Programs are nobody's without their owner.
        let bots: Vec<PlayerId> = self.accounts.bots(player).collect();
        bots.into_iter().for_each(|bot| self.forget(bot));
        self.end(player, Sessions::All);
        self.players.remove(&player);
        self.blocked.forget(player);
        if self.lasting.remove(&player) {
            self.pairings.remove(&player);
            self.recoveries.retain(|_, whose| *whose != player);
            self.accounts.forget(player);
        }
    }

    /// False if it came to nothing.
    pub(super) fn change(&mut self, change: PeopleChange) -> bool {
        match change {
            PeopleChange::AddSession(session) => self.add_session(session),
            PeopleChange::OfferPairing {
                pairing,
                by,
                now_ms,
                max,
            } => return self.offer_pairing(pairing, by, now_ms, max),
            PeopleChange::TakePairing(code, begun) => {
                let is_taken = self.take_pairing(code);
                if is_taken {
                    self.add_session(*begun);
                }
                return is_taken;
            }
            PeopleChange::KeepRecovery(player, key) => self.keep_recovery(player, key),
            PeopleChange::RenewRecovery(player, key, proved) => {
                let is_proved = self.is_proved(player, &proved);
                if is_proved {
                    self.keep_recovery(player, key);
                }
                return is_proved;
            }
            PeopleChange::AddKey(key) => return self.add_key(*key),
            PeopleChange::EndSessions(player, which) => {
                for player in self.with_bots(player) {
                    self.end(player, which);
                }
            }
            PeopleChange::SawSession(token, day) => self.saw(token, day),
            PeopleChange::Name(naming) => return self.name(*naming),
            PeopleChange::CallGuest(player, name) => return self.call_guest(player, name),
            PeopleChange::SetPassword(player, password, proved) => {
                let is_set =
                    self.is_proved(player, &proved) && self.accounts.set_password(player, password);
                if is_set {
                    self.end(player, Sessions::AllButKeysAnd(proved.session));
                }
                return is_set;
            }
            PeopleChange::KeepAccount(player, account) => self.keep_account(player, *account),
            PeopleChange::Block {
                player,
                other,
                since_ms,
            } => return self.blocked.change(player, other, since_ms),
            PeopleChange::AddExternal(new) => return self.add_external(*new),
            PeopleChange::Forget(forget) => return self.forget_player(&forget),
            PeopleChange::AddPass {
                code,
                pass,
                now_ms,
                max,
            } => return self.add_pass(code, pass, now_ms, max),
            PeopleChange::TakePass(code) => return self.passes.remove(&code).is_some(),
            // Names were taken out at once, and nobody else asks for anything.
            PeopleChange::ForgetNames(_)
            | PeopleChange::TakeOrder(_)
            | PeopleChange::AnswerOrder(..) => return false,
        }
        true
    }

    fn add_external(&mut self, new: ExternalIdentity) -> bool {
        let is_made = self.accounts.add_external(&new);
        if is_made {
            self.lasting.insert(new.player.id);
            self.add(new.player, Vec::new());
        }
        is_made
    }

    pub(super) fn external(&self, name: &str) -> Option<PlayerRecord> {
        let player = self.accounts.external(name)?;
        self.players.get(&player).cloned()
    }

    fn forget_player(&mut self, forget: &Forget) -> bool {
        let player = forget.player;
        let is_proved = |proved: &Proved| self.is_proved(player, proved);
        if !self.players.contains_key(&player) || !forget.proved.as_ref().is_none_or(is_proved) {
            return false;
        }
        // Programs first: with their owner they would be forgotten with their names.
        for player in self.with_bots(player).into_iter().rev() {
            self.accounts.end(player, forget.kept_until_ms);
            self.passes.retain(|_, pass| pass.player != Some(player));
            self.forget(player);
            self.gone.insert(player);
            self.going.push_back(player);
        }
        while self.going.len() > PLAYERS_MAX
            && let Some(first) = self.going.pop_front()
        {
            self.gone.remove(&first);
        }
        true
    }

    /// Those of these players who were forgotten.
    pub(super) fn gone(&self, players: impl IntoIterator<Item = PlayerId>) -> BTreeSet<PlayerId> {
        let players = players.into_iter();
        players.filter(|id| self.gone.contains(id)).collect()
    }

    fn add_pass(&mut self, code: TokenHash, pass: OneTimeToken, now_ms: u64, max: usize) -> bool {
        self.passes.retain(|_, pass| pass.expires_ms > now_ms);
        let has_room = self.passes.len() < max;
        if has_room {
            self.passes.insert(code, pass);
        }
        has_room
    }

    pub(super) fn pass(&self, code: TokenHash, now_ms: u64) -> Option<OneTimeToken> {
        let pass = self.passes.get(&code)?;
        (pass.expires_ms > now_ms).then_some(*pass)
    }

    /// Whether it is still as it was when somebody proved to be this player.
    fn is_proved(&self, player: PlayerId, proved: &Proved) -> bool {
        let sessions = self.of_player.get(&player).into_iter().flatten();
        let mut sessions = sessions.filter_map(|token| self.sessions.get(token));
        sessions.any(|session| session.id == proved.session)
            && self.accounts.password(player) == proved.password.as_ref()
    }

    /// A player, and the accounts of the player's programs.
    pub(super) fn with_bots(&self, player: PlayerId) -> Vec<PlayerId> {
        std::iter::once(player)
            .chain(self.accounts.bots(player))
            .collect()
    }

    fn add_key(&mut self, key: NewKey) -> bool {
        let NewKey {
            session,
            owner,
            proved,
            bot,
            max,
        } = key;
        let all = self.with_bots(owner).into_iter();
        let sessions = all.flat_map(|player| self.sessions(player));
        let keys = sessions.filter(|session| session.kind == SessionKind::Key);
        if !self.is_proved(owner, &proved) || keys.count() >= max {
            return false;
        }
        let is_owners = match bot {
            Some(new) => {
                let is_made = self.accounts.add_bot(owner, &new);
                if is_made {
                    self.lasting.insert(new.player.id);
                    self.add(new.player, Vec::new());
                }
                is_made
            }
            None => self.with_bots(owner).contains(&session.player),
        };
        if is_owners {
            self.lasting.insert(owner);
            self.add_session(session);
        }
        is_owners
    }

    fn name(&mut self, naming: Naming) -> bool {
        let id = naming.player.id;
        let Some(player) = self.players.get_mut(&id) else {
            return false;
        };
        let is_invited = |code| {
            let pass = self.passes.get(&code);
            pass.is_some_and(|pass| pass.player.is_none() && pass.expires_ms > naming.now_ms)
        };
        let is_named = player.kind == naming.before.0
            && naming.invite.is_none_or(is_invited)
            && self.accounts.name(&naming);
        if is_named {
            if let Some(invite) = naming.invite {
                self.passes.remove(&invite);
            }
            *player = naming.player;
            self.lasting.insert(id);
        }
        is_named
    }

    fn call_guest(&mut self, player: PlayerId, name: String) -> bool {
        let player = self.players.get_mut(&player);
        let guest = player.filter(|player| player.kind == PlayerKind::Guest);
        guest.map(|guest| guest.name = name).is_some()
    }

    fn keep_account(&mut self, player: PlayerId, account: Account) {
        self.lasting.insert(player);
        self.accounts.keep(player, account);
    }

    pub(super) fn named(&self, likeness: &str, now_ms: u64) -> Option<(PlayerId, bool)> {
        self.accounts.named(likeness, now_ms)
    }

    pub(super) fn account(&self, player: PlayerId) -> Option<Account> {
        let account = self.accounts.account(player)?;
        let bots = self.accounts.bots(player);
        let bots = bots.filter_map(|bot| self.players.get(&bot).cloned());
        Some(Account {
            bots: bots.collect(),
            ..account
        })
    }

    pub(super) fn blocks(&self, player: PlayerId) -> Blocks {
        let own = self.blocked.own(player).into_iter();
        let own = own.filter_map(|(other, _)| self.players.get(&other).cloned());
        Blocks {
            own: own.collect(),
            by: self.blocked.by(player),
            apart: self.apart(player).into_iter().collect(),
        }
    }

    /// Whether two do not meet.
    pub(super) fn are_apart(&self, one: PlayerId, other: PlayerId) -> bool {
        self.apart(one).contains(&other)
    }

    /// Whom a player does not meet.
    fn apart(&self, player: PlayerId) -> BTreeSet<PlayerId> {
        let met = self.kin(player).flat_map(|one| {
            let own = self.blocked.own(one).into_iter().map(|(other, _)| other);
            own.chain(self.blocked.by(one))
        });
        met.flat_map(|other| self.kin(other)).collect()
    }

    /// The person whose account it is, and that person's programs.
    fn kin(&self, player: PlayerId) -> impl Iterator<Item = PlayerId> {
        let person = self.accounts.owner(player).unwrap_or(player);
        std::iter::once(person).chain(self.accounts.bots(person))
    }

    fn add_session(&mut self, session: SessionRecord) {
        let player = session.player;
        self.lasting.insert(player);
        let tokens = self.of_player.entry(player).or_default();
        tokens.insert(session.token);
        self.sessions.entry(session.token).or_insert(session);
    }

    fn offer_pairing(&mut self, pairing: Pairing, by: SessionId, now_ms: u64, max: usize) -> bool {
        if !self.sessions(pairing.player).iter().any(|own| own.id == by) {
            return false;
        }
        let is_other = |other: &Pairing| other.player != pairing.player;
        self.pairings
            .retain(|_, (other, _)| other.expires_ms > now_ms && is_other(other));
        let has_room = self.pairings.len() < max;
        if has_room {
            self.pairings.insert(pairing.player, (pairing, by));
        }
        has_room
    }

    pub(super) fn pairing(&self, code: TokenHash, now_ms: u64) -> Option<Pairing> {
        let mut live = self.pairings.values().map(|(pairing, _)| pairing);
        let found = live.find(|pairing| pairing.code == code)?;
        (found.expires_ms > now_ms).then_some(*found)
    }

    fn take_pairing(&mut self, code: TokenHash) -> bool {
        let before = self.pairings.len();
        self.pairings.retain(|_, (pairing, _)| pairing.code != code);
        self.pairings.len() < before
    }

    fn keep_recovery(&mut self, player: PlayerId, key: TokenHash) {
        self.recoveries.retain(|_, whose| *whose != player);
        self.recoveries.insert(key, player);
        self.lasting.insert(player);
    }

    pub(super) fn has_recovery(&self, player: PlayerId) -> bool {
        self.recoveries.values().any(|whose| *whose == player)
    }

    pub(super) fn recovered(&self, key: TokenHash) -> Option<PlayerId> {
        self.recoveries.get(&key).copied()
    }

    pub(super) fn session(&self, token: TokenHash) -> Option<(PlayerRecord, SessionRecord)> {
        let session = self.sessions.get(&token)?;
        let player = self.players.get(&session.player)?;
        Some((player.clone(), session.clone()))
    }

    /// Oldest first.
    pub(super) fn sessions(&self, player: PlayerId) -> Vec<SessionRecord> {
        let tokens = self.of_player.get(&player).into_iter().flatten();
        let sessions = tokens.filter_map(|token| self.sessions.get(token));
        let mut sessions: Vec<SessionRecord> = sessions.cloned().collect();
        sessions.sort_by_key(|session| (session.created_ms, session.id));
        sessions
    }

    fn end(&mut self, player: PlayerId, which: Sessions) {
        for session in self.sessions(player) {
            if which.contains(session.id, session.kind) {
                self.sessions.remove(&session.token);
                if let Some(tokens) = self.of_player.get_mut(&player) {
                    tokens.remove(&session.token);
                }
            }
        }
        if self.of_player.get(&player).is_some_and(BTreeSet::is_empty) {
            self.of_player.remove(&player);
        }
        let made_by = self.pairings.get(&player).map(|(_, by)| *by);
        let voided = which.voids_pairing_of();
        if voided.is_none() || voided == made_by {
            self.pairings.remove(&player);
        }
    }

    fn saw(&mut self, token: TokenHash, day: u64) {
        if let Some(session) = self.sessions.get_mut(&token) {
            session.seen_day = day;
        }
    }
}
