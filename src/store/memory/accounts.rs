//! In-memory storage of accounts and their names.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{PlayerId, PlayerKind};
use uuid::Uuid;

use crate::{Account, ExternalIdentity, NameChange, NewBotAccount, PasswordHash, UniqueName};

#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// Accounts by player id. The name lists and bot lists of these accounts are empty, because the
    /// fields `names` and `bots` contain this data.
    accounts: BTreeMap<PlayerId, Account>,
    /// Accounts by their name at the authenticating proxy.
    external_names: BTreeMap<String, PlayerId>,
    /// Pairs of player ids. The first id belongs to the owner of a bot account, and the second id
    /// belongs to the bot account.
    bots: BTreeSet<(PlayerId, PlayerId)>,
    /// Maps each name skeleton to the player who owns the skeleton, and to the time at which the
    /// reservation ends. The time is `None` if the skeleton belongs to a current name.
    names: BTreeMap<String, (PlayerId, Option<u64>)>,
}

impl Accounts {
    /// Gives a player a unique name. Returns `false` if another player has a confusable name, or
    /// the player was renamed since the caller read the account.
    pub(super) fn name_player(&mut self, naming: &NameChange) -> bool {
        let now_ms = &naming.now_ms;
        let (id, (old_kind, expected_renamed_ms)) = (naming.player.id, naming.expected);
        let renamed_ms = self
            .accounts
            .get(&id)
            .and_then(|account| account.renamed_ms);
        if self.is_name_taken(&naming.skeletons, *now_ms, Some(id))
            || renamed_ms != expected_renamed_ms
        {
            return false;
        }
        let is_expired = |until: &Option<u64>| until.is_some_and(|until| until <= *now_ms);
        self.names.retain(|_, (_, until)| !is_expired(until));
        for (holder, until) in self.names.values_mut() {
            if *holder == id && until.is_none() {
                *until = Some(naming.old_name_reserved_until_ms);
            }
        }
        let names = naming.skeletons.iter();
        self.names
            .extend(names.map(|skeleton| (skeleton.clone(), (id, None))));
        let account = self.accounts.entry(id).or_default();
        if old_kind != PlayerKind::Guest {
            account.renamed_ms = Some(*now_ms);
        }
        if let Some(password) = &naming.password {
            account.password = Some(password.clone());
        }
        true
    }

    /// Sets the password of an account. Returns `false` if the account does not exist.
    pub(super) fn set_password(&mut self, player: PlayerId, password: PasswordHash) -> bool {
        let account = self.accounts.get_mut(&player);
        account
            .map(|account| account.password = Some(password))
            .is_some()
    }

    /// Creates a bot account. Returns `false` if the name is taken or the owner has reached the
    /// limit.
    pub(super) fn add_bot_account(&mut self, owner: PlayerId, bot: &NewBotAccount) -> bool {
        let is_taken = self.is_name_taken(&bot.skeletons, bot.now_ms, None);
        if is_taken || self.bots(owner).count() >= bot.bots_max {
            return false;
        }
        let account = Account {
            owner: Some(owner),
            unique_names: UniqueName::from_skeletons(&bot.skeletons),
            ..Account::default()
        };
        self.store(bot.player.id, account);
        true
    }

    /// Creates an account for a user that a proxy authenticated. Returns `false` if the user has an
    /// account or the name is taken.
    pub(super) fn add_external_identity(&mut self, identity: &ExternalIdentity) -> bool {
        let is_taken = self.is_name_taken(&identity.skeletons, identity.now_ms, None);
        if is_taken || self.external_names.contains_key(&identity.external_name) {
            return false;
        }
        let account = Account {
            unique_names: UniqueName::from_skeletons(&identity.skeletons),
            external_name: Some(identity.external_name.clone()),
            ..Account::default()
        };
        self.store(identity.player.id, account);
        true
    }

    /// Returns the account with this name at the authenticating proxy.
    pub(super) fn find_external_identity(&self, name: &str) -> Option<PlayerId> {
        self.external_names.get(name).copied()
    }

    /// Deletes an account. The player's current names remain reserved until
    /// `names_reserved_until_ms`.
    pub(super) fn delete(&mut self, player: PlayerId, names_reserved_until_ms: u64) {
        let names = std::mem::take(&mut self.names);
        self.remove(player);
        self.names = names;
        for (holder, until) in self.names.values_mut() {
            if *holder == player {
                until.get_or_insert(names_reserved_until_ms);
            }
        }
    }

    /// Returns the bot accounts of a player, ordered by id.
    pub(super) fn bots(&self, owner: PlayerId) -> impl Iterator<Item = PlayerId> {
        let [first, last] = [Uuid::nil(), Uuid::max()].map(|id| (owner, PlayerId(id)));
        self.bots.range(first..=last).map(|(_, bot)| *bot)
    }

    /// Returns the owner of a bot account.
    pub(super) fn owner_of(&self, player: PlayerId) -> Option<PlayerId> {
        self.accounts.get(&player)?.owner
    }

    pub(super) fn store(&mut self, player: PlayerId, account: Account) {
        let names = account.unique_names.iter();
        let names = names.map(|name| (name.skeleton.clone(), (player, name.reserved_until_ms)));
        self.names.extend(names);
        self.bots.extend(account.owner.map(|owner| (owner, player)));
        let external = account.external_name.clone();
        self.external_names
            .extend(external.map(|name| (name, player)));
        let account = Account {
            unique_names: Vec::new(),
            bots: Vec::new(),
            ..account
        };
        self.accounts.insert(player, account);
    }

    pub(super) fn remove(&mut self, player: PlayerId) {
        if let Some(account) = self.accounts.remove(&player) {
            self.names.retain(|_, (holder, _)| *holder != player);
            if let Some(owner) = account.owner {
                self.bots.remove(&(owner, player));
            }
            if let Some(external) = &account.external_name {
                self.external_names.remove(external);
            }
        }
    }

    /// Returns the password hash of a player, if the player has a password.
    pub(super) fn password(&self, player: PlayerId) -> Option<&PasswordHash> {
        self.accounts.get(&player)?.password.as_ref()
    }

    /// Returns whether a player other than `except` has a current or reserved name with one of the
    /// given skeletons.
    fn is_name_taken(&self, skeletons: &[String], now_ms: u64, except: Option<PlayerId>) -> bool {
        let mut holders = skeletons
            .iter()
            .filter_map(|skeleton| self.find_by_name_skeleton(skeleton, now_ms));
        holders.any(|(holder, _)| Some(holder) != except)
    }

    pub(super) fn find_by_name_skeleton(
        &self,
        skeleton: &str,
        now_ms: u64,
    ) -> Option<(PlayerId, bool)> {
        let (player, until) = self.names.get(skeleton)?;
        match until {
            None => Some((*player, true)),
            Some(until) => (*until > now_ms).then_some((*player, false)),
        }
    }

    pub(super) fn account(&self, player: PlayerId) -> Option<Account> {
        let account = self.accounts.get(&player)?;
        let names = self
            .names
            .iter()
            .filter(|(_, (holder, _))| *holder == player);
        let names = names.map(|(skeleton, (_, until_ms))| UniqueName {
            skeleton: skeleton.clone(),
            reserved_until_ms: *until_ms,
        });
        Some(Account {
            unique_names: names.collect(),
            ..account.clone()
        })
    }
}
