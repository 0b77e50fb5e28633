//! The real server, killed again and again (`kill -9`) while people play, repeat, resign and watch.
//!
//! Whatever anybody was told is written into one [`Ledger`], across all lives of the server, and held
//! against whatever else was told, and in the end against what the store holds. When a server dies is
//! settled by a seed and counted in messages, never in time, so some are killed between a move and its
//! answer. How the machine orders what happens at once is not settled: a seed that fails may have to
//! be run a few times.
//!
//! A killed process loses nothing that it has handed to the system, so a missing sync does not show
//! here.

mod clocks;
mod ledger;
mod person;
mod ratings;
mod world;

use std::path::Path;
use std::process::Stdio;

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::person::Person;
use self::world::{Doom, Kind, World};
use crate::real_sockets::{plyhouse_command, start_server};

/// How often the server is killed while it is used, unless `CRASH_KILLS` says otherwise. `tests/run --all` kills
/// it more often.
const KILLS: usize = 16;

const PEOPLE: usize = 8;

const WATCHERS: usize = 2;

#[tokio::test]
async fn nothing_that_was_told_is_lost() {
    let seed = std::env::var("CRASH_SEED");
    let seed = seed.map_or(1, |seed| seed.parse().expect("a number"));
    // Shown if it fails.
    println!("CRASH_SEED={seed} cargo test --test it crash");
    let kills = std::env::var("CRASH_KILLS");
    let kills = kills.map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let world = World::default();
    let mut people: Vec<Person> = (0..PEOPLE)
        .map(|number| Person::new(number, StdRng::seed_from_u64(rng.random())))
        .collect();

    for kill in 0..kills {
        if kill % 6 == 5 {
            // One that does not even come to listen.
            let mut process = plyhouse_command(&["--data", data, "--listen", "127.0.0.1:0"])
                .stderr(Stdio::null())
                .spawn()
                .expect("started");
            process.start_kill().expect("it runs");
            process.wait().await.expect("it ends");
        }
        let (process, url) = serve(data).await;
        let kind = [Kind::Welcomed, Kind::Sent, Kind::Answered, Kind::Told][rng.random_range(0..4)];
        let most = match kind {
            Kind::Welcomed => PEOPLE,
            Kind::Sent | Kind::Answered => 60,
            Kind::Told => 150,
        };
        world.begin(Doom::new(kind, rng.random_range(0..most), process));
        let watchers: Vec<StdRng> = (0..WATCHERS)
            .map(|_| StdRng::seed_from_u64(rng.random()))
            .collect();
        let watching = watchers.into_iter().map(|rng| world.watch(&url, rng));
        let playing = people.iter_mut().map(|person| person.play(&world, &url));
        let (_, played) = tokio::join!(join_all(watching), join_all(playing));
        assert!(played.iter().all(Result::is_err), "nobody stops by himself");
        world.end().await;
    }

    // Now everybody plays to the end, and begins nothing more.
    let (process, url) = serve(data).await;
    world.begin(Doom::never(process));
    world.close();
    let played = join_all(people.iter_mut().map(|person| person.play(&world, &url))).await;
    assert!(played.iter().all(Result::is_ok), "somebody was cut off");
    world.kill();
    world.end().await;

    let verified = run("verify", directory.path()).await;
    println!("{verified}");
    let exported = run("export", directory.path()).await;
    let counts = world.check(&exported);
    println!("{counts:?}");
    assert!(counts.acknowledged > 4 * kills, "{counts:?}");
    assert!(counts.repeated > kills / 5, "{counts:?}");
    assert!(
        counts.matches > kills / 3 && counts.events > 10 * kills,
        "{counts:?}"
    );
    assert!(counts.resumed > 2 * kills, "{counts:?}");
    assert!(counts.refused > kills / 10, "{counts:?}");
}

/// A server of this store, and where it is reached.
async fn serve(data: &str) -> (tokio::process::Child, String) {
    let options = ["--data", data, "--search-threads", "1", "--log", "warn"];
    let unhurried = ["--requests-per-second", "1000000", "--burst", "1000000"];
    let (process, address) = start_server(&[&options[..], &unhurried[..]].concat()).await;
    (process, format!("ws://{address}/ws"))
}

/// What a command that must succeed says of the store.
async fn run(what: &str, directory: &Path) -> String {
    let mut command = plyhouse_command(&[what, "--data"]);
    let output = command.arg(directory).output().await.expect("started");
    let said = String::from_utf8(output.stdout).expect("text");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {said}{complaints}");
    said
}
