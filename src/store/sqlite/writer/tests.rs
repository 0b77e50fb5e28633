//! Tests of the writer thread. In some tests, a SQLite hook makes commits fail.

use std::path::Path;
use tempfile::TempDir;

use super::*;
use crate::conformance::{AT_MS, match_record, move_event, player, start_events};
use crate::sqlite::reader;
use plyhouse_engine::game::Seat;
use plyhouse_matches::EventKind;
use plyhouse_protocol::EndReason;

/// Creates the state of a writer thread without starting the thread.
fn new_writer(directory: &Path) -> WriterThread {
    let path = directory.join("plyhouse.db");
    WriterThread {
        connection: Some(schema::open(&path, directory).expect("opens")),
        path,
        retention: None,
        refused_tasks: 1,
        last_seqs: LastSeqs::new(),
        must_truncate_log: false,
        health: Arc::new(Health::default()),
    }
}

/// Writes the tasks in one batch and returns their results.
fn write_batch(writer: &mut WriterThread, tasks: Vec<WriteTask>) -> Vec<Result<(), WriteError>> {
    let (replies, jobs): (Vec<_>, Vec<_>) = tasks
        .into_iter()
        .map(|task| {
            let (reply, outcome) = oneshot::channel();
            (outcome, WriteJob { task, reply })
        })
        .unzip();
    writer.write(jobs);
    let replies = replies.into_iter();
    replies
        .map(|mut reply| reply.try_recv().expect("reply is sent").0)
        .collect()
}

fn append_task() -> WriteTask {
    WriteTask::Append {
        id: match_record(1, &player(1)).creation.id,
        after: Seq(1),
        events: start_events(),
        reminder: None,
        ended: None,
    }
}

fn writer_with_match() -> (WriterThread, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = new_writer(directory.path());
    let tasks = vec![
        WriteTask::Shared(SharedWrite::AddPlayer(player(1), vec![])),
        WriteTask::Create(match_record(1, &player(1))),
    ];
    assert_eq!(write_batch(&mut writer, tasks), [Ok(()), Ok(())]);
    (writer, directory)
}

/// A failed transaction leaves no data. The database is reopened, and the next write uses the new
/// connection.
#[test]
fn failed_commit_is_resolved_by_reading_database() {
    let (mut writer, _directory) = writer_with_match();
    let connection = writer.connection.as_mut().expect("open");
    connection
        .commit_hook(Some(|| true))
        .expect("the hook is set");
    let results = write_batch(&mut writer, vec![append_task(), append_task()]);
    assert_eq!(results, [Err(WriteError::Unavailable); 2]);
    assert!(!writer.health.is_writable());
    assert!(writer.health.is_certain());

    // The new connection has no hook.
    assert_eq!(write_batch(&mut writer, vec![append_task()]), [Ok(())]);
    assert!(writer.health.is_writable());
}

/// If the database cannot be reopened, the outcome of the batch is unknown and reads are refused.
#[test]
fn reads_are_uncertain_until_database_is_reopened() {
    let (mut writer, directory) = writer_with_match();
    let connection = writer.connection.as_mut().expect("open");
    connection
        .commit_hook(Some(|| true))
        .expect("the hook is set");
    let path = mem::replace(
        &mut writer.path,
        directory.path().join("nowhere/plyhouse.db"),
    );
    assert_eq!(
        write_batch(&mut writer, vec![append_task()]),
        [Err(WriteError::OutcomeUnknown)]
    );
    assert!(!writer.health.is_certain());
    // The writer refuses the second batch without writing anything, so the outcome of this batch is
    // known.
    let results = write_batch(&mut writer, vec![append_task()]);
    assert_eq!(results, [Err(WriteError::Unavailable)]);
    assert_eq!(writer.health.metrics.failures.get(), 2);

    writer.path = path;
    writer.run_maintenance();
    assert!(writer.health.is_certain());
    assert!(writer.health.is_writable());
    assert_eq!(write_batch(&mut writer, vec![append_task()]), [Ok(())]);
}

#[test]
fn uncertain_batch_is_resolved_task_by_task() {
    let (mut writer, _directory) = writer_with_match();
    write_batch(&mut writer, vec![append_task()]);
    let id = match_record(1, &player(1)).creation.id;
    let append_other = |after, events| WriteTask::Append {
        id,
        after,
        events,
        reminder: None,
        ended: None,
    };
    let tasks = [
        WriteTask::Shared(SharedWrite::AddPlayer(player(1), vec![])),
        WriteTask::Shared(SharedWrite::AddPlayer(player(2), vec![])),
        WriteTask::Create(match_record(1, &player(1))),
        WriteTask::Create(match_record(2, &player(1))),
        append_task(),
        append_other(Seq(3), vec![move_event(Seat::First, "b2")]),
        append_other(
            Seq(1),
            vec![
                move_event(Seat::First, "b2"),
                move_event(Seat::Second, "a1"),
            ],
        ),
    ];
    let tasks: Vec<&WriteTask> = tasks.iter().collect();
    let resolved = writer.resolve_outcomes(&tasks);
    let are_written: Vec<bool> = resolved.iter().map(Result::is_ok).collect();
    assert_eq!(are_written, [true, false, true, false, true, false, false]);
}

/// All events of a live match are loaded, even if the row of the match is out of date. Maintenance
/// updates `last_seq` in the row.
#[test]
fn last_seq_of_live_match_is_updated_by_maintenance() {
    let (mut writer, _directory) = writer_with_match();
    let id = match_record(1, &player(1)).creation.id;
    assert_eq!(write_batch(&mut writer, vec![append_task()]), [Ok(())]);
    let event_count_and_last_seq = |writer: &mut WriterThread| {
        let connection = writer.connection_or_reopen().expect("open");
        let read = reader::load(connection, id)
            .expect("not corrupt")
            .expect("exists");
        let sql = "SELECT last_seq FROM matches";
        let last: usize = connection
            .query_row(sql, [], |row| row.get(0))
            .expect("exists");
        (read.record.events.len(), last)
    };
    assert_eq!(event_count_and_last_seq(&mut writer), (3, 1));
    writer.run_maintenance();
    assert_eq!(event_count_and_last_seq(&mut writer), (3, 3));
    assert!(writer.last_seqs.is_empty());

    let ended = EventKind::untimed_end(None, EndReason::Aborted).at(AT_MS);
    let end_task = |after| WriteTask::Append {
        id,
        after,
        events: vec![ended.clone()],
        reminder: None,
        ended: None,
    };
    let moves = WriteTask::Append {
        id,
        after: Seq(3),
        events: vec![move_event(Seat::First, "b2")],
        reminder: None,
        ended: None,
    };
    assert_eq!(
        write_batch(&mut writer, vec![moves, end_task(Seq(4))]),
        [Ok(()), Ok(())]
    );
    assert_eq!(event_count_and_last_seq(&mut writer), (5, 5));
    assert!(writer.last_seqs.is_empty());
}

/// With only a few free pages, a small write succeeds and a write with the size of a batch fails.
#[test]
fn probe_needs_requested_number_of_free_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("plyhouse.db");
    let mut connection = schema::open(&path, directory.path()).expect("opens");
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("a number");
    let limit_free_pages = |connection: &Connection, free: i64| {
        connection.pragma_update_and_check(None, "max_page_count", pages + free, |_| Ok(()))
    };
    limit_free_pages(&connection, 4).expect("pragma is set");
    batch::probe(&mut connection, 4096).expect("there is room");
    let refused =
        batch::probe(&mut connection, PROBE_BYTES_PER_TASK).expect_err("there is no room");
    assert!(is_disk_error(&refused), "{refused}");
    limit_free_pages(&connection, 40).expect("pragma is set");
    batch::probe(&mut connection, PROBE_BYTES_PER_TASK).expect("there is room again");
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'disk_probe'";
    let remaining: i64 = connection
        .query_row(sql, [], |row| row.get(0))
        .expect("a number");
    assert_eq!(remaining, 0);
}
