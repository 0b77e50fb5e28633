//! Packets that servers of an earlier release sent. `tests/data/fixtures/README.md` describes the file.

use std::collections::BTreeSet;

use plyhouse_matches::{Action, EventKind};
use plyhouse_protocol::{ChatContent, Reason};

use super::*;
use crate::cluster::Answered;
use crate::match_handle::command::MatchRequest;
use crate::wire::fixtures::check_bytes;

const CAPTURED: &str = include_str!("../../../../tests/data/fixtures/packets");

/// The texts of what was captured: of packets, or of answers to them.
fn captured(side: &str) -> impl Iterator<Item = &'static str> {
    CAPTURED.lines().filter_map(move |line| {
        let (found, rest) = line.split_once('\t').expect("three columns");
        let (_, body) = rest.split_once('\t').expect("three columns");
        (found == side).then_some(body)
    })
}

fn packets() -> Vec<Packet> {
    captured("packet").map(check_bytes).collect()
}

/// The commands that servers handed on to the owner of a match.
fn commands() -> Vec<Command> {
    let command = |packet| match packet {
        Packet::Ask { command, .. } => Some(*command),
        _ => None,
    };
    packets().into_iter().filter_map(command).collect()
}

/// The variants of an enum by name: those that servers send each other, and those that never leave one. A new
/// variant does not compile until it is listed here, and the tests fail until a packet with it is captured.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($sent:ident),+; $($kept:ident),*) => {
        const $all: &[&str] = &[$(stringify!($sent)),+];

        fn $name(value: &$type) -> &'static str {
            match value {
                $($type::$sent { .. } => stringify!($sent),)+
                $($type::$kept { .. } => panic!("it never leaves a server: {value:?}"),)*
            }
        }
    };
}

variants!(
    PACKETS, packet_name, Packet:
    Ask, Follow, ReplicaUpdate, Take, OwnerChanged, Ping, WhoIs, Leaving, Connected, SessionsEnded, PlayerRenamed, Blocks, Rated, PlayerDeleted,
    Forgotten, Shown, Notice;
);
variants!(NOTICES, notice_name, Notification: Involved, SeeksElsewhere, Paired, SessionAdded, Turn;);
variants!(ANSWERS, answer_name, Answered: Done, Here, Alive, Connected, NotHere;);
variants!(SESSIONS, sessions_name, Sessions: One, AllBut, AllButKeysAnd, All;);
variants!(
    REQUESTS, request_name, MatchRequest:
    Act, Rematch, DeclineRematch, Say, GiveUp;
    Watch, Show, Resync, Unfollow, Forget, Look, Remind, StoreRefuses, StoreAccepts, RematchBegins, Follow, ReplicaUpdate,
    Gap, OwnerChanged, NodeGone, NodesChanged, Rated
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

/// Time stands still: a command has the age of its request, which would be another by the time it is written.
#[tokio::test(start_paused = true)]
async fn captured_packets_are_written_again_byte_for_byte() {
    let (packets, answers) = (captured("packet"), captured("answer"));
    let packets = packets.map(check_bytes::<Packet>).count();
    let answers = answers.map(check_bytes::<Answered>).count();
    assert_eq!(packets + answers, CAPTURED.lines().count());
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_packet_is_captured() {
    let packets = packets();
    check_all(&packets, PACKETS, packet_name);
    let answers: Vec<Answered> = captured("answer").map(check_bytes).collect();
    check_all(&answers, ANSWERS, answer_name);
    let (mut notices, mut sessions, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for packet in packets {
        match packet {
            Packet::Notice { notice, .. } => notices.push(notice),
            Packet::SessionsEnded { which, .. } => sessions.push(which),
            Packet::ReplicaUpdate { bulletin, .. } => events.extend(bulletin.published.events),
            _ => {}
        }
    }
    check_all(&notices, NOTICES, notice_name);
    check_all(&sessions, SESSIONS, sessions_name);
    let kinds: Vec<EventKind> = events.into_iter().map(|event| event.kind).collect();
    check_all(&kinds, EVENTS, event_name);
    let requests: Vec<MatchRequest> = (commands().into_iter())
        .map(|command| command.request)
        .collect();
    check_all(&requests, REQUESTS, request_name);
    let actions = requests.into_iter().filter_map(|request| match request {
        MatchRequest::Act(action) => Some(action),
        _ => None,
    });
    check_all(&actions.collect::<Vec<_>>(), ACTIONS, action_name);
}

#[tokio::test(start_paused = true)]
async fn captured_commands_have_the_values_of_their_requests() {
    let commands = commands();
    for command in &commands {
        let relayed = command.relayed.expect("another server asks");
        assert_ne!(relayed.by.0, uuid::Uuid::nil());
        assert!(command.received_at <= crate::context::clock::now());
    }
    assert!(commands.iter().any(|command| command.rtt_us.is_some()));
    assert!(commands.iter().any(|command| command.cmd > 0));
    let has = |fits: &dyn Fn(&MatchRequest) -> bool| {
        commands.iter().any(|command| fits(&command.request))
    };
    assert!(has(&|request| {
        let MatchRequest::Say { saying, .. } = request else {
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
async fn captured_bulletins_have_what_happened_was_said_and_was_thought() {
    let fed = |packet| match packet {
        Packet::ReplicaUpdate { bulletin, .. } => Some(*bulletin),
        _ => None,
    };
    let bulletins: Vec<_> = packets().into_iter().filter_map(fed).collect();
    let lines = bulletins.iter().flat_map(|bulletin| &bulletin.said);
    assert!(lines.clone().any(|line| line.among_players));
    assert!(lines.clone().all(|line| line.by.0 != uuid::Uuid::nil()));
    let thoughts = bulletins
        .iter()
        .filter_map(|bulletin| bulletin.thinking.as_ref());
    assert!(thoughts.count() > 0);
    assert!(bulletins.iter().any(|bulletin| bulletin.epoch == 1));
    assert!(bulletins.iter().any(|bulletin| bulletin.is_clock_news));
    let standings = || bulletins.iter().map(|bulletin| &bulletin.standing);
    assert!(standings().any(|standing| standing.time.is_some_and(|time| time.turn_ms > 0)));
    assert!(standings().any(|standing| standing.rematch.is_some()));
    assert!(standings().any(|standing| standing.gone_ms.iter().any(Option::is_some)));
    let events = bulletins
        .iter()
        .flat_map(|bulletin| &bulletin.published.events);
    assert!(events.clone().any(|event| event.request.is_some()));
    let is_resignation = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Ended {
                reason: Reason::Resignation,
                winner: Some(_),
                ..
            }
        )
    };
    assert!(events.clone().any(|event| is_resignation(&event.kind)));
}

#[tokio::test(start_paused = true)]
async fn captured_news_of_players_have_their_values() {
    let mut ratings = 0;
    for packet in packets() {
        match packet {
            Packet::PlayerRenamed { player } => {
                assert!(player.account && !player.bot, "{player:?}");
                assert!(["ann", "bob"].contains(&&*player.name), "{player:?}");
            }
            Packet::Forgotten { name, .. } => assert!(["jim", "erik"].contains(&&*name), "{name}"),
            Packet::Rated { verdict, .. } => ratings += verdict.changes.len(),
            Packet::Notice {
                notice: Notification::SessionAdded { text },
                ..
            } => assert!(text.contains(r#""type":"session_added""#), "{text}"),
            Packet::Notice {
                notice: Notification::Turn { text, .. },
                ..
            } => assert!(text.contains(r#""type":"your_turn""#), "{text}"),
            Packet::Shown(listings) => assert!(!listings.is_empty()),
            _ => {}
        }
    }
    assert!(ratings >= 2, "no change of a rating");
}
