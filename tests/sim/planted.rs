//! Servers with stores that break their promise: the checker has to find out.

use super::checker::{Kind, check};
use super::flaw::Flaw;
use super::plan::Plan;
use super::world;

/// How many worlds each flaw is put into. Not every world gives it an opportunity.
const WORLDS: u64 = 60;

/// Puts a flaw into worlds, and asks that it is found in this many, under one of these names.
#[track_caller]
fn is_found(flaw: Flaw, at_least: usize, names: &[Kind]) {
    let found = |seed: &u64| {
        let mut plan = Plan::new(*seed);
        if flaw == Flaw::AnswersEarly {
            // Long enough for people to hear of what is going to be lost.
            plan.disk.sync_ms = 100..=400;
        }
        if matches!(
            flaw,
            Flaw::RatesTwice | Flaw::NumbersTwice | Flaw::NumbersEarly
        ) {
            plan.has_accounts = true;
        }
        if flaw == Flaw::WakesNobody {
            plan = plan.deserted();
        }
        let ended = world::run(plan, Some(flaw));
        let (faults, _) = check(&ended.history, &ended.kept);
        faults.iter().any(|fault| names.contains(&fault.kind))
    };
    let worlds = (0..WORLDS).filter(found).take(at_least).count();
    assert!(
        worlds == at_least,
        "{flaw:?} is found in {worlds} of {WORLDS} worlds"
    );
}

#[test]
fn an_answer_before_the_sync() {
    is_found(Flaw::AnswersEarly, 8, &[Kind::Lost, Kind::WentBack]);
}

#[test]
fn a_lost_tail() {
    is_found(Flaw::LosesTail, 10, &[Kind::Lost, Kind::WentBack]);
}

#[test]
fn a_doubled_move() {
    is_found(Flaw::DoublesMove, 10, &[Kind::PlayedTwice]);
}

#[test]
fn an_invented_move() {
    is_found(
        Flaw::InventsMove,
        10,
        &[Kind::FromNowhere, Kind::WithoutSeat],
    );
}

#[test]
fn another_winner() {
    is_found(Flaw::ChangesWinner, 10, &[Kind::TwoResults]);
}

#[test]
fn forgotten_players() {
    is_found(Flaw::ForgetsPlayers, 10, &[Kind::Forgotten]);
}

#[test]
fn a_forgotten_match() {
    is_found(Flaw::ForgetsMatch, 10, &[Kind::Lost]);
}

#[test]
fn a_refusal_that_was_written() {
    is_found(Flaw::WritesWhatItRefuses, 3, &[Kind::Refused]);
}

#[test]
fn a_gift_of_time() {
    is_found(Flaw::GivesTime, 10, &[Kind::WrongClock]);
}

#[test]
fn a_match_that_is_rated_twice() {
    is_found(Flaw::RatesTwice, 3, &[Kind::WrongRating]);
}

#[test]
fn a_match_that_is_numbered_twice() {
    is_found(Flaw::NumbersTwice, 3, &[Kind::WrongRating]);
}

#[test]
fn a_match_that_is_numbered_before_its_delay_is_over() {
    let names = [Kind::WrongRating, Kind::TooSoon];
    is_found(Flaw::NumbersEarly, 3, &names);
}

#[test]
fn a_match_that_nobody_wakes() {
    is_found(Flaw::WakesNobody, 3, &[Kind::WrongClock]);
}
