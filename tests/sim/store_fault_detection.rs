//! Runs servers with faulty stores and asserts that the checker detects each fault.

use super::checker::{ViolationKind, check};
use super::fault_plan::Plan;
use super::store_faults::StoreFault;
use super::world;

/// Number of worlds per fault. Not every world triggers the fault.
const WORLD_COUNT: u64 = 60;

/// Asserts that the checker reports one of `kinds` in at least `at_least` worlds with this fault.
#[track_caller]
fn assert_detected(fault: StoreFault, at_least: usize, kinds: &[ViolationKind]) {
    let is_detected = |seed: &u64| {
        let mut plan = Plan::new(*seed);
        if fault == StoreFault::AcksBeforeSync {
            // Long syncs give clients time to receive updates that a crash then loses.
            plan.disk.sync_ms = 100..=400;
        }
        if matches!(
            fault,
            StoreFault::RatesTwice | StoreFault::NumbersRowTwice | StoreFault::NumbersRowEarly
        ) {
            plan.has_accounts = true;
        }
        if fault == StoreFault::OmitsDueReminders {
            plan = plan.ending_in_partition();
        }
        let result = world::run(plan, Some(fault));
        let (violations, _) = check(&result.history, &result.final_state);
        violations.iter().any(|fault| kinds.contains(&fault.kind))
    };
    let detected_count = (0..WORLD_COUNT).filter(is_detected).take(at_least).count();
    assert!(
        detected_count == at_least,
        "{fault:?} was detected in {detected_count} of {WORLD_COUNT} worlds"
    );
}

#[test]
fn ack_before_sync_is_detected() {
    assert_detected(
        StoreFault::AcksBeforeSync,
        8,
        &[ViolationKind::LostWrite, ViolationKind::StaleState],
    );
}

#[test]
fn lost_last_move_is_detected() {
    assert_detected(
        StoreFault::LosesLastMove,
        10,
        &[ViolationKind::LostWrite, ViolationKind::StaleState],
    );
}

#[test]
fn duplicated_move_is_detected() {
    assert_detected(
        StoreFault::DuplicatesMove,
        10,
        &[ViolationKind::DuplicateMove],
    );
}

#[test]
fn invented_move_is_detected() {
    assert_detected(
        StoreFault::InventsMove,
        10,
        &[
            ViolationKind::UnrequestedEvent,
            ViolationKind::MoveWithoutSeat,
        ],
    );
}

#[test]
fn changed_winner_is_detected() {
    assert_detected(
        StoreFault::ChangesWinner,
        10,
        &[ViolationKind::ConflictingResults],
    );
}

#[test]
fn lost_players_are_detected() {
    assert_detected(
        StoreFault::LosesPlayers,
        10,
        &[ViolationKind::UnknownMatchOrPlayer],
    );
}

#[test]
fn lost_match_is_detected() {
    assert_detected(StoreFault::LosesMatch, 10, &[ViolationKind::LostWrite]);
}

#[test]
fn applied_rejected_write_is_detected() {
    assert_detected(
        StoreFault::AppliesRejectedWrite,
        3,
        &[ViolationKind::AppliedRejectedRequest],
    );
}

#[test]
fn added_clock_time_is_detected() {
    assert_detected(StoreFault::AddsClockTime, 10, &[ViolationKind::WrongClock]);
}

#[test]
fn match_rated_twice_is_detected() {
    assert_detected(StoreFault::RatesTwice, 3, &[ViolationKind::WrongRating]);
}

#[test]
fn ledger_row_numbered_twice_is_detected() {
    assert_detected(
        StoreFault::NumbersRowTwice,
        3,
        &[ViolationKind::WrongRating],
    );
}

#[test]
fn ledger_row_numbered_before_delay_is_detected() {
    let kinds = [
        ViolationKind::WrongRating,
        ViolationKind::EarlySpectatorUpdate,
    ];
    assert_detected(StoreFault::NumbersRowEarly, 3, &kinds);
}

#[test]
fn omitted_due_reminder_is_detected() {
    assert_detected(
        StoreFault::OmitsDueReminders,
        3,
        &[ViolationKind::WrongClock],
    );
}
