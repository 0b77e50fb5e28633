//! Client that plays one match after another with random moves, across restarts of the server.

use std::collections::HashMap;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::harness::{CrashHarness, RecordedConnection, ServerKilled};
use super::observed_history::PlayerMove;
use crate::support::json_string;

/// Request that was sent on a connection.
#[derive(Debug)]
enum SentRequest {
    StartMatch,
    PlayMove(PlayerMove),
    /// A move with a wrong ply number, which the server must refuse.
    PlayWrongPly(PlayerMove),
    Resign,
}

#[derive(Debug)]
pub(super) struct RandomPlayer {
    rng: StdRng,
    name: String,
    /// Session token. If `must_resume` is set, the server must resume the session when the client
    /// presents the token.
    token: Option<String>,
    must_resume: bool,
    id: String,
    /// Last move that the server has not answered. The player sends it again after a crash.
    unanswered_move: Option<PlayerMove>,
    connection_state: ConnectionState,
}

/// State of a single connection.
#[derive(Debug, Default)]
struct ConnectionState {
    pending_requests: HashMap<u64, SentRequest>,
    /// Current match and the player's seat in it.
    current_match: Option<(String, u64)>,
    /// Match and ply of the last turn that the player acted on.
    last_turn: Option<(String, u64)>,
    /// Whether a new match was requested and has not started yet.
    is_starting_match: bool,
    /// Number of snapshots of running matches that the player must still receive before it may
    /// request a new match.
    expected_snapshots: usize,
}

impl RandomPlayer {
    pub(super) fn new(number: usize, rng: StdRng) -> Self {
        Self {
            rng,
            name: format!("player {number}"),
            token: None,
            must_resume: false,
            id: String::new(),
            unanswered_move: None,
            connection_state: ConnectionState::default(),
        }
    }

    /// Plays matches until the server is killed or the test stops new matches.
    pub(super) async fn play_matches(
        &mut self,
        harness: &CrashHarness,
        url: &str,
    ) -> Result<(), ServerKilled> {
        self.connection_state = ConnectionState::default();
        let mut connection = RecordedConnection::open(harness, url).await?;
        self.log_in(&mut connection).await?;
        if let Some(m) = self.unanswered_move.clone() {
            self.connection_state.last_turn = Some((m.match_id.clone(), m.ply));
            self.send_request(&mut connection, SentRequest::PlayMove(m))
                .await?;
        }
        loop {
            let is_idle = self.connection_state.current_match.is_none()
                && self.connection_state.expected_snapshots == 0
                && self.connection_state.pending_requests.is_empty()
                && !self.connection_state.is_starting_match;
            if is_idle {
                if harness.is_closing() {
                    return Ok(());
                }
                self.connection_state.is_starting_match = true;
                self.send_request(&mut connection, SentRequest::StartMatch)
                    .await?;
            }
            let message = connection.receive().await?;
            self.handle_message(&mut connection, &message).await?;
        }
    }

    async fn log_in(
        &mut self,
        connection: &mut RecordedConnection<'_>,
    ) -> Result<(), ServerKilled> {
        let hello = match &self.token {
            Some(token) => json!({"type": "hello", "token": token}),
            None => json!({"type": "hello", "name": self.name}),
        };
        connection.send(hello).await?;
        let welcome = connection.receive().await?;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        let id = json_string(&welcome["player"]["id"]);
        if welcome["resumed"] == true {
            connection.harness.history.borrow_mut().count_resume();
            assert_eq!(id, self.id, "resumed as another player");
        } else {
            assert!(!self.must_resume, "{} could not resume", self.name);
        }
        self.id = id;
        self.token = Some(json_string(&welcome["token"]));
        let followed = welcome["following"].as_array().expect("a list");
        assert!(
            followed.len() <= 1,
            "a player is in one match at a time: {welcome}"
        );
        self.connection_state.expected_snapshots = followed.len();
        Ok(())
    }

    async fn send_request(
        &mut self,
        connection: &mut RecordedConnection<'_>,
        sent_request: SentRequest,
    ) -> Result<(), ServerKilled> {
        let request = match &sent_request {
            SentRequest::StartMatch => self.start_request(),
            SentRequest::PlayMove(m) | SentRequest::PlayWrongPly(m) => {
                json!({"type": "move", "match": m.match_id, "ply": m.ply, "move": m.m})
            }
            SentRequest::Resign => {
                let (id, _) = self
                    .connection_state
                    .current_match
                    .as_ref()
                    .expect("seated");
                json!({"type": "resign", "match": id})
            }
        };
        let request_id = connection.send(request).await?;
        self.connection_state
            .pending_requests
            .insert(request_id, sent_request);
        Ok(())
    }

    fn start_request(&mut self) -> Value {
        let bot = json!({"bot": "easy"});
        match self.rng.random_range(0..10) {
            0 => json!({"type": "create", "game": "connect-four", "seats": ["me", bot]}),
            1 => json!({"type": "create", "game": "tic-tac-toe", "seats": [bot, "me"]}),
            _ => json!({"type": "seek", "game": "tic-tac-toe", "bot": "easy", "bot_after_ms": 100}),
        }
    }

    async fn handle_message(
        &mut self,
        connection: &mut RecordedConnection<'_>,
        message: &Value,
    ) -> Result<(), ServerKilled> {
        let answered_id = message["re"].as_u64();
        if let Some(sent_request) =
            answered_id.and_then(|re| self.connection_state.pending_requests.remove(&re))
        {
            self.handle_answer(connection.harness, sent_request, message);
        }
        match message["type"].as_str() {
            Some("match") => {
                let seat = message["you"].as_u64().expect("a seat");
                self.must_resume = true;
                self.connection_state.is_starting_match = false;
                self.connection_state.expected_snapshots =
                    self.connection_state.expected_snapshots.saturating_sub(1);
                if message["status"] == "ended" {
                    return Ok(());
                }
                assert_eq!(message["status"], "running", "{message}");
                self.connection_state.current_match = Some((json_string(&message["match"]), seat));
                self.act_on_turn(connection, message, &message["ply"]).await
            }
            Some("started") => self.act_on_turn(connection, message, &message["ply"]).await,
            Some("moved") => {
                let next_ply = message["ply"].as_u64().expect("a number") + 1;
                self.act_on_turn(connection, message, &next_ply.into())
                    .await
            }
            Some("ended") => {
                if self.is_current_match(message) {
                    self.connection_state.current_match = None;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn handle_answer(&mut self, harness: &CrashHarness, sent_request: SentRequest, answer: &Value) {
        let is_error = answer["type"] == "error";
        let code = answer["code"].as_str().unwrap_or_default();
        match sent_request {
            SentRequest::StartMatch => assert!(!is_error, "{answer}"),
            SentRequest::PlayMove(m) => {
                if self.unanswered_move.as_ref() == Some(&m) {
                    self.unanswered_move = None;
                }
                if is_error {
                    assert_eq!(code, "match_ended", "{answer}");
                    harness.history.borrow_mut().record_refused_move(m);
                } else {
                    let seq = answer["seq"].as_u64().expect("a number");
                    harness
                        .history
                        .borrow_mut()
                        .record_acknowledged_move(m, seq);
                }
            }
            SentRequest::PlayWrongPly(m) => {
                assert!(["stale_ply", "match_ended"].contains(&code), "{answer}");
                harness.history.borrow_mut().record_refused_move(m);
            }
            SentRequest::Resign => assert!(!is_error || code == "match_ended", "{answer}"),
        }
    }

    fn is_current_match(&self, message: &Value) -> bool {
        (self.connection_state.current_match.as_ref())
            .is_some_and(|(id, _)| message["match"] == id.as_str())
    }

    /// Plays a move or resigns if it is this player's turn.
    async fn act_on_turn(
        &mut self,
        connection: &mut RecordedConnection<'_>,
        message: &Value,
        ply: &Value,
    ) -> Result<(), ServerKilled> {
        let Some((id, seat)) = self.connection_state.current_match.clone() else {
            return Ok(());
        };
        let ply = ply.as_u64().expect("a number");
        let is_own_turn = self.is_current_match(message) && message["turn"] == seat;
        let turn = Some((id.clone(), ply));
        if !is_own_turn || self.connection_state.last_turn == turn {
            return Ok(());
        }
        self.connection_state.last_turn = turn;
        let roll = self.rng.random_range(0..100);
        if roll < 3 {
            connection
                .harness
                .history
                .borrow_mut()
                .record_resignation(&id, &self.id);
            return self.send_request(connection, SentRequest::Resign).await;
        }
        let legal = message["legal"].as_array().expect("a list");
        let player_move = PlayerMove {
            match_id: id,
            player: self.id.clone(),
            ply,
            m: json_string(&legal[self.rng.random_range(0..legal.len())]),
        };
        if roll < 10 {
            // The next ply is the opponent's turn, so the server must refuse this player's move for
            // it.
            let ply = ply + 1;
            self.send_request(
                connection,
                SentRequest::PlayWrongPly(PlayerMove {
                    ply,
                    ..player_move.clone()
                }),
            )
            .await?;
        }
        connection
            .harness
            .history
            .borrow_mut()
            .record_sent_move(&player_move);
        self.unanswered_move = Some(player_move.clone());
        self.send_request(connection, SentRequest::PlayMove(player_move.clone()))
            .await?;
        if roll >= 90 {
            self.send_request(connection, SentRequest::PlayMove(player_move))
                .await?;
        }
        Ok(())
    }
}
