//! What the writer does when a sync fails, with a connection whose commits are made to fail.

use std::path::Path;
use tempfile::TempDir;

use super::*;
use crate::conformance::{AT_MS, match_record, move_event, player, start_events};
use crate::sqlite::reader;
use plyhouse_engine::game::Seat;
use plyhouse_matches::EventKind;
use plyhouse_protocol::Reason;

/// A writer without its thread.
fn work(directory: &Path) -> Work {
    let path = directory.join("plyhouse.db");
    Work {
        connection: Some(schema::open(&path, directory).expect("it opens")),
        path,
        keep_ended: None,
        refused_tasks: 1,
        heads: Heads::new(),
        has_traces: false,
        condition: Arc::new(Condition::default()),
    }
}

/// Has these written in one batch, and gives the answers.
fn write(work: &mut Work, tasks: Vec<Task>) -> Vec<Result<(), WriteError>> {
    let (answers, jobs): (Vec<_>, Vec<_>) = tasks
        .into_iter()
        .map(|task| {
            let (answer, written) = oneshot::channel();
            (written, Job { task, answer })
        })
        .unzip();
    work.write(jobs);
    let answers = answers.into_iter();
    answers
        .map(|mut answer| answer.try_recv().expect("answered").0)
        .collect()
}

fn append() -> Task {
    Task::Append {
        id: match_record(1, &player(1)).creation.id,
        after: Seq(1),
        events: start_events(),
        reminder: None,
    }
}

fn begun() -> (Work, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut work = work(directory.path());
    let tasks = vec![
        Task::AddPlayer(player(1), vec![]),
        Task::Create(match_record(1, &player(1))),
    ];
    assert_eq!(write(&mut work, tasks), [Ok(()), Ok(())]);
    (work, directory)
}

/// Nothing of a transaction that did not come about is there, and the file is opened anew: the
/// next write is none of the failed connection's.
#[test]
fn after_a_commit_that_failed_what_is_there_is_read() {
    let (mut work, _kept) = begun();
    let connection = work.connection.as_mut().expect("open");
    connection
        .commit_hook(Some(|| true))
        .expect("the hook is set");
    let answers = write(&mut work, vec![append(), append()]);
    assert_eq!(answers, [Err(WriteError::Unavailable); 2]);
    assert!(!work.condition.has_kept());
    assert!(work.condition.is_certain());

    // The new connection has no hook.
    assert_eq!(write(&mut work, vec![append()]), [Ok(())]);
    assert!(work.condition.has_kept());
}

/// Where the file cannot be opened anew, nobody is told anything, and nothing is read either.
#[test]
fn while_the_file_cannot_be_opened_nothing_is_certain() {
    let (mut work, kept) = begun();
    let connection = work.connection.as_mut().expect("open");
    connection
        .commit_hook(Some(|| true))
        .expect("the hook is set");
    let path = mem::replace(&mut work.path, kept.path().join("nowhere/plyhouse.db"));
    assert_eq!(write(&mut work, vec![append()]), [Err(WriteError::Unknown)]);
    assert!(!work.condition.is_certain());
    // Nothing was tried, so that much is known.
    let answers = write(&mut work, vec![append()]);
    assert_eq!(answers, [Err(WriteError::Unavailable)]);
    assert_eq!(work.condition.metrics.failures.get(), 2);

    work.path = path;
    work.look_around();
    assert!(work.condition.is_certain());
    assert!(work.condition.has_kept());
    assert_eq!(write(&mut work, vec![append()]), [Ok(())]);
}

/// What has become of a batch is told task by task.
#[test]
fn what_is_there_is_told_task_by_task() {
    let (mut work, _kept) = begun();
    write(&mut work, vec![append()]);
    let id = match_record(1, &player(1)).creation.id;
    let other = |after, events| Task::Append {
        id,
        after,
        events,
        reminder: None,
    };
    let tasks = [
        Task::AddPlayer(player(1), vec![]),
        Task::AddPlayer(player(2), vec![]),
        Task::Create(match_record(1, &player(1))),
        Task::Create(match_record(2, &player(1))),
        append(),
        other(Seq(3), vec![move_event(Seat::First, "b2")]),
        other(
            Seq(1),
            vec![
                move_event(Seat::First, "b2"),
                move_event(Seat::Second, "a1"),
            ],
        ),
    ];
    let tasks: Vec<&Task> = tasks.iter().collect();
    let found = work.what_is_there(&tasks);
    let are_there: Vec<bool> = found.iter().map(Result::is_ok).collect();
    assert_eq!(are_there, [true, false, true, false, true, false, false]);
}

/// A match that goes on is read whole, whatever its row tells, and its row tells it soon.
#[test]
fn the_row_of_a_match_catches_up() {
    let (mut work, _kept) = begun();
    let id = match_record(1, &player(1)).creation.id;
    assert_eq!(write(&mut work, vec![append()]), [Ok(())]);
    let told = |work: &mut Work| {
        let connection = work.reopened().expect("open");
        let read = reader::load(connection, id).expect("sound").expect("there");
        let sql = "SELECT last_seq FROM matches";
        let last: usize = connection
            .query_row(sql, [], |row| row.get(0))
            .expect("there");
        (read.record.events.len(), last)
    };
    assert_eq!(told(&mut work), (3, 1));
    work.look_around();
    assert_eq!(told(&mut work), (3, 3));
    assert!(work.heads.is_empty());

    let ended = EventKind::ended(None, Reason::Aborted).at(AT_MS);
    let end = |after| Task::Append {
        id,
        after,
        events: vec![ended.clone()],
        reminder: None,
    };
    let moves = Task::Append {
        id,
        after: Seq(3),
        events: vec![move_event(Seat::First, "b2")],
        reminder: None,
    };
    assert_eq!(write(&mut work, vec![moves, end(Seq(4))]), [Ok(()), Ok(())]);
    assert_eq!(told(&mut work), (5, 5));
    assert!(work.heads.is_empty());
}

/// Where only a few pages are free, a small write still succeeds, and that of a real batch does not.
#[test]
fn a_probe_writes_as_much_as_it_is_asked_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("plyhouse.db");
    let mut connection = schema::open(&path, directory.path()).expect("it opens");
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("a number");
    let limit = |connection: &Connection, free: i64| {
        connection.pragma_update_and_check(None, "max_page_count", pages + free, |_| Ok(()))
    };
    limit(&connection, 4).expect("it is set");
    batch::probe(&mut connection, 4096).expect("there is room");
    let refused = batch::probe(&mut connection, TASK_BYTES).expect_err("there is no room");
    assert!(is_of_the_disk(&refused), "{refused}");
    limit(&connection, 40).expect("it is set");
    batch::probe(&mut connection, TASK_BYTES).expect("there is room again");
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'disk_probe'";
    let left: i64 = connection
        .query_row(sql, [], |row| row.get(0))
        .expect("a number");
    assert_eq!(left, 0);
}
