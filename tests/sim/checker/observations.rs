//! Reads a history from start to end and records what each connection sent and received.

mod chat_blocks;
mod connection_end;
mod correspondence_notifications;
mod engine_output;
mod event_consistency;
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
pub(super) use self::correspondence_notifications::{CorrespondenceList, TurnNotification};
use self::engine_output::PendingAnalysis;
pub(super) use self::engine_output::{ReceivedAnalysis, ReceivedHint};
pub(super) use self::event_consistency::contradiction_kind;
use self::match_lists::WatchedList;
pub(super) use self::match_lists::{ListDifference, ListRow};
pub(super) use self::spectator_views::{DisplayedRating, RatingNotification, SpectatorView};
use super::clocks::ObservationTimes;
use super::consent::ConsentRequest;
use super::move_requests::{MoveRequest, RequestResult, canonical_move};
use super::wall_clock::WallClock;
use super::{Violation, ViolationKind};
use crate::history::{ConnectionId, HistoryEntry, HistoryEvent};

/// Everything that the checker extracts from a history.
#[derive(Debug, Default)]
pub(super) struct Observations {
    pub(super) violations: Vec<Violation>,
    pub(super) matches: BTreeMap<MatchId, ObservedMatch>,
    pub(super) move_requests: Vec<MoveRequest>,
    /// Requests other than moves that count as a player's consent to an event.
    pub(super) consent_requests: Vec<ConsentRequest>,
    /// Times of the server restarts, in microseconds.
    pub(super) restarts: Vec<u128>,
    pub(super) wall_clock: WallClock,
    /// Times at which each player sent `hello`.
    pub(super) hellos: BTreeMap<PlayerId, Vec<u128>>,
    /// Time of the current history entry, in microseconds.
    pub(super) at_us: u128,
    /// Players that have requested to join, create or seek a match.
    pub(super) seat_requesters: BTreeSet<PlayerId>,
    /// Number of `create` and `seek` requests per player that the server did not refuse, counted
    /// separately for publicly listed and unlisted matches.
    pub(super) host_requests: BTreeMap<(PlayerId, bool), usize>,
    /// Matches with an accepted resignation.
    pub(super) resigned_matches: Vec<MatchId>,
    /// Rematches that clients learned of, keyed by the previous match.
    pub(super) successors: BTreeMap<MatchId, BTreeSet<MatchId>>,
    /// Received challenges and their recipients.
    pub(super) challenges: Vec<(Option<PlayerId>, Challenge)>,
    /// Received turn notifications of correspondence matches.
    pub(super) turn_notifications: Vec<TurnNotification>,
    /// Correspondence matches listed in each `welcome`.
    pub(super) correspondence_lists: Vec<CorrespondenceList>,
    /// Received rows of match lists.
    pub(super) list_rows: Vec<ListRow>,
    /// Rows that differ between a received match list and the list that its subscriber expected.
    pub(super) list_differences: Vec<ListDifference>,
    /// Times at which each match was requested.
    pub(super) match_request_times: BTreeMap<MatchId, Vec<u128>>,
    /// Number of received match lists that were compared with an expected list.
    pub(super) list_comparisons: usize,
    /// Match states as clients received them. Each state must contain all events that the client
    /// could see at that time.
    pub(super) complete_views: Vec<CompleteView>,
    /// Time in microseconds from which the match views that clients receive must be complete.
    /// `None` in worlds with one server.
    pub(super) settled_us: Option<u128>,
    /// Received notifications of rating changes.
    pub(super) rating_notifications: Vec<RatingNotification>,
    /// Ratings in received profiles and leaderboards.
    pub(super) displayed_ratings: Vec<DisplayedRating>,
    /// States of matches that clients received.
    pub(super) spectator_views: Vec<SpectatorView>,
    /// Preset chat messages. `sent_chat` holds the times at which clients sent them, and
    /// `delayed_chat` the times at which delayed spectators received them.
    pub(super) sent_chat: Vec<(MatchId, String, u128)>,
    pub(super) delayed_chat: Vec<(MatchId, String, u128)>,
    /// Rematches that delayed spectators learned of. Each entry holds the previous match, the
    /// rematch and the time.
    pub(super) delayed_rematches: Vec<(MatchId, MatchId, u128)>,
    /// Number of requests for private matches that the server refused.
    pub(super) access_denials: usize,
    /// Number of received snapshots with a custom start position.
    pub(super) custom_positions: usize,
    /// Tracks which players have blocked each other, and counts the received chat messages.
    pub(super) chat_blocks: ChatBlocks,
    /// Received engine output. `thinking_plies` holds the plies where clients received the thinking
    /// of a bot.
    pub(super) hints: Vec<ReceivedHint>,
    pub(super) analyses: Vec<ReceivedAnalysis>,
    pub(super) thinking_plies: BTreeSet<(MatchId, Ply)>,
    pub(super) resumed_matches: usize,
    pub(super) refusals: usize,
    connections: BTreeMap<ConnectionId, Connection>,
    /// Matches with a spectator delay.
    delayed_matches: BTreeSet<MatchId>,
    /// Matches that only their players may watch.
    private_matches: BTreeSet<MatchId>,
    /// Matches that show the thinking of their bots.
    thinking_matches: BTreeSet<MatchId>,
    /// Matches that have used each match code. A rematch reuses the code of the previous match.
    matches_by_code: BTreeMap<String, BTreeSet<MatchId>>,
    players_by_token: BTreeMap<String, PlayerId>,
    /// Players that the server must remember, because they have hosted a match or held a seat.
    persistent_players: BTreeSet<PlayerId>,
    crashes: usize,
}

/// Messages that clients received about a match.
#[derive(Debug, Default)]
pub(super) struct ObservedMatch {
    /// Received events without presence data, keyed by event number. The first field of each value
    /// is the position in the history where a client first received the event.
    pub(super) events: BTreeMap<u64, (usize, Event)>,
    pub(super) snapshots: Vec<ObservedSnapshot>,
    /// Received clock messages. The first field of each entry is the number of the last event that
    /// the connection received before the message.
    pub(super) clocks: Vec<(u64, ObservationTimes, ClockState)>,
    /// When each event was first received, in microseconds.
    pub(super) first_received_us: BTreeMap<u64, u128>,
    /// Event number and ply of each move and takeback. The Boolean is true for moves and false for
    /// takebacks.
    ply_events: BTreeSet<(u64, u64, bool)>,
    /// Number of the latest event that any client has seen.
    latest_seq: u64,
    /// Number of server crashes when a client first saw the match or last saw it resume.
    crashes_at_join: usize,
}

/// Received snapshot and its context.
#[derive(Debug)]
pub(super) struct ObservedSnapshot {
    /// Whether the snapshot shows an earlier state because of the spectator delay.
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
    /// Number of the last event that the client received, keyed by the followed match.
    followed_seqs: BTreeMap<MatchId, u64>,
    /// Followed matches where the player holds a seat, according to the latest snapshot. A stand-in
    /// bot keeps the seat for its player.
    seated_matches: BTreeSet<MatchId>,
    /// Match list that the connection subscribes to.
    watched_list: Option<WatchedList>,
    /// Matches that the connection has followed at any time.
    ever_followed: BTreeSet<MatchId>,
    /// When the client received its `welcome`, in microseconds.
    welcomed_us: Option<u128>,
    /// When the client sent its latest answered request, in microseconds. All messages that the
    /// server sent before that time have arrived.
    delivered_until_us: u128,
    /// Analysis that the connection is receiving.
    pending_analysis: Option<PendingAnalysis>,
    /// Matches whose snapshots the server must send to this connection after the `welcome`.
    expected_snapshots: BTreeSet<MatchId>,
    /// Highest event number that any client had received for each match when this client sent
    /// `hello`.
    seqs_at_hello: BTreeMap<MatchId, u64>,
}

/// Request without a reply.
#[derive(Debug)]
struct PendingRequest {
    message: ClientMessage,
    sent_us: u128,
    target: Option<MatchId>,
    /// Highest event number that any client had received for the target match when the request was
    /// sent.
    latest_seq: u64,
    /// Index of the request in `move_requests`.
    move_request: Option<usize>,
    /// Index of the request in `consent_requests`.
    consent_request: Option<usize>,
    /// Whether the server must recognize the player who sent this `hello`.
    must_resume: bool,
}

impl Observations {
    /// `settled` is the time from which the match views that clients receive must be complete. In
    /// worlds with one server, `settled` is `None`.
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

    /// Processes the history entry at position `index`.
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
                // If several matches have used a match code, the checker cannot know which match
                // has the code now.
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

    /// Records a `hello`. Returns whether the server must recognize the player.
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
                deadline_ms,
            } => self.record_turn_notification(on, *match_id, game, (*ply, *deadline_ms)),
            ServerMessage::ListChanged {
                changed,
                removed,
                total,
                reset,
            } => self.check_list_update(on, changed, removed, (*total, *reset)),
            ServerMessage::Matches { .. } => self.check_list_page(on, message, request),
            ServerMessage::Seekers(seekers) => self.check_seekers_update(on, seekers),
            ServerMessage::Blocked { players, .. } => self.check_block_list(on, players, request),
            ServerMessage::Rating {
                match_id, changes, ..
            } => self.record_rating_notification(on, *match_id, changes),
            ServerMessage::Chat { match_id, entry } => {
                self.record_received_chat(on, *match_id, entry)
            }
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

/// Returns whether a `create` or `seek` request asks for a publicly listed match, or `None` for
/// other requests.
fn requested_listing(message: &ClientMessage) -> Option<bool> {
    match message {
        // Challenges are never listed.
        ClientMessage::Create(create) => {
            let is_for_all = create.spectator_access.unwrap_or_default() == SpectatorAccess::Anyone;
            Some(create.listed.unwrap_or(true) && create.invited.is_none() && is_for_all)
        }
        ClientMessage::Seek(_) => Some(false),
        _ => None,
    }
}

/// Returns the match that a request refers to.
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
