//! Reads a history from its beginning to its end: what each connection was told, and what that says
//! about the matches.

mod chat_blocks;
mod connection_end;
mod correspondence_turns;
mod engine_output;
mod match_events;
mod match_lists;
mod replies;
mod spectator_views;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockState, Event, MatchId, MatchRef, PlayerId, Ply, RequestId,
    ServerMessage, Snapshot, SpectatorAccess,
};

use self::chat_blocks::ChatBlocks;
pub(super) use self::connection_end::CompleteView;
pub(super) use self::correspondence_turns::{CorrespondenceList, TurnNotification};
use self::engine_output::PendingAnalysis;
pub(super) use self::engine_output::{ReceivedAnalysis, ReceivedHint};
pub(super) use self::match_events::contradiction_kind;
use self::match_lists::WatchedList;
pub(super) use self::match_lists::{ListDifference, ListRow};
pub(super) use self::spectator_views::{DisplayedRating, RatingNotification, SpectatorView};
use super::clocks::ObservationTimes;
use super::consent::ConsentRequest;
use super::move_requests::{MoveRequest, RequestResult, canonical_move};
use super::wall_clock::WallClock;
use super::{Violation, ViolationKind};
use crate::history::{ConnectionId, HistoryEntry, HistoryEvent};

/// What a history says.
#[derive(Debug, Default)]
pub(super) struct Observations {
    pub(super) violations: Vec<Violation>,
    pub(super) matches: BTreeMap<MatchId, ObservedMatch>,
    pub(super) move_requests: Vec<MoveRequest>,
    /// What else was asked of matches that needs somebody's will.
    pub(super) consent_requests: Vec<ConsentRequest>,
    /// When the server began to run again.
    pub(super) restarts: Vec<u128>,
    pub(super) wall_clock: WallClock,
    /// When each player said hello.
    pub(super) hellos: BTreeMap<PlayerId, Vec<u128>>,
    /// When what is read now happened, in microseconds.
    pub(super) at_us: u128,
    /// Who has asked for a seat or a match.
    pub(super) seat_requesters: BTreeSet<PlayerId>,
    /// How many matches each player has asked for and not been refused: listed ones, which are
    /// created, and others, which are sought.
    pub(super) host_requests: BTreeMap<(PlayerId, bool), usize>,
    /// The matches of which a resignation was answered `ok`.
    pub(super) resigned_matches: Vec<MatchId>,
    /// The rematches that were told, by the match before.
    pub(super) successors: BTreeMap<MatchId, BTreeSet<MatchId>>,
    /// Who was told of a challenge, and of which.
    pub(super) challenges: Vec<(Option<PlayerId>, Challenge)>,
    /// The turns in matches of days of which somebody was told.
    pub(super) turn_notifications: Vec<TurnNotification>,
    /// What each welcome has told of matches of days.
    pub(super) correspondence_lists: Vec<CorrespondenceList>,
    /// The rows of lists that were told.
    pub(super) list_rows: Vec<ListRow>,
    /// Where a list was not what whoever watched it believed.
    pub(super) list_differences: Vec<ListDifference>,
    /// When each match was asked for.
    pub(super) match_request_times: BTreeMap<MatchId, Vec<u128>>,
    /// How often a list was held against what was believed of it.
    pub(super) list_comparisons: usize,
    /// What was seen of matches when all was to be seen.
    pub(super) complete_views: Vec<CompleteView>,
    /// Where several servers share the store: by when all is to be seen, in microseconds.
    pub(super) settled_us: Option<u128>,
    /// What each connection was told that matches have changed.
    pub(super) rating_notifications: Vec<RatingNotification>,
    /// What was shown of how well people play.
    pub(super) displayed_ratings: Vec<DisplayedRating>,
    /// What was told of matches to whom, and when.
    pub(super) spectator_views: Vec<SpectatorView>,
    /// When a player's words were to be said in a match, and when strangers heard them.
    pub(super) sent_chat: Vec<(MatchId, String, u128)>,
    pub(super) delayed_chat: Vec<(MatchId, String, u128)>,
    /// When strangers were told of a rematch of a match with a delay.
    pub(super) delayed_rematches: Vec<(MatchId, MatchId, u128)>,
    /// How often somebody was kept from a match that nobody but its players may watch.
    pub(super) access_denials: usize,
    /// How often a match was shown that began with a position of its own.
    pub(super) custom_positions: usize,
    /// Who does not want to meet whom, and who heard what.
    pub(super) chat_blocks: ChatBlocks,
    /// The hints that were told, what was told of ended matches, and of which ply it was told what a bot thinks.
    pub(super) hints: Vec<ReceivedHint>,
    pub(super) analyses: Vec<ReceivedAnalysis>,
    pub(super) thinking_plies: BTreeSet<(MatchId, Ply)>,
    pub(super) resumed_matches: usize,
    pub(super) refusals: usize,
    connections: BTreeMap<ConnectionId, Connection>,
    /// The matches with a delay.
    delayed_matches: BTreeSet<MatchId>,
    /// The matches that nobody but their players may watch.
    private_matches: BTreeSet<MatchId>,
    /// The matches of which it is told what bots think.
    thinking_matches: BTreeSet<MatchId>,
    /// The matches that have had each code: it goes on to a rematch.
    matches_by_code: BTreeMap<String, BTreeSet<MatchId>>,
    players_by_token: BTreeMap<String, PlayerId>,
    /// Who must be known for ever, having sat or hosted.
    persistent_players: BTreeSet<PlayerId>,
    crashes: usize,
}

/// What was told about a match.
#[derive(Debug, Default)]
pub(super) struct ObservedMatch {
    /// Each event, where it was told first, and without what may change.
    pub(super) events: BTreeMap<u64, (usize, Event)>,
    pub(super) snapshots: Vec<ObservedSnapshot>,
    /// How the clock stood, as it was told after this event at this time.
    pub(super) clocks: Vec<(u64, ObservationTimes, ClockState)>,
    /// When each event was told first.
    pub(super) first_received_us: BTreeMap<u64, u128>,
    /// Every event with the ply that it says was played or has come back, and whether it was played.
    ply_events: BTreeSet<(u64, u64, bool)>,
    /// The last event that anybody was told of, in whatever form.
    latest_seq: u64,
    /// How many crashes there had been when somebody came into it or back to it last.
    crashes_at_join: usize,
}

/// A snapshot as it was shown.
#[derive(Debug)]
pub(super) struct ObservedSnapshot {
    /// It is of a match as it was before.
    pub(super) is_delayed: bool,
    pub(super) player: Option<PlayerId>,
    pub(super) times: ObservationTimes,
    pub(super) snapshot: Snapshot,
}

#[derive(Debug, Default)]
struct Connection {
    opened_us: u128,
    player: Option<PlayerId>,
    pending_requests: BTreeMap<RequestId, PendingRequest>,
    /// The last event that was told of each match that is followed.
    followed_seqs: BTreeMap<MatchId, u64>,
    /// The matches in which its player was shown to have a seat.
    seated_matches: BTreeSet<MatchId>,
    /// The list that is watched.
    watched_list: Option<WatchedList>,
    /// The matches that were followed at some time.
    ever_followed: BTreeSet<MatchId>,
    /// When the client was told who it is.
    welcomed_us: Option<u128>,
    /// What was told before this has come.
    delivered_until_us: u128,
    /// The match that this connection is told of what searches think.
    pending_analysis: Option<PendingAnalysis>,
    /// The matches that the welcome has promised to show.
    expected_snapshots: BTreeSet<MatchId>,
    /// What was known of all matches when the client said who it was.
    seqs_at_hello: BTreeMap<MatchId, u64>,
}

/// A request that has no answer yet.
#[derive(Debug)]
struct PendingRequest {
    message: ClientMessage,
    sent_us: u128,
    target: Option<MatchId>,
    /// What was known of the match when it was sent.
    latest_seq: u64,
    /// Which move it asks for.
    move_request: Option<usize>,
    /// Which wish it is.
    consent_request: Option<usize>,
    /// Whether whoever says hello must be known.
    must_resume: bool,
}

impl Observations {
    /// Of a world with one server, or of one that is settled by then.
    pub(super) fn new(settled: Option<Duration>) -> Self {
        Self {
            settled_us: settled.map(|settled| settled.as_micros()),
            ..Self::default()
        }
    }

    fn report(&mut self, kind: ViolationKind, about: String) {
        self.violations.push(Violation {
            kind,
            description: about,
        });
    }

    fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        self.connections.entry(id).or_default()
    }

    /// Takes in what comes next, at this place of the history.
    pub(super) fn process_entry(&mut self, index: usize, entry: &HistoryEntry) {
        self.at_us = entry.at_us;
        match &entry.event {
            HistoryEvent::Opened { connection, .. } => {
                self.connection(*connection).opened_us = entry.at_us;
            }
            HistoryEvent::Sent {
                connection,
                request,
            } => {
                if let Some(id) = request.id {
                    self.record_request(index, *connection, id, &request.message);
                }
            }
            HistoryEvent::Received {
                connection,
                message,
            } => self.record_message(index, *connection, message),
            HistoryEvent::ReceivedInvalid { text, .. } => {
                self.report(ViolationKind::InvalidMessage, text.clone())
            }
            HistoryEvent::Closed {
                connection,
                reason: why,
            } => self.record_close(*connection, why),
            HistoryEvent::Fault(_) => {}
            HistoryEvent::Crash(_) => self.crashes += 1,
            HistoryEvent::Downtime(away) => self.wall_clock.advance(entry.at_us, *away),
            HistoryEvent::Restart => self.restarts.push(entry.at_us),
        }
    }

    fn record_request(
        &mut self,
        index: usize,
        on: ConnectionId,
        re: RequestId,
        message: &ClientMessage,
    ) {
        let target = request_target(message).and_then(|target| match target {
            MatchRef::Id(id) => Some(id),
            MatchRef::Code(code) => match self.matches_by_code.get(&code.to_string()) {
                Some(ids) if ids.len() == 1 => ids.first().copied(),
                // Nobody outside knows which has it now.
                Some(_) | None => None,
            },
            MatchRef::Invalid => None,
        });
        if let Some(id) = target {
            self.match_request_times
                .entry(id)
                .or_default()
                .push(self.at_us);
        }
        let newest = target.and_then(|id| self.matches.get(&id));
        let latest_seq = newest.map_or(0, |observed| observed.latest_seq);
        let waiting = PendingRequest {
            message: message.clone(),
            sent_us: self.at_us,
            target,
            latest_seq,
            move_request: self.record_move_request(index, on, target, message),
            consent_request: self.record_consent_request(index, on, target, message),
            must_resume: self.record_hello(on, message),
        };
        self.record_seat_request(on, message);
        self.record_block_request(on, message);
        self.record_sent_chat(target, message);
        self.connection(on).pending_requests.insert(re, waiting);
    }

    fn record_move_request(
        &mut self,
        index: usize,
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
        self.move_requests.push(MoveRequest {
            index,
            sent_us: self.at_us,
            player,
            id,
            ply: *ply,
            m: canonical_move(m),
            takebacks: *takebacks,
            result: RequestResult::Unknown,
            reply_index: None,
        });
        Some(self.move_requests.len() - 1)
    }

    fn record_consent_request(
        &mut self,
        index: usize,
        on: ConnectionId,
        target: Option<MatchId>,
        message: &ClientMessage,
    ) -> Option<usize> {
        let id = target.filter(|_| ConsentRequest::requires_consent(message))?;
        let player = self.connection(on).player;
        self.consent_requests.push(ConsentRequest {
            index,
            player,
            id,
            message: message.clone(),
            result: RequestResult::Unknown,
        });
        Some(self.consent_requests.len() - 1)
    }

    /// Tells whether the server must know whoever it is.
    fn record_hello(&mut self, on: ConnectionId, message: &ClientMessage) -> bool {
        let ClientMessage::Hello(hello) = message else {
            return false;
        };
        let token = &hello.token;
        let latest_seqs = self
            .matches
            .iter()
            .map(|(id, observed)| (*id, observed.latest_seq));
        self.connection(on).seqs_at_hello = latest_seqs.collect();
        let owner = token
            .as_ref()
            .and_then(|t| self.players_by_token.get(t.reveal()));
        if let Some(owner) = owner {
            self.hellos.entry(*owner).or_default().push(self.at_us);
        }
        owner.is_some_and(|owner| self.persistent_players.contains(owner))
    }

    fn record_seat_request(&mut self, on: ConnectionId, message: &ClientMessage) {
        let listing = requested_listing(message);
        let is_join = matches!(message, ClientMessage::Join { .. });
        let Some(player) = self.connection(on).player else {
            return;
        };
        if is_join || listing.is_some() {
            self.seat_requesters.insert(player);
        }
        if let Some(is_listed) = listing {
            *self.host_requests.entry((player, is_listed)).or_default() += 1;
        }
    }

    fn record_message(&mut self, index: usize, on: ConnectionId, message: &ServerMessage) {
        let re = message.re();
        let waiting = re.and_then(|re| self.connection(on).pending_requests.remove(&re));
        if re.is_some() && waiting.is_none() {
            let about = format!("{on:?} has no pending request for {message:?}");
            self.report(ViolationKind::InvalidReply, about);
        }
        let request = waiting.as_ref();
        match message {
            ServerMessage::Welcome(welcome) => self.check_welcome(on, welcome, request),
            ServerMessage::Match(snapshot) => {
                self.check_chat(on, &snapshot.chat_history, request);
                self.check_snapshot(on, snapshot, request);
            }
            ServerMessage::Events { events, .. } => self.check_resync(index, on, events, request),
            ServerMessage::Event(event) => self.check_event(index, on, event),
            ServerMessage::Clock { match_id, clock } => self.record_clock(on, *match_id, *clock),
            ServerMessage::Rematch { match_id, rematch } => {
                self.record_rematch(on, *match_id, rematch)
            }
            ServerMessage::Challenge(challenge) => self.record_challenge(on, challenge),
            ServerMessage::YourTurn {
                match_id,
                game,
                ply,
                deadline_ms: due_ms,
            } => self.record_turn_notification(on, *match_id, game, (*ply, *due_ms)),
            ServerMessage::ListChanged {
                changed,
                removed: gone,
                total,
                reset,
            } => self.check_list_update(on, changed, gone, (*total, *reset)),
            ServerMessage::Matches { .. } => self.check_list_page(on, message, request),
            ServerMessage::Seekers(seekers) => self.check_seekers_update(on, seekers),
            ServerMessage::Blocked { players, .. } => {
                self.check_block_list(on, players, request);
            }
            ServerMessage::Rating {
                match_id, changes, ..
            } => self.record_rating_notification(on, *match_id, changes),
            ServerMessage::Chat {
                match_id,
                entry: said,
            } => self.record_received_chat(on, *match_id, said),
            ServerMessage::WatchEnded { match_id } => self.end_following(on, *match_id),
            ServerMessage::Profile { profile, .. } => self.record_profile(profile),
            ServerMessage::Leaderboard { rows, .. } => self.record_leaderboard(rows, request),
            ServerMessage::Analysis(part) => self.check_analysis(on, part),
            ServerMessage::Hint(hint) => self.check_hint(on, hint, request),
            ServerMessage::Thinking(thought) => self.check_thinking(on, thought),
            ServerMessage::Error(error) if error.re.is_none() => {
                self.record_unsolicited_error(on, error)
            }
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
            let delivered_until_us = &mut self.connection(on).delivered_until_us;
            *delivered_until_us = waiting.sent_us.max(*delivered_until_us);
            self.check_reply(index, on, &waiting, message);
        }
    }
}

/// Whether a request wants a match that is listed, if it wants a match.
fn requested_listing(message: &ClientMessage) -> Option<bool> {
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
fn request_target(message: &ClientMessage) -> Option<MatchRef> {
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
