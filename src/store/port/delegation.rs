//! Delegation of the port's traits, for stores that wrap another store.

/// Defines a trait and a macro that delegates its methods. Its first argument is the dollar sign,
/// which the definition of the inner macro needs.
///
/// In an `impl` of the trait, the inner macro accepts three forms:
///
/// - `delegate!(self.0);` calls the same method of a field, for all methods of the trait.
/// - `delegate!(self.0: load, tail);` does so for these methods only. The `impl` contains the other
///   methods in full.
/// - `delegate!(self.read(): load, tail);` passes a closure to the method `read` of the wrapper.
///   The closure calls the same method of the store that it receives.
///
/// The module that calls the inner macro must import [`port_types`].
macro_rules! delegatable {
    (
        @parse $d:tt $delegate:ident
        $(#[$trait_attribute:meta])*
        pub trait $trait:ident: $($supertrait:ident)::+ $(+ $bound:tt)* {
            $(
                $(#[$attribute:meta])*
                fn $method:ident(&$self:ident $(, $arg:ident: $type:ty)* $(,)?)
                    $(-> $result:ident $(<$lifetime:lifetime, $output:ty>)?)?
                    $({ $($body:tt)* })? $(;)?
            )*
        }
    ) => {
        /// Delegates methods of the trait to a field, or through a method of the wrapper.
        #[macro_export]
        macro_rules! $delegate {
            $(
                (@field $d field:tt $method) => {
                    fn $method(&$self $(, $arg: $type)*)
                        $(-> $result $(<$lifetime, $output>)?)?
                    {
                        $self.$d field.$method($($arg),*)
                    }
                };
                (@through $d through:ident $method) => {
                    fn $method(&$self $(, $arg: $type)*)
                        $(-> $result $(<$lifetime, $output>)?)?
                    {
                        $self.$d through(move |store| store.$method($($arg),*))
                    }
                };
            )*
            (self.$d field:tt) => {
                $($crate::$delegate!(@field $d field $method);)*
            };
            (self.$d field:tt: $d($d name:ident),+) => {
                $d($crate::$delegate!(@field $d field $d name);)+
            };
            (self.$d through:ident(): $d($d name:ident),+) => {
                $d($crate::$delegate!(@through $d through $d name);)+
            };
        }
    };
    ($d:tt $delegate:ident $($definition:tt)*) => {
        $($definition)*
        $crate::port::delegation::delegatable!(@parse $d $delegate $($definition)*);
    };
}

pub(crate) use delegatable;

/// Types in the signatures of the delegatable traits.
pub mod port_types {
    pub use futures::future::BoxFuture;
    pub use plyhouse_matches::ratings::{
        LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
    };
    pub use plyhouse_matches::{Event, Participation, Reminder};
    pub use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange, SessionId};

    pub use crate::cluster_directory::{
        MatchFactory, MatchListPage, MatchListQuery, MatchListing, MatchRoute, PairOutcome,
        SeekRecord, SeekerPage,
    };
    pub use crate::{
        Account, AnalysisQuotaRequest, Blocks, CommandId, EndedMatch, HistoryQuery, IdentityChange,
        JournalPosition, JournalTail, LeaderboardPage, LeaderboardQuery, LiveMatches, LoadedMatch,
        MatchRecord, NeededRatings, NodeId, OneTimeToken, OpeningStats, Pairing, PastMatch,
        PlayerRating, PlayerRecord, RatingProgress, RatingsChange, ReadError, ReadFuture,
        ResultCounts, SessionRecord, StoredAnalysis, TokenHash, WriteError, WriteFuture,
    };
}
