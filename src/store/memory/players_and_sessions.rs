//! In-memory storage of players and their sessions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plyhouse_protocol::{PlayerId, PlayerKind, SessionId, SessionKind};

use super::accounts::Accounts;
use super::blocks::BlockLists;
use crate::{
    Account, Blocks, ExternalIdentity, IdentityChange, IdentityProof, NameChange, NewApiKey,
    OneTimeToken, Pairing, PlayerDeletion, PlayerRecord, SessionRecord, SessionSelection,
    TokenHash,
};

/// Maximum number of players, at about 400 bytes each. If there are more players, the store evicts
/// the players that were added first. Persistent players, such as players with an account, have a
/// separate limit of the same size.
pub(super) const PLAYERS_MAX: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct Identities {
    pub(super) players: BTreeMap<PlayerId, PlayerRecord>,
    sessions: BTreeMap<TokenHash, SessionRecord>,
    tokens_of_player: BTreeMap<PlayerId, BTreeSet<TokenHash>>,
    /// Players in the order of eviction.
    eviction_queue: VecDeque<PlayerId>,
    /// Persistent players, such as players with an account. A persistent player is evicted only if
    /// there are too many persistent players.
    persistent: BTreeSet<PlayerId>,
    /// Persistent players that `add_player` has moved here from `eviction_queue`, because they have
    /// a separate limit. The first player in the queue is evicted first.
    persistent_eviction_queue: VecDeque<PlayerId>,
    /// Maps each player to the player's device pairing code. The value also contains the session
    /// that created the code.
    pairings: BTreeMap<PlayerId, (Pairing, SessionId)>,
    recovery_keys: BTreeMap<TokenHash, PlayerId>,
    one_time_tokens: BTreeMap<TokenHash, OneTimeToken>,
    accounts: Accounts,
    block_lists: BlockLists,
    /// Deleted players.
    deleted: BTreeSet<PlayerId>,
    /// Ids of the players in `deleted`, earliest deletion first. At most [`PLAYERS_MAX`] ids are
    /// stored.
    deletion_order: VecDeque<PlayerId>,
}

impl Identities {
    pub(super) fn add_player(&mut self, player: PlayerRecord, sessions: Vec<SessionRecord>) {
        let id = player.id;
        if self.deleted.contains(&id) {
            return;
        }
        if self.players.insert(id, player).is_none() {
            self.eviction_queue.push_back(id);
        }
        for session in sessions {
            self.tokens_of_player
                .entry(id)
                .or_default()
                .insert(session.token);
            self.sessions.entry(session.token).or_insert(session);
        }
        while self.eviction_queue.len() > PLAYERS_MAX
            && let Some(first) = self.eviction_queue.pop_front()
        {
            match self.persistent.contains(&first) {
                true => self.persistent_eviction_queue.push_back(first),
                false => self.remove(first),
            }
        }
        if self.persistent_eviction_queue.len() > PLAYERS_MAX
            && let Some(first) = self.persistent_eviction_queue.pop_front()
        {
            self.remove(first);
        }
    }

    fn remove(&mut self, player: PlayerId) {
        // Bot accounts are removed together with their owner.
        let bots: Vec<PlayerId> = self.accounts.bots(player).collect();
        bots.into_iter().for_each(|bot| self.remove(bot));
        self.end_sessions(player, SessionSelection::All);
        self.players.remove(&player);
        self.block_lists.remove_player(player);
        if self.persistent.remove(&player) {
            self.pairings.remove(&player);
            self.recovery_keys.retain(|_, owner| *owner != player);
            self.accounts.remove(player);
        }
    }

    /// Applies a change to the identity data. Returns `false` if the store refuses the change.
    pub(super) fn apply(&mut self, change: IdentityChange) -> bool {
        match change {
            IdentityChange::AddSession(session) => self.add_session(session),
            IdentityChange::OfferPairing {
                pairing,
                offered_by,
                now_ms,
                max,
            } => return self.offer_pairing(pairing, offered_by, now_ms, max),
            IdentityChange::TakePairing(code, session) => {
                let is_taken = self.remove_pairing(code);
                if is_taken {
                    self.add_session(*session);
                }
                return is_taken;
            }
            IdentityChange::StoreRecoveryKey(player, key) => self.store_recovery_key(player, key),
            IdentityChange::RenewRecoveryKey(player, key, proof) => {
                let is_valid = self.is_proof_valid(player, &proof);
                if is_valid {
                    self.store_recovery_key(player, key);
                }
                return is_valid;
            }
            IdentityChange::AddApiKey(key) => return self.add_api_key(*key),
            IdentityChange::EndSessions(player, selection) => {
                for player in self.with_bots(player) {
                    self.end_sessions(player, selection);
                }
            }
            IdentityChange::TouchSession(token, day) => self.touch_session(token, day),
            IdentityChange::NamePlayer(naming) => return self.name_player(*naming),
            IdentityChange::RenameGuest(player, name) => return self.rename_guest(player, name),
            IdentityChange::SetPassword(player, password, proof) => {
                let is_set = self.is_proof_valid(player, &proof)
                    && self.accounts.set_password(player, password);
                if is_set {
                    self.end_sessions(player, SessionSelection::AllButKeysAnd(proof.session));
                }
                return is_set;
            }
            IdentityChange::StoreAccount(player, account) => self.store_account(player, *account),
            IdentityChange::ChangeBlock {
                player,
                other,
                since_ms,
            } => return self.block_lists.change_block(player, other, since_ms),
            IdentityChange::AddExternalIdentity(identity) => {
                return self.add_external_identity(*identity);
            }
            IdentityChange::DeletePlayer(deletion) => return self.delete_player(&deletion),
            IdentityChange::AddOneTimeToken {
                code,
                token,
                now_ms,
                max,
            } => return self.add_one_time_token(code, token, now_ms, max),
            IdentityChange::TakeOneTimeToken(code) => {
                return self.one_time_tokens.remove(&code).is_some();
            }
            // This store removes a player's name from all matches when the player is deleted, so no
            // names are left to remove. It accepts no operator commands.
            IdentityChange::RemoveNames(_)
            | IdentityChange::ClaimCommand(_)
            | IdentityChange::StoreCommandResult(..) => return false,
        }
        true
    }

    fn add_external_identity(&mut self, identity: ExternalIdentity) -> bool {
        let is_added = self.accounts.add_external_identity(&identity);
        if is_added {
            self.persistent.insert(identity.player.id);
            self.add_player(identity.player, Vec::new());
        }
        is_added
    }

    pub(super) fn find_external_identity(&self, name: &str) -> Option<PlayerRecord> {
        let player = self.accounts.find_external_identity(name)?;
        self.players.get(&player).cloned()
    }

    fn delete_player(&mut self, deletion: &PlayerDeletion) -> bool {
        let player = deletion.player;
        let is_valid = |proof: &IdentityProof| self.is_proof_valid(player, proof);
        if !self.players.contains_key(&player) || !deletion.proof.as_ref().is_none_or(is_valid) {
            return false;
        }
        // Bot accounts are deleted before their owner. Otherwise, removing the owner would also
        // remove the bot accounts without reserving their names.
        for player in self.with_bots(player).into_iter().rev() {
            self.accounts
                .delete(player, deletion.name_reserved_until_ms);
            self.one_time_tokens
                .retain(|_, token| token.player != Some(player));
            self.remove(player);
            self.deleted.insert(player);
            self.deletion_order.push_back(player);
        }
        while self.deletion_order.len() > PLAYERS_MAX
            && let Some(first) = self.deletion_order.pop_front()
        {
            self.deleted.remove(&first);
        }
        true
    }

    /// Returns which of the given players have been deleted.
    pub(super) fn deleted_among(
        &self,
        players: impl IntoIterator<Item = PlayerId>,
    ) -> BTreeSet<PlayerId> {
        let players = players.into_iter();
        players.filter(|id| self.deleted.contains(id)).collect()
    }

    fn add_one_time_token(
        &mut self,
        code: TokenHash,
        token: OneTimeToken,
        now_ms: u64,
        max: usize,
    ) -> bool {
        self.one_time_tokens
            .retain(|_, token| token.expires_ms > now_ms);
        let has_room = self.one_time_tokens.len() < max;
        if has_room {
            self.one_time_tokens.insert(code, token);
        }
        has_room
    }

    pub(super) fn find_one_time_token(&self, code: TokenHash, now_ms: u64) -> Option<OneTimeToken> {
        let token = self.one_time_tokens.get(&code)?;
        (token.expires_ms > now_ms).then_some(*token)
    }

    /// Returns whether an identity proof is valid. The session in the proof must still exist, and
    /// the password must not have changed.
    fn is_proof_valid(&self, player: PlayerId, proof: &IdentityProof) -> bool {
        let sessions = self.tokens_of_player.get(&player).into_iter().flatten();
        let mut sessions = sessions.filter_map(|token| self.sessions.get(token));
        sessions.any(|session| session.id == proof.session)
            && self.accounts.password(player) == proof.password.as_ref()
    }

    /// Returns a player and the player's bot accounts.
    pub(super) fn with_bots(&self, player: PlayerId) -> Vec<PlayerId> {
        std::iter::once(player)
            .chain(self.accounts.bots(player))
            .collect()
    }

    fn add_api_key(&mut self, key: NewApiKey) -> bool {
        let NewApiKey {
            session,
            owner,
            proof,
            bot,
            keys_max,
        } = key;
        let players = self.with_bots(owner).into_iter();
        let sessions = players.flat_map(|player| self.sessions(player));
        let keys = sessions.filter(|session| session.kind == SessionKind::Key);
        if !self.is_proof_valid(owner, &proof) || keys.count() >= keys_max {
            return false;
        }
        let is_owned = match bot {
            Some(bot) => {
                let is_added = self.accounts.add_bot_account(owner, &bot);
                if is_added {
                    self.persistent.insert(bot.player.id);
                    self.add_player(bot.player, Vec::new());
                }
                is_added
            }
            None => self.with_bots(owner).contains(&session.player),
        };
        if is_owned {
            self.persistent.insert(owner);
            self.add_session(session);
        }
        is_owned
    }

    fn name_player(&mut self, change: NameChange) -> bool {
        let id = change.player.id;
        let Some(player) = self.players.get_mut(&id) else {
            return false;
        };
        let is_invite_valid = |code| {
            let token = self.one_time_tokens.get(&code);
            token.is_some_and(|token| token.player.is_none() && token.expires_ms > change.now_ms)
        };
        let is_applied = player.kind == change.expected.0
            && change.invite.is_none_or(is_invite_valid)
            && self.accounts.name_player(&change);
        if is_applied {
            if let Some(invite) = change.invite {
                self.one_time_tokens.remove(&invite);
            }
            *player = change.player;
            self.persistent.insert(id);
        }
        is_applied
    }

    fn rename_guest(&mut self, player: PlayerId, name: String) -> bool {
        let player = self.players.get_mut(&player);
        let guest = player.filter(|player| player.kind == PlayerKind::Guest);
        guest.map(|guest| guest.name = name).is_some()
    }

    fn store_account(&mut self, player: PlayerId, account: Account) {
        self.persistent.insert(player);
        self.accounts.store(player, account);
    }

    pub(super) fn find_by_name_skeleton(
        &self,
        skeleton: &str,
        now_ms: u64,
    ) -> Option<(PlayerId, bool)> {
        self.accounts.find_by_name_skeleton(skeleton, now_ms)
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
        let blocked = self.block_lists.blocked_by_player(player).into_iter();
        let blocked = blocked.filter_map(|(other, _)| self.players.get(&other).cloned());
        Blocks {
            blocked: blocked.collect(),
            blocked_by: self.block_lists.blockers_of(player),
            unpairable: self.unpairable_with(player).into_iter().collect(),
        }
    }

    /// Returns whether a block prevents two players from being paired.
    pub(super) fn are_unpairable(&self, one: PlayerId, other: PlayerId) -> bool {
        self.unpairable_with(one).contains(&other)
    }

    /// Returns the players that must not be paired with this player.
    fn unpairable_with(&self, player: PlayerId) -> BTreeSet<PlayerId> {
        let blocked_or_blocking = self.related_players(player).flat_map(|related| {
            let blocked = self
                .block_lists
                .blocked_by_player(related)
                .into_iter()
                .map(|(other, _)| other);
            blocked.chain(self.block_lists.blockers_of(related))
        });
        blocked_or_blocking
            .flat_map(|other| self.related_players(other))
            .collect()
    }

    /// Returns the owner of a bot account and all bot accounts of that owner. If `player` is not a
    /// bot account, returns the player and the player's bot accounts.
    fn related_players(&self, player: PlayerId) -> impl Iterator<Item = PlayerId> {
        let person = self.accounts.owner_of(player).unwrap_or(player);
        std::iter::once(person).chain(self.accounts.bots(person))
    }

    fn add_session(&mut self, session: SessionRecord) {
        let player = session.player;
        self.persistent.insert(player);
        let tokens = self.tokens_of_player.entry(player).or_default();
        tokens.insert(session.token);
        self.sessions.entry(session.token).or_insert(session);
    }

    fn offer_pairing(
        &mut self,
        pairing: Pairing,
        offered_by: SessionId,
        now_ms: u64,
        max: usize,
    ) -> bool {
        if !self
            .sessions(pairing.player)
            .iter()
            .any(|session| session.id == offered_by)
        {
            return false;
        }
        let is_other = |other: &Pairing| other.player != pairing.player;
        self.pairings
            .retain(|_, (other, _)| other.expires_ms > now_ms && is_other(other));
        let has_room = self.pairings.len() < max;
        if has_room {
            self.pairings.insert(pairing.player, (pairing, offered_by));
        }
        has_room
    }

    pub(super) fn pairing(&self, code: TokenHash, now_ms: u64) -> Option<Pairing> {
        let mut live = self.pairings.values().map(|(pairing, _)| pairing);
        let found = live.find(|pairing| pairing.code == code)?;
        (found.expires_ms > now_ms).then_some(*found)
    }

    fn remove_pairing(&mut self, code: TokenHash) -> bool {
        let old_count = self.pairings.len();
        self.pairings.retain(|_, (pairing, _)| pairing.code != code);
        self.pairings.len() < old_count
    }

    fn store_recovery_key(&mut self, player: PlayerId, key: TokenHash) {
        self.recovery_keys.retain(|_, owner| *owner != player);
        self.recovery_keys.insert(key, player);
        self.persistent.insert(player);
    }

    pub(super) fn has_recovery_key(&self, player: PlayerId) -> bool {
        self.recovery_keys.values().any(|owner| *owner == player)
    }

    pub(super) fn find_by_recovery_key(&self, key: TokenHash) -> Option<PlayerId> {
        self.recovery_keys.get(&key).copied()
    }

    pub(super) fn find_session(&self, token: TokenHash) -> Option<(PlayerRecord, SessionRecord)> {
        let session = self.sessions.get(&token)?;
        let player = self.players.get(&session.player)?;
        Some((player.clone(), session.clone()))
    }

    /// Returns the sessions of a player, oldest first.
    pub(super) fn sessions(&self, player: PlayerId) -> Vec<SessionRecord> {
        let tokens = self.tokens_of_player.get(&player).into_iter().flatten();
        let sessions = tokens.filter_map(|token| self.sessions.get(token));
        let mut sessions: Vec<SessionRecord> = sessions.cloned().collect();
        sessions.sort_by_key(|session| (session.created_ms, session.id));
        sessions
    }

    fn end_sessions(&mut self, player: PlayerId, selection: SessionSelection) {
        for session in self.sessions(player) {
            if selection.contains(session.id, session.kind) {
                self.sessions.remove(&session.token);
                if let Some(tokens) = self.tokens_of_player.get_mut(&player) {
                    tokens.remove(&session.token);
                }
            }
        }
        if self
            .tokens_of_player
            .get(&player)
            .is_some_and(BTreeSet::is_empty)
        {
            self.tokens_of_player.remove(&player);
        }
        let offered_by = self.pairings.get(&player).map(|(_, session)| *session);
        let voided_session = selection.voided_pairing_session();
        if voided_session.is_none() || voided_session == offered_by {
            self.pairings.remove(&player);
        }
    }

    fn touch_session(&mut self, token: TokenHash, day: u64) {
        if let Some(session) = self.sessions.get_mut(&token) {
            session.last_used_day = day;
        }
    }
}
