//! The accounts that are kept in memory, and their names.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{PlayerId, PlayerKind};
use uuid::Uuid;

use crate::{Account, ExternalIdentity, Naming, NewBot, OwnName, PasswordHash};

/// Accounts and their names.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// Without their names and those of their programs.
    accounts: BTreeMap<PlayerId, Account>,
    /// Whom proxies know, by what these call them.
    externals: BTreeMap<String, PlayerId>,
    /// The accounts of programs by their owners.
    bots: BTreeSet<(PlayerId, PlayerId)>,
    /// Whose the names with a likeness are, and until when if that is not for good.
    names: BTreeMap<String, (PlayerId, Option<u64>)>,
}

impl Accounts {
    /// False if somebody else has the name, or it is not the one after the name that was believed.
    pub(super) fn name(&mut self, naming: &Naming) -> bool {
        let now_ms = &naming.now_ms;
        let (id, (was, before_ms)) = (naming.player.id, naming.before);
        let renamed_ms = self
            .accounts
            .get(&id)
            .and_then(|account| account.renamed_ms);
        if self.is_taken(&naming.likenesses, *now_ms, Some(id)) || renamed_ms != before_ms {
            return false;
        }
        let is_over = |until: &Option<u64>| until.is_some_and(|until| until <= *now_ms);
        self.names.retain(|_, (_, until)| !is_over(until));
        for (whose, until) in self.names.values_mut() {
            if *whose == id && until.is_none() {
                *until = Some(naming.kept_until_ms);
            }
        }
        let names = naming.likenesses.iter();
        self.names
            .extend(names.map(|likeness| (likeness.clone(), (id, None))));
        let account = self.accounts.entry(id).or_default();
        if was != PlayerKind::Guest {
            account.renamed_ms = Some(*now_ms);
        }
        if let Some(password) = &naming.password {
            account.password = Some(password.clone());
        }
        true
    }

    /// False if it is no account.
    pub(super) fn set_password(&mut self, player: PlayerId, password: PasswordHash) -> bool {
        let account = self.accounts.get_mut(&player);
        account
            .map(|account| account.password = Some(password))
            .is_some()
    }

    /// Makes an account of a program. False if somebody else has the name, or there would be too many.
    pub(super) fn add_bot(&mut self, owner: PlayerId, new: &NewBot) -> bool {
        let is_taken = self.is_taken(&new.likenesses, new.now_ms, None);
        if is_taken || self.bots(owner).count() >= new.max {
            return false;
        }
        let account = Account {
            owner: Some(owner),
            names: OwnName::all(&new.likenesses),
            ..Account::default()
        };
        self.keep(new.player.id, account);
        true
    }

    /// Makes an account of somebody whom a proxy knows. False if it has known them before, or somebody else has
    /// the name.
    pub(super) fn add_external(&mut self, new: &ExternalIdentity) -> bool {
        let is_taken = self.is_taken(&new.likenesses, new.now_ms, None);
        if is_taken || self.externals.contains_key(&new.external) {
            return false;
        }
        let account = Account {
            names: OwnName::all(&new.likenesses),
            external: Some(new.external.clone()),
            ..Account::default()
        };
        self.keep(new.player.id, account);
        true
    }

    /// The player whom a proxy knows so.
    pub(super) fn external(&self, name: &str) -> Option<PlayerId> {
        self.externals.get(name).copied()
    }

    /// Forgets an account, whose names nobody else gets for a time.
    pub(super) fn end(&mut self, player: PlayerId, kept_until_ms: u64) {
        let names = std::mem::take(&mut self.names);
        self.forget(player);
        self.names = names;
        for (whose, until) in self.names.values_mut() {
            if *whose == player {
                until.get_or_insert(kept_until_ms);
            }
        }
    }

    /// The accounts of programs of a player, in the order of their ids.
    pub(super) fn bots(&self, owner: PlayerId) -> impl Iterator<Item = PlayerId> {
        let [first, last] = [Uuid::nil(), Uuid::max()].map(|id| (owner, PlayerId(id)));
        self.bots.range(first..=last).map(|(_, bot)| *bot)
    }

    /// Whose program it is.
    pub(super) fn owner(&self, player: PlayerId) -> Option<PlayerId> {
        self.accounts.get(&player)?.owner
    }

    pub(super) fn keep(&mut self, player: PlayerId, account: Account) {
        let names = account.names.iter();
        let names = names.map(|own| (own.likeness.clone(), (player, own.until_ms)));
        self.names.extend(names);
        self.bots.extend(account.owner.map(|owner| (owner, player)));
        let external = account.external.clone();
        self.externals.extend(external.map(|name| (name, player)));
        let account = Account {
            names: Vec::new(),
            bots: Vec::new(),
            ..account
        };
        self.accounts.insert(player, account);
    }

    pub(super) fn forget(&mut self, player: PlayerId) {
        if let Some(account) = self.accounts.remove(&player) {
            self.names.retain(|_, (whose, _)| *whose != player);
            if let Some(owner) = account.owner {
                self.bots.remove(&(owner, player));
            }
            if let Some(external) = &account.external {
                self.externals.remove(external);
            }
        }
    }

    /// The password of a player, if there is one.
    pub(super) fn password(&self, player: PlayerId) -> Option<&PasswordHash> {
        self.accounts.get(&player)?.password.as_ref()
    }

    /// Whether somebody has a name that is alike, other than this player.
    fn is_taken(
        &self,
        likenesses: &[String],
        now_ms: u64,
        by_other_than: Option<PlayerId>,
    ) -> bool {
        let mut named = likenesses
            .iter()
            .filter_map(|like| self.named(like, now_ms));
        named.any(|(whose, _)| Some(whose) != by_other_than)
    }

    pub(super) fn named(&self, likeness: &str, now_ms: u64) -> Option<(PlayerId, bool)> {
        let (player, until) = self.names.get(likeness)?;
        match until {
            None => Some((*player, true)),
            Some(until) => (*until > now_ms).then_some((*player, false)),
        }
    }

    pub(super) fn account(&self, player: PlayerId) -> Option<Account> {
        let account = self.accounts.get(&player)?;
        let own = self.names.iter().filter(|(_, (whose, _))| *whose == player);
        let names = own.map(|(likeness, (_, until_ms))| OwnName {
            likeness: likeness.clone(),
            until_ms: *until_ms,
        });
        Some(Account {
            names: names.collect(),
            ..account.clone()
        })
    }
}
