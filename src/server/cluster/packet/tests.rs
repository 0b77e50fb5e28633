//! Tests with packets that servers of an earlier release sent. `tests/data/fixtures/README.md`
//! describes the fixture file.

use std::collections::BTreeSet;

use plyhouse_matches::{Action, EventKind};
use plyhouse_protocol::{ChatContent, EndReason};

use super::*;
use crate::cluster::PacketResponse;
use crate::match_handle::command::{Control, MatchRequest};
use crate::wire::compat_fixtures::assert_round_trip_bytes;

const CAPTURED: &str = include_str!("../../../../tests/data/fixtures/packets");

/// Returns the captured messages of one kind. `side` names the kind as in the fixture file, where
/// it is either `packet` or `answer`.
fn captured(side: &str) -> impl Iterator<Item = &'static str> {
    CAPTURED.lines().filter_map(move |line| {
        let (found, rest) = line.split_once('\t').expect("three columns");
        let (_, body) = rest.split_once('\t').expect("three columns");
        (found == side).then_some(body)
    })
}

fn packets() -> Vec<Packet> {
    captured("packet").map(assert_round_trip_bytes).collect()
}

/// Commands that servers forwarded to the owner of a match.
fn commands() -> Vec<Command> {
    let command = |packet| match packet {
        Packet::Request { command, .. } => Some(*command),
        _ => None,
    };
    packets().into_iter().filter_map(command).collect()
}

/// Defines a list of the enum variants that servers send each other, and a function that returns a
/// variant's name. The variants after the semicolon are never sent to another server. A new variant
/// must be listed before or after the semicolon, otherwise the code does not compile. If servers
/// send the new variant, the tests fail until the fixture file contains an example of it.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($sent:ident),+; $($kept:ident),*) => {
        const $all: &[&str] = &[$(stringify!($sent)),+];

        fn $name(value: &$type) -> &'static str {
            match value {
                $($type::$sent { .. } => stringify!($sent),)+
                $($type::$kept { .. } => panic!("variant is never sent: {value:?}"),)*
            }
        }
    };
}

variants!(
    PACKETS, packet_name, Packet:
    Request, Follow, ReplicaUpdate, HandOver, OwnerChanged, Ping, GetConnectedSessions, NodeStopping, PlayerConnected, SessionsEnded, PlayerRenamed, BlockChanged, MatchRated, PlayerDeleted,
    NameErased, ListingsChanged, NotifyPlayer;
);
variants!(NOTIFICATIONS, notification_name, Notification: ParticipationAdded, SeekMoved, SeekPaired, SessionAdded, YourTurn;);
variants!(ANSWERS, answer_name, PacketResponse: MatchAnswer, Accepted, Pong, ConnectedSessions, NotOwner;);
variants!(SESSIONS, sessions_name, SessionSelection: One, AllBut, AllButKeysAnd, All;);
variants!(
    REQUESTS, request_name, MatchRequest:
    Act, OfferRematch, DeclineRematch, SendChat, Control;
    Watch, PushSnapshot, Resync, Unfollow
);
variants!(
    CONTROLS, control_name, Control:
    ResignIdleBotGame;
    EraseName, CheckTimers, StoreUnavailable, StoreAvailable, RematchCreated, Follow, ReplicaUpdate,
    CatchUp, OwnerChanged, NodeUnreachable, NodesChanged, RatingUpdated
);
variants!(
    ACTIONS, action_name, Action:
    Join, Leave, SeatBot, RemoveBot, Play, Resign, AbortByPlayer, OfferDraw, OfferTakeback, Decline, DeclineChallenge,
    GiveTime, Hint;
    PlayAsBot, ResignAsBot, AnswerDrawAsBot, Abandon, StandIn, Flag, NoFirstMove, Abort
);
variants!(
    EVENTS, event_name, EventKind:
    Seated, Started, Moved, Offered, Declined, TakenBack, TimeGiven, Hinted, Ended;
);

fn check_all<T>(values: &[T], every: &[&str], name: impl Fn(&T) -> &'static str) {
    let found: BTreeSet<&str> = values.iter().map(name).collect();
    assert_eq!(found, every.iter().copied().collect());
}

/// The tokio clock is paused, because a serialized command contains the age of its request.
#[tokio::test(start_paused = true)]
async fn captured_packets_round_trip_byte_for_byte() {
    let (packets, answers) = (captured("packet"), captured("answer"));
    let packets = packets.map(assert_round_trip_bytes::<Packet>).count();
    let answers = answers
        .map(assert_round_trip_bytes::<PacketResponse>)
        .count();
    assert_eq!(packets + answers, CAPTURED.lines().count());
}

#[tokio::test(start_paused = true)]
async fn captures_cover_every_packet_variant() {
    let packets = packets();
    check_all(&packets, PACKETS, packet_name);
    let answers: Vec<PacketResponse> = captured("answer").map(assert_round_trip_bytes).collect();
    check_all(&answers, ANSWERS, answer_name);
    let (mut notifications, mut sessions, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for packet in packets {
        match packet {
            Packet::NotifyPlayer { notification, .. } => notifications.push(notification),
            Packet::SessionsEnded { which, .. } => sessions.push(which),
            Packet::ReplicaUpdate { update, .. } => events.extend(update.published.events),
            _ => {}
        }
    }
    check_all(&notifications, NOTIFICATIONS, notification_name);
    check_all(&sessions, SESSIONS, sessions_name);
    let kinds: Vec<EventKind> = events.into_iter().map(|event| event.kind).collect();
    check_all(&kinds, EVENTS, event_name);
    let requests: Vec<MatchRequest> = (commands().into_iter())
        .map(|command| command.request)
        .collect();
    check_all(&requests, REQUESTS, request_name);
    let (mut actions, mut controls) = (Vec::new(), Vec::new());
    for request in requests {
        match request {
            MatchRequest::Act(action) => actions.push(action),
            MatchRequest::Control(control) => controls.push(control),
            _ => {}
        }
    }
    check_all(&actions, ACTIONS, action_name);
    check_all(&controls, CONTROLS, control_name);
}

#[tokio::test(start_paused = true)]
async fn captured_commands_decode_with_request_values() {
    let commands = commands();
    for command in &commands {
        let relayed = command.relay.expect("the command was relayed");
        assert_ne!(relayed.node.0, uuid::Uuid::nil());
        assert!(command.received_at <= crate::context::clock_and_rng::now());
    }
    assert!(commands.iter().any(|command| command.rtt_us.is_some()));
    assert!(commands.iter().any(|command| command.request_number > 0));
    let has = |fits: &dyn Fn(&MatchRequest) -> bool| {
        commands.iter().any(|command| fits(&command.request))
    };
    assert!(has(&|request| {
        let MatchRequest::SendChat { saying, .. } = request else {
            return false;
        };
        matches!(saying, ChatContent::Text(text) if text.as_str() == "a good opening")
    }));
    assert!(has(&|request| {
        matches!(
            request,
            MatchRequest::Act(Action::GiveTime { ms: 5000, .. })
        )
    }));
    assert!(has(&|request| {
        matches!(request, MatchRequest::Act(Action::Play { m, .. }) if m == "e7e5")
    }));
    assert!(has(&|request| {
        let MatchRequest::Act(Action::OfferTakeback { ply, to_ply, .. }) = request else {
            return false;
        };
        (ply.0, to_ply.map(|ply| ply.0)) == (4, Some(3))
    }));
}

#[tokio::test(start_paused = true)]
async fn captured_updates_contain_events_chat_and_bot_thinking() {
    let replica_update = |packet| match packet {
        Packet::ReplicaUpdate { update, .. } => Some(*update),
        _ => None,
    };
    let updates: Vec<_> = packets().into_iter().filter_map(replica_update).collect();
    let chat_messages = updates.iter().flat_map(|bulletin| &bulletin.chat_messages);
    assert!(chat_messages.clone().any(|line| line.is_players_only));
    assert!(
        chat_messages
            .clone()
            .all(|line| line.player.0 != uuid::Uuid::nil())
    );
    let thinking_updates = updates
        .iter()
        .filter_map(|bulletin| bulletin.thinking.as_ref());
    assert!(thinking_updates.count() > 0);
    assert!(updates.iter().any(|bulletin| bulletin.epoch == 1));
    assert!(updates.iter().any(|bulletin| bulletin.is_clock_changed));
    let standings = || updates.iter().map(|bulletin| &bulletin.transient_state);
    assert!(standings().any(|standing| standing.turn_time.is_some_and(|time| time.turn_ms > 0)));
    assert!(standings().any(|standing| standing.rematch.is_some()));
    assert!(standings().any(|standing| standing.absence_left_ms.iter().any(Option::is_some)));
    let events = updates
        .iter()
        .flat_map(|bulletin| &bulletin.published.events);
    assert!(events.clone().any(|event| event.request.is_some()));
    let is_resignation = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Ended {
                reason: EndReason::Resignation,
                winner: Some(_),
                ..
            }
        )
    };
    assert!(events.clone().any(|event| is_resignation(&event.kind)));
}

#[tokio::test(start_paused = true)]
async fn captured_player_notifications_decode_with_expected_values() {
    let mut ratings = 0;
    for packet in packets() {
        match packet {
            Packet::PlayerRenamed { player } => {
                assert!(player.account && !player.bot, "{player:?}");
                assert!(["ann", "bob"].contains(&&*player.name), "{player:?}");
            }
            Packet::NameErased { name, .. } => assert!(["jim", "erik"].contains(&&*name), "{name}"),
            Packet::MatchRated { rating_update, .. } => ratings += rating_update.changes.len(),
            Packet::NotifyPlayer {
                notification: Notification::SessionAdded { text },
                ..
            } => assert!(text.contains(r#""type":"session_added""#), "{text}"),
            Packet::NotifyPlayer {
                notification: Notification::YourTurn { text, .. },
                ..
            } => assert!(text.contains(r#""type":"your_turn""#), "{text}"),
            Packet::ListingsChanged(listings) => assert!(!listings.is_empty()),
            _ => {}
        }
    }
    assert!(ratings >= 2, "no change of a rating");
}
