//! One world: the real server on a simulated host, clients on others, a network between them, and
//! one clock. Nothing in it depends on anything but its seed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use plyhouse_server::{SearchMode, Server, Settings};
use plyhouse_transport::Transport;
use turmoil::Sim;
use turmoil::net::TcpListener;

use super::base::Base;
use super::client::Client;
use super::dice::Dice;
use super::flaw::Flaw;
use super::history::{History, What};
use super::plan::{DISK, FaultPlan, Plan};
use super::plug::{Plug, Plugged};
use super::store::{Kept, SimStore};

pub(crate) const SERVER: &str = "server";
pub(crate) const PORT: u16 = 7878;

/// How far the world goes at a time. Messages arrive, and fates befall, between two steps; what
/// waits for a timer within a host is as exact as tokio's.
const STEP: Duration = Duration::from_millis(5);

/// How long a match of days goes on after a restart whose time is over.
pub(crate) const RESTART_GRACE: Duration = Duration::from_millis(300);

/// What is played.
pub(crate) const GAMES: [&str; 2] = ["tic-tac-toe", "connect-four"];

/// Positions with which matches of them begin, in which the one or the other is to move.
pub(crate) const STARTS: [(&str, &str); 4] = [
    ("tic-tac-toe", ".../.x./..."),
    ("tic-tac-toe", "x../.o./..."),
    (
        "connect-four",
        "......./......./......./......./......./...r...",
    ),
    (
        "connect-four",
        "......./......./......./......./...y.../...r...",
    ),
];

/// The least time that a message takes.
pub(crate) const LATENCY_MIN: Duration = Duration::from_millis(1);

/// A world that is not at its end by then is stuck.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// When every world begins, in milliseconds since 1970: the year 2026.
pub(crate) const BEGINS_MS: u64 = 1_767_225_600_000;

/// A world with one server.
#[derive(Debug)]
struct World {
    base: Rc<Base>,
    plan: Plan,
    store: SimStore,
    boots: Cell<u64>,
    /// For how long nobody has been there, all in all: by so much the wall clock is ahead of the world's.
    away: Cell<Duration>,
    plug: RefCell<Plug>,
    /// How long messages of each client take, where the plan has changed it.
    slow: RefCell<BTreeMap<usize, Duration>>,
    crashes_in_play: Cell<usize>,
}

/// A world that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) history: History,
    pub(crate) kept: Kept,
    /// How often the server died while matches were live.
    pub(crate) crashes_in_play: usize,
    /// Why the world did not come to its end, if it did not.
    pub(crate) stuck: Option<String>,
}

/// Lets the world of a plan run to its end.
pub(crate) fn run(plan: Plan, flaw: Option<Flaw>) -> Ended {
    let base = Rc::new(Base::new(
        plan.seed,
        (plan.calm_at, Duration::ZERO),
        vec![SERVER.to_owned()],
    ));
    let world = Rc::new(World {
        store: SimStore::new(plan.disk.clone(), Dice::new(plan.seed, DISK), flaw),
        base: Rc::clone(&base),
        boots: Cell::default(),
        away: Cell::default(),
        plug: RefCell::default(),
        slow: RefCell::default(),
        crashes_in_play: Cell::default(),
        plan,
    });
    let plan = &world.plan;
    let mut sim = turmoil::Builder::new()
        .rng_seed(plan.seed)
        .epoch(UNIX_EPOCH + Duration::from_millis(BEGINS_MS))
        .tick_duration(STEP)
        .simulation_duration(LONGEST)
        .min_message_latency(LATENCY_MIN)
        .max_message_latency(plan.latency_max)
        .enable_random_order()
        .build();
    let served = Rc::clone(&world);
    sim.host(SERVER, move || serve(Rc::clone(&served)));
    for (place, role) in plan.clients.iter().enumerate() {
        let mut client = Client::new(Rc::clone(&base), place, *role);
        if plan.has_accounts {
            client = client.with_account(world.store.with_account(place));
        }
        sim.client(name(place), client.live());
    }
    let stuck = pass(&mut sim, &world).err();
    let kept = world.store.kept(sim.elapsed(), plan.lag_compensation);
    drop(sim);
    Ended {
        history: base.history.take(),
        kept,
        crashes_in_play: world.crashes_in_play.get(),
        stuck,
    }
}

/// What the client at this place is called.
pub(crate) fn name(place: usize) -> String {
    ["ann", "bob", "cat", "dan", "eve"][place].to_owned()
}

/// Lets time pass until every client has had its last look.
fn pass(sim: &mut Sim<'_>, world: &World) -> Result<(), String> {
    let mut fates = world.plan.fates.iter().peekable();
    loop {
        while let Some((_, fate)) = fates.next_if(|(at, _)| *at <= sim.elapsed()) {
            world.befall(sim, *fate);
        }
        if sim.step().map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
}

async fn serve(world: Rc<World>) -> turmoil::Result {
    world.boots.set(world.boots.get() + 1);
    let plug = Plug::default();
    world.plug.replace(plug.clone());
    let server = Server::start(
        settings(&world),
        Arc::new(world.store.clone()),
        &plyhouse_store::StoreMetrics::default(),
    )?;
    server.recover().await?;
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    let transport = Transport::new(server.clone());
    loop {
        let (stream, _) = listener.accept().await?;
        let stream = Plugged::new(stream, plug.clone());
        let transport = transport.clone();
        server.spawn(async move { transport.serve_stream(stream, None).await });
    }
}

/// A server's settings, with waits that a world of a few seconds lives to see.
fn settings(world: &World) -> Settings {
    let now = turmoil::sim_elapsed().expect("the server is a host of the world");
    // Not the seed of the last time: nobody is to get a token that somebody has.
    let seed = world.plan.seed ^ world.boots.get() << 48;
    Settings {
        lag_compensation: world.plan.lag_compensation,
        ..impatient(seed, now + world.away.get())
    }
}

/// Settings with waits that a world of a few seconds lives to see, at this time of its wall clock.
pub(crate) fn impatient(seed: u64, wall: Duration) -> Settings {
    Settings {
        abandon_after: Some(Duration::from_millis(1500)),
        linger: Duration::from_millis(400),
        restart_grace: RESTART_GRACE,
        ping_interval: Duration::from_millis(400),
        idle_timeout: Duration::from_millis(1200),
        handshake_timeout: Duration::from_millis(800),
        close_timeout: Duration::from_millis(200),
        search: SearchMode::Inline,
        search_table: 1 << 16,
        seed: Some(seed),
        started_ms: u64::try_from(wall.as_millis())
            .ok()
            .map(|ms| BEGINS_MS + ms),
        ..Settings::default()
    }
}

impl World {
    /// Lets the world suffer what the plan has in store for it.
    fn befall(&self, sim: &mut Sim<'_>, fate: FaultPlan) {
        let clients = || (0..self.plan.clients.len()).map(name);
        match fate {
            FaultPlan::Kill => return self.crash(sim, fate),
            FaultPlan::CutPower => {
                clients().for_each(|client| sim.partition(SERVER, client));
                return self.crash(sim, fate);
            }
            FaultPlan::Restart(away) => {
                self.away.set(self.away.get() + away);
                self.base.note_at(sim.elapsed(), What::Away(away));
                sim.bounce(SERVER);
                clients().for_each(|client| sim.release(SERVER, client));
                return self.base.note_at(sim.elapsed(), What::Restart);
            }
            FaultPlan::Hold(place) => sim.hold(SERVER, name(place)),
            FaultPlan::Part(place) => sim.partition(SERVER, name(place)),
            FaultPlan::Release(place) | FaultPlan::Join(place) => sim.release(SERVER, name(place)),
            FaultPlan::Slow(place, latency) => {
                self.slow.borrow_mut().insert(place, latency);
                sim.set_link_latency(SERVER, name(place), latency);
            }
        }
        self.base
            .note_at(sim.elapsed(), What::Fate(format!("{fate:?}")));
    }

    fn crash(&self, sim: &mut Sim<'_>, how: FaultPlan) {
        self.plug.borrow().pull();
        let live = self.store.live_matches();
        let lost = self.store.crash(sim.elapsed());
        // The server's sockets close in the order of a hash map. What they say must not take a time
        // that depends on the order.
        for place in 0..self.plan.clients.len() {
            sim.set_link_latency(SERVER, name(place), LATENCY_MIN);
        }
        sim.crash(SERVER);
        for place in 0..self.plan.clients.len() {
            match self.slow.borrow().get(&place) {
                Some(latency) => sim.set_link_latency(SERVER, name(place), *latency),
                None => {
                    let latency = self.plan.latency_max;
                    sim.set_link_max_message_latency(SERVER, name(place), latency);
                }
            }
        }
        if live > 0 {
            self.crashes_in_play.set(self.crashes_in_play.get() + 1);
        }
        let what = format!("{how:?}: {live} matches are live, {lost} writes are lost");
        self.base.note_at(sim.elapsed(), What::Crash(what));
    }
}
