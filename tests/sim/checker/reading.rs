//! Reads a history from its beginning to its end: what each connection was told, and what that says
//! about the matches.

mod answers;
mod ends;
mod events;
mod glimpses;
mod lists;
mod searches;
mod turns;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockState, Event, MatchId, MatchRef, PlayerId, Ply, RequestId,
    ServerMessage, Snapshot, SpectatorAccess,
};

pub(super) use self::ends::Seen;
pub(super) use self::events::contradiction;
pub(super) use self::glimpses::{Glimpse, RatingShown, RatingTold};
use self::lists::Watch;
pub(super) use self::lists::{Difference, Row};
use self::searches::Analysing;
pub(super) use self::searches::{AnalysisTold, HintTold};
pub(super) use self::turns::{RowsTold, TurnTold};
use self::words::Words;
use super::clocks::Times;
use super::moves::{Asked, Verdict, canonical};
use super::wall::Wall;
use super::wishes::Wish;
use super::{Fault, Kind};
use crate::history::{ConnectionId, Entry, What};

/// What a history says.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) faults: Vec<Fault>,
    pub(super) matches: BTreeMap<MatchId, Told>,
    pub(super) moves: Vec<Asked>,
    /// What else was asked of matches that needs somebody's will.
    pub(super) wishes: Vec<Wish>,
    /// When the server began to run again.
    pub(super) restarts: Vec<u128>,
    pub(super) wall: Wall,
    /// When each player said hello.
    pub(super) hellos: BTreeMap<PlayerId, Vec<u128>>,
    /// When what is read now happened, in microseconds.
    pub(super) at_us: u128,
    /// Who has asked for a seat or a match.
    pub(super) sitters: BTreeSet<PlayerId>,
    /// How many matches each player has asked for and not been refused: listed ones, which are
    /// created, and others, which are sought.
    pub(super) hosts: BTreeMap<(PlayerId, bool), usize>,
    /// The matches of which a resignation was answered `ok`.
    pub(super) resigned: Vec<MatchId>,
    /// The rematches that were told, by the match before.
    pub(super) successors: BTreeMap<MatchId, BTreeSet<MatchId>>,
    /// Who was told of a challenge, and of which.
    pub(super) challenges: Vec<(Option<PlayerId>, Challenge)>,
    /// The turns in matches of days of which somebody was told.
    pub(super) turns: Vec<TurnTold>,
    /// What each welcome has told of matches of days.
    pub(super) rows: Vec<RowsTold>,
    /// The rows of lists that were told.
    pub(super) list_rows: Vec<Row>,
    /// Where a list was not what whoever watched it believed.
    pub(super) differences: Vec<Difference>,
    /// When each match was asked for.
    pub(super) asked_for: BTreeMap<MatchId, Vec<u128>>,
    /// How often a list was held against what was believed of it.
    pub(super) lists: usize,
    /// What was seen of matches when all was to be seen.
    pub(super) seen: Vec<Seen>,
    /// Where several servers share the store: by when all is to be seen, in microseconds.
    pub(super) settled_us: Option<u128>,
    /// What each connection was told that matches have changed.
    pub(super) ratings: Vec<RatingTold>,
    /// What was shown of how well people play.
    pub(super) ratings_shown: Vec<RatingShown>,
    /// What was told of matches to whom, and when.
    pub(super) glimpses: Vec<Glimpse>,
    /// When a player's words were to be said in a match, and when strangers heard them.
    pub(super) said_at: Vec<(MatchId, String, u128)>,
    pub(super) heard_late: Vec<(MatchId, String, u128)>,
    /// When strangers were told of a rematch of a match with a delay.
    pub(super) rematches_told: Vec<(MatchId, MatchId, u128)>,
    /// How often somebody was kept from a match that nobody but its players may watch.
    pub(super) kept_out: usize,
    /// How often a match was shown that began with a position of its own.
    pub(super) apart: usize,
    /// Who does not want to meet whom, and who heard what.
    pub(super) words: Words,
    /// The hints that were told, what was told of ended matches, and of which ply it was told what a bot thinks.
    pub(super) hints: Vec<HintTold>,
    pub(super) analyses: Vec<AnalysisTold>,
    pub(super) thoughts: BTreeSet<(MatchId, Ply)>,
    pub(super) resumed: usize,
    pub(super) refusals: usize,
    connections: BTreeMap<ConnectionId, Connection>,
    /// The matches with a delay.
    delayed: BTreeSet<MatchId>,
    /// The matches that nobody but their players may watch.
    private: BTreeSet<MatchId>,
    /// The matches of which it is told what bots think.
    thinking: BTreeSet<MatchId>,
    /// The matches that have had each code: it goes on to a rematch.
    codes: BTreeMap<String, BTreeSet<MatchId>>,
    tokens: BTreeMap<String, PlayerId>,
    /// Who must be known for ever, having sat or hosted.
    lasting: BTreeSet<PlayerId>,
    crashes: usize,
}

/// What was told about a match.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Each event, where it was told first, and without what may change.
    pub(super) events: BTreeMap<u64, (usize, Event)>,
    pub(super) snapshots: Vec<Shown>,
    /// How the clock stood, as it was told after this event at this time.
    pub(super) clocks: Vec<(u64, Times, ClockState)>,
    /// When each event was told first.
    pub(super) told_at: BTreeMap<u64, u128>,
    /// Every event with the ply that it says was played or has come back, and whether it was played.
    plies: BTreeSet<(u64, u64, bool)>,
    /// The last event that anybody was told of, in whatever form.
    newest: u64,
    /// How many crashes there had been when somebody came into it or back to it last.
    crashes: usize,
}

/// A snapshot as it was shown.
#[derive(Debug)]
pub(super) struct Shown {
    /// It is of a match as it was before.
    pub(super) is_late: bool,
    pub(super) player: Option<PlayerId>,
    pub(super) times: Times,
    pub(super) snapshot: Snapshot,
}

#[derive(Debug, Default)]
struct Connection {
    opened_us: u128,
    player: Option<PlayerId>,
    waiting: BTreeMap<RequestId, Waiting>,
    /// The last event that was told of each match that is followed.
    following: BTreeMap<MatchId, u64>,
    /// The matches in which its player was shown to have a seat.
    own: BTreeSet<MatchId>,
    /// The list that is watched.
    watch: Option<Watch>,
    /// The matches that were followed at some time.
    followed: BTreeSet<MatchId>,
    /// When the client was told who it is.
    welcomed_us: Option<u128>,
    /// What was told before this has come.
    heard_us: u128,
    /// The match that this connection is told of what searches think.
    analysing: Option<Analysing>,
    /// The matches that the welcome has promised to show.
    promised: BTreeSet<MatchId>,
    /// What was known of all matches when the client said who it was.
    known_at_hello: BTreeMap<MatchId, u64>,
}

/// A request that has no answer yet.
#[derive(Debug)]
struct Waiting {
    message: ClientMessage,
    sent_us: u128,
    target: Option<MatchId>,
    /// What was known of the match when it was sent.
    newest: u64,
    /// Which move it asks for.
    asked: Option<usize>,
    /// Which wish it is.
    wished: Option<usize>,
    /// Whether whoever says hello must be known.
    is_lasting: bool,
}

impl Reading {
    /// Of a world with one server, or of one that is settled by then.
    pub(super) fn new(settled: Option<Duration>) -> Self {
        Self {
            settled_us: settled.map(|settled| settled.as_micros()),
            ..Self::default()
        }
    }

    fn fault(&mut self, kind: Kind, about: String) {
        self.faults.push(Fault { kind, about });
    }

    fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        self.connections.entry(id).or_default()
    }

    /// Takes in what comes next, at this place of the history.
    pub(super) fn read(&mut self, place: usize, entry: &Entry) {
        self.at_us = entry.at_us;
        match &entry.what {
            What::Opened { connection, .. } => {
                self.connection(*connection).opened_us = entry.at_us;
            }
            What::Sent {
                connection,
                request,
            } => {
                if let Some(id) = request.id {
                    self.sent(place, *connection, id, &request.message);
                }
            }
            What::Got {
                connection,
                message,
            } => self.got(place, *connection, message),
            What::GotNonsense { text, .. } => self.fault(Kind::Nonsense, text.clone()),
            What::Closed { connection, why } => self.closed(*connection, why),
            What::Fate(_) => {}
            What::Crash(_) => self.crashes += 1,
            What::Away(away) => self.wall.goes_on(entry.at_us, *away),
            What::Restart => self.restarts.push(entry.at_us),
        }
    }

    fn sent(&mut self, place: usize, on: ConnectionId, re: RequestId, message: &ClientMessage) {
        let target = target(message).and_then(|target| match target {
            MatchRef::Id(id) => Some(id),
            MatchRef::Code(code) => match self.codes.get(&code.to_string()) {
                Some(ids) if ids.len() == 1 => ids.first().copied(),
                // Nobody outside knows which has it now.
                Some(_) | None => None,
            },
            MatchRef::Invalid => None,
        });
        if let Some(id) = target {
            self.asked_for.entry(id).or_default().push(self.at_us);
        }
        let newest = target.and_then(|id| self.matches.get(&id));
        let newest = newest.map_or(0, |told| told.newest);
        let waiting = Waiting {
            message: message.clone(),
            sent_us: self.at_us,
            target,
            newest,
            asked: self.sent_move(place, on, target, message),
            wished: self.sent_wish(place, on, target, message),
            is_lasting: self.sent_hello(on, message),
        };
        self.sent_for_seat(on, message);
        self.sent_block(on, message);
        self.sent_words(target, message);
        self.connection(on).waiting.insert(re, waiting);
    }

    fn sent_move(
        &mut self,
        place: usize,
        on: ConnectionId,
        target: Option<MatchId>,
        message: &ClientMessage,
    ) -> Option<usize> {
        let ClientMessage::Move {
            ply, m, takebacks, ..
        } = message
        else {
            return None;
        };
        let id = target?;
        let player = self.connection(on).player;
        self.moves.push(Asked {
            place,
            at_us: self.at_us,
            player,
            id,
            ply: *ply,
            m: canonical(m),
            takebacks: *takebacks,
            verdict: Verdict::Unclear,
            answered: None,
        });
        Some(self.moves.len() - 1)
    }

    fn sent_wish(
        &mut self,
        place: usize,
        on: ConnectionId,
        target: Option<MatchId>,
        message: &ClientMessage,
    ) -> Option<usize> {
        let id = target.filter(|_| Wish::is_one(message))?;
        let player = self.connection(on).player;
        self.wishes.push(Wish {
            place,
            player,
            id,
            message: message.clone(),
            verdict: Verdict::Unclear,
        });
        Some(self.wishes.len() - 1)
    }

    /// Tells whether the server must know whoever it is.
    fn sent_hello(&mut self, on: ConnectionId, message: &ClientMessage) -> bool {
        let ClientMessage::Hello(hello) = message else {
            return false;
        };
        let token = &hello.token;
        let known = self.matches.iter().map(|(id, told)| (*id, told.newest));
        self.connection(on).known_at_hello = known.collect();
        let owner = token.as_ref().and_then(|t| self.tokens.get(t.reveal()));
        if let Some(owner) = owner {
            self.hellos.entry(*owner).or_default().push(self.at_us);
        }
        owner.is_some_and(|owner| self.lasting.contains(owner))
    }

    fn sent_for_seat(&mut self, on: ConnectionId, message: &ClientMessage) {
        let wanted = wanted(message);
        let is_join = matches!(message, ClientMessage::Join { .. });
        let Some(player) = self.connection(on).player else {
            return;
        };
        if is_join || wanted.is_some() {
            self.sitters.insert(player);
        }
        if let Some(is_listed) = wanted {
            *self.hosts.entry((player, is_listed)).or_default() += 1;
        }
    }

    fn got(&mut self, place: usize, on: ConnectionId, message: &ServerMessage) {
        let re = message.re();
        let waiting = re.and_then(|re| self.connection(on).waiting.remove(&re));
        if re.is_some() && waiting.is_none() {
            let about = format!("{on:?} did not ask for {message:?}");
            self.fault(Kind::BadAnswer, about);
        }
        let answered = waiting.as_ref();
        match message {
            ServerMessage::Welcome(welcome) => self.welcomed(on, welcome, answered),
            ServerMessage::Match(snapshot) => {
                self.heard(on, &snapshot.chat_history, answered);
                self.shown(on, snapshot, answered);
            }
            ServerMessage::Events { events, .. } => self.caught_up(place, on, events, answered),
            ServerMessage::Event(event) => self.told(place, on, event),
            ServerMessage::Clock { match_id, clock } => self.told_clock(on, *match_id, *clock),
            ServerMessage::Rematch { match_id, rematch } => {
                self.told_rematch(on, *match_id, rematch)
            }
            ServerMessage::Challenge(challenge) => self.challenged(on, challenge),
            ServerMessage::YourTurn {
                match_id,
                game,
                ply,
                deadline_ms: due_ms,
            } => self.told_turn(on, *match_id, game, (*ply, *due_ms)),
            ServerMessage::ListChanged {
                changed,
                removed: gone,
                total,
                reset,
            } => self.list_changed(on, changed, gone, (*total, *reset)),
            ServerMessage::Matches { .. } => self.told_page(on, message, answered),
            ServerMessage::Seekers(seekers) => self.seekers_changed(on, seekers),
            ServerMessage::Blocked { players, .. } => {
                self.told_blocked(on, players, answered);
            }
            ServerMessage::Rating {
                match_id, changes, ..
            } => self.told_rating(on, *match_id, changes),
            ServerMessage::Chat {
                match_id,
                entry: said,
            } => self.heard_words(on, *match_id, said),
            ServerMessage::WatchEnded { match_id } => self.watch_over(on, *match_id),
            ServerMessage::Profile { profile, .. } => self.told_profile(profile),
            ServerMessage::Leaderboard { rows, .. } => self.told_leaders(rows, answered),
            ServerMessage::Analysis(part) => self.told_analysis(on, part),
            ServerMessage::Hint(hint) => self.told_hint(on, hint, answered),
            ServerMessage::Thinking(thought) => self.told_thought(on, thought),
            ServerMessage::Error(error) if error.re.is_none() => self.told_trouble(on, error),
            ServerMessage::Ok { .. }
            | ServerMessage::Error(_)
            | ServerMessage::Pong { .. }
            | ServerMessage::Sessions { .. }
            | ServerMessage::LinkCode { .. }
            | ServerMessage::RecoveryKey { .. }
            | ServerMessage::History { .. }
            | ServerMessage::Explore { .. }
            | ServerMessage::ApiKey { .. }
            | ServerMessage::SessionAdded { .. }
            | ServerMessage::Player { .. }
            | ServerMessage::Presence { .. }
            | ServerMessage::ChallengeEnded { .. } => {}
        }
        if let Some(waiting) = waiting {
            let heard_us = &mut self.connection(on).heard_us;
            *heard_us = waiting.sent_us.max(*heard_us);
            self.answered(place, on, &waiting, message);
        }
    }
}

/// Whether a request wants a match that is listed, if it wants a match.
fn wanted(message: &ClientMessage) -> Option<bool> {
    match message {
        // A challenge is nobody else's business.
        ClientMessage::Create(create) => {
            let is_for_all = create.spectator_access.unwrap_or_default() == SpectatorAccess::Anyone;
            Some(create.listed.unwrap_or(true) && create.invited.is_none() && is_for_all)
        }
        ClientMessage::Seek(_) => Some(false),
        _ => None,
    }
}

/// The match that a request names.
fn target(message: &ClientMessage) -> Option<MatchRef> {
    match message {
        ClientMessage::Join { target, .. }
        | ClientMessage::Watch { target }
        | ClientMessage::Leave { target }
        | ClientMessage::Seat { target, .. }
        | ClientMessage::Move { target, .. }
        | ClientMessage::Resign { target }
        | ClientMessage::Abort { target }
        | ClientMessage::Offer { target, .. }
        | ClientMessage::Decline { target, .. }
        | ClientMessage::GiveTime { target, .. }
        | ClientMessage::Say { target, .. }
        | ClientMessage::Analyse { target, .. }
        | ClientMessage::Hint { target, .. }
        | ClientMessage::Resync { target, .. } => Some(*target),
        ClientMessage::Hello(_)
        | ClientMessage::Ping
        | ClientMessage::Create(_)
        | ClientMessage::List { .. }
        | ClientMessage::WatchList { .. }
        | ClientMessage::UnwatchList
        | ClientMessage::Sessions
        | ClientMessage::LinkDevice
        | ClientMessage::CreateRecoveryKey { .. }
        | ClientMessage::History(_)
        | ClientMessage::Explore { .. }
        | ClientMessage::Profile { .. }
        | ClientMessage::Leaderboard(_)
        | ClientMessage::EndSession { .. }
        | ClientMessage::Register { .. }
        | ClientMessage::Rename { .. }
        | ClientMessage::SetPassword { .. }
        | ClientMessage::DeleteAccount { .. }
        | ClientMessage::CreateApiKey { .. }
        | ClientMessage::Seek(_)
        | ClientMessage::Block { .. }
        | ClientMessage::CancelSeek => None,
    }
}
