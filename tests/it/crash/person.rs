//! Somebody who plays one match after the other, whatever becomes of the server.

use std::collections::HashMap;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::ledger::Move;
use super::world::{Gone, Line, World};
use crate::support::json_string;

/// What a request was.
#[derive(Debug)]
enum Asked {
    Begin,
    Play(Move),
    /// A move for a ply that is not next.
    Wrong(Move),
    Resign,
}

#[derive(Debug)]
pub(super) struct Person {
    rng: StdRng,
    name: String,
    /// The secret, and whether the server has reason to remember it.
    token: Option<String>,
    must_be_known: bool,
    id: String,
    /// The last move that was not answered: it is repeated after a crash.
    pending: Option<Move>,
    now: Now,
}

/// What is only so with one connection.
#[derive(Debug, Default)]
struct Now {
    asked: HashMap<u64, Asked>,
    /// The match that is being played, and the seat.
    table: Option<(String, u64)>,
    /// The match and the ply that were last moved at.
    acted: Option<(String, u64)>,
    /// A match was asked for.
    is_beginning: bool,
    /// So many snapshots come yet of matches that were being played.
    expected: usize,
}

impl Person {
    pub(super) fn new(number: usize, rng: StdRng) -> Self {
        Self {
            rng,
            name: format!("player {number}"),
            token: None,
            must_be_known: false,
            id: String::new(),
            pending: None,
            now: Now::default(),
        }
    }

    /// Plays until the server dies, or nothing is to be begun any more.
    pub(super) async fn play(&mut self, world: &World, url: &str) -> Result<(), Gone> {
        self.now = Now::default();
        let mut line = Line::open(world, url).await?;
        self.hello(&mut line).await?;
        if let Some(m) = self.pending.clone() {
            self.now.acted = Some((m.id.clone(), m.ply));
            self.ask(&mut line, Asked::Play(m)).await?;
        }
        loop {
            let is_idle = self.now.table.is_none()
                && self.now.expected == 0
                && self.now.asked.is_empty()
                && !self.now.is_beginning;
            if is_idle {
                if world.is_closing() {
                    return Ok(());
                }
                self.now.is_beginning = true;
                self.ask(&mut line, Asked::Begin).await?;
            }
            let message = line.receive().await?;
            self.hear(&mut line, &message).await?;
        }
    }

    async fn hello(&mut self, line: &mut Line<'_>) -> Result<(), Gone> {
        let hello = match &self.token {
            Some(token) => json!({"type": "hello", "token": token}),
            None => json!({"type": "hello", "name": self.name}),
        };
        line.send(hello).await?;
        let welcome = line.receive().await?;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        let id = json_string(&welcome["player"]["id"]);
        if welcome["resumed"] == true {
            line.world.ledger.borrow_mut().resumed();
            assert_eq!(id, self.id, "somebody else");
        } else {
            assert!(!self.must_be_known, "{} is not known any more", self.name);
        }
        self.id = id;
        self.token = Some(json_string(&welcome["token"]));
        let following = welcome["following"].as_array().expect("a list");
        assert!(following.len() <= 1, "never in two matches: {welcome}");
        self.now.expected = following.len();
        Ok(())
    }

    async fn ask(&mut self, line: &mut Line<'_>, asked: Asked) -> Result<(), Gone> {
        let request = match &asked {
            Asked::Begin => self.beginning(),
            Asked::Play(m) | Asked::Wrong(m) => {
                json!({"type": "move", "match": m.id, "ply": m.ply, "move": m.m})
            }
            Asked::Resign => {
                let (id, _) = self.now.table.as_ref().expect("seated");
                json!({"type": "resign", "match": id})
            }
        };
        let number = line.send(request).await?;
        self.now.asked.insert(number, asked);
        Ok(())
    }

    fn beginning(&mut self) -> Value {
        let bot = json!({"bot": "easy"});
        match self.rng.random_range(0..10) {
            0 => json!({"type": "create", "game": "connect-four", "seats": ["me", bot]}),
            1 => json!({"type": "create", "game": "tic-tac-toe", "seats": [bot, "me"]}),
            _ => json!({"type": "seek", "game": "tic-tac-toe", "bot": "easy", "bot_after_ms": 100}),
        }
    }

    async fn hear(&mut self, line: &mut Line<'_>, message: &Value) -> Result<(), Gone> {
        let answered = message["re"].as_u64();
        if let Some(asked) = answered.and_then(|re| self.now.asked.remove(&re)) {
            self.answered(line.world, asked, message);
        }
        match message["type"].as_str() {
            Some("match") => {
                let seat = message["you"].as_u64().expect("a seat");
                self.must_be_known = true;
                self.now.is_beginning = false;
                self.now.expected = self.now.expected.saturating_sub(1);
                if message["status"] == "ended" {
                    return Ok(());
                }
                assert_eq!(message["status"], "running", "{message}");
                self.now.table = Some((json_string(&message["match"]), seat));
                self.maybe_move(line, message, &message["ply"]).await
            }
            Some("started") => self.maybe_move(line, message, &message["ply"]).await,
            Some("moved") => {
                let next = message["ply"].as_u64().expect("a number") + 1;
                self.maybe_move(line, message, &next.into()).await
            }
            Some("ended") => {
                if self.is_at(message) {
                    self.now.table = None;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn answered(&mut self, world: &World, asked: Asked, answer: &Value) {
        let is_error = answer["type"] == "error";
        let code = answer["code"].as_str().unwrap_or_default();
        match asked {
            Asked::Begin => assert!(!is_error, "{answer}"),
            Asked::Play(m) => {
                if self.pending.as_ref() == Some(&m) {
                    self.pending = None;
                }
                if is_error {
                    assert_eq!(code, "match_ended", "{answer}");
                    world.ledger.borrow_mut().refused(m);
                } else {
                    let seq = answer["seq"].as_u64().expect("a number");
                    world.ledger.borrow_mut().acknowledged(m, seq);
                }
            }
            Asked::Wrong(m) => {
                assert!(["stale_ply", "match_ended"].contains(&code), "{answer}");
                world.ledger.borrow_mut().refused(m);
            }
            Asked::Resign => assert!(!is_error || code == "match_ended", "{answer}"),
        }
    }

    fn is_at(&self, message: &Value) -> bool {
        (self.now.table.as_ref()).is_some_and(|(id, _)| message["match"] == id.as_str())
    }

    /// Moves, or does something else, if it is this person's turn.
    async fn maybe_move(
        &mut self,
        line: &mut Line<'_>,
        message: &Value,
        ply: &Value,
    ) -> Result<(), Gone> {
        let Some((id, seat)) = self.now.table.clone() else {
            return Ok(());
        };
        let ply = ply.as_u64().expect("a number");
        let is_mine = self.is_at(message) && message["turn"] == seat;
        let acted = Some((id.clone(), ply));
        if !is_mine || self.now.acted == acted {
            return Ok(());
        }
        self.now.acted = acted;
        let dice = self.rng.random_range(0..100);
        if dice < 3 {
            line.world.ledger.borrow_mut().resigned(&id, &self.id);
            return self.ask(line, Asked::Resign).await;
        }
        let legal = message["legal"].as_array().expect("a list");
        let play = Move {
            id,
            player: self.id.clone(),
            ply,
            m: json_string(&legal[self.rng.random_range(0..legal.len())]),
        };
        if dice < 10 {
            // The other side's ply, at which this person cannot ever move.
            let ply = ply + 1;
            self.ask(
                line,
                Asked::Wrong(Move {
                    ply,
                    ..play.clone()
                }),
            )
            .await?;
        }
        line.world.ledger.borrow_mut().sent(&play);
        self.pending = Some(play.clone());
        self.ask(line, Asked::Play(play.clone())).await?;
        if dice >= 90 {
            self.ask(line, Asked::Play(play)).await?;
        }
        Ok(())
    }
}
