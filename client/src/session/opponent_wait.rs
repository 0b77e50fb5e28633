//! Wait for an opponent: prints how others can join, and adds a bot at the user's request.

use std::net::IpAddr;
use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, MatchStatus, Occupant, SeatFill, SeatNumber, SeekRequest, Snapshot,
};

use super::{Goal, PlaySession, REQUEST_PENDING_NOTICE, Stage};
use crate::sanitize::sanitize;
use crate::view;
use crate::view::{STRONG, paint};

/// Default time that a seek waits for another player before a bot joins, in milliseconds.
const DEFAULT_BOT_AFTER_MS: u64 = 10_000;

/// Returns a notice if the URL has a loopback address, which other machines cannot open. Returns an
/// empty string for any other URL.
fn loopback_notice(web_url: &str) -> String {
    let Some(port) = loopback_port(web_url) else {
        return String::new();
    };
    let command = paint(STRONG, &format!("plyhouse --listen 0.0.0.0:{port}"));
    format!(
        "\n\nThis address works only on this computer. To let others join, the server must accept\nconnections from them:\n\n    \
         {command}\n\nYour friend needs this computer's network address, or your router's public\n\
         address. Pass that address to ply with --server, and ply prints the right link."
    )
}

/// Returns the port of a URL such as `http://127.0.0.1:7878` if the host of the URL is this
/// machine.
fn loopback_port(web_url: &str) -> Option<u16> {
    let (scheme, rest) = web_url.split_once("://")?;
    let authority = rest.split('/').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_loopback = address.is_ok_and(|address| address.is_loopback());
    (is_loopback || host.eq_ignore_ascii_case("localhost")).then_some(port)
}

impl PlaySession {
    /// Prints how others can take the open seat, and how to add a bot.
    pub(super) fn print_invitation(&mut self) {
        let Some(snapshot) = self.snapshot() else {
            return;
        };
        let Some(you) = snapshot.you else {
            return self.print_turn();
        };
        if open_seat(snapshot).is_none() {
            return;
        }
        let side = view::side_text(snapshot, you);
        let code = paint(STRONG, &sanitize(&snapshot.code));
        let command = paint(STRONG, &self.join_command(&snapshot.code));
        let web_url = self.options.web_url.as_ref();
        let link = web_url.map_or_else(String::new, |page| {
            let link = format!("{page}/m/{}", snapshot.code);
            let (link, notice) = (paint(STRONG, &sanitize(&link)), loopback_notice(page));
            format!("\n\nor in a browser at\n\n    {link}{notice}")
        });
        let is_private_invitation =
            matches!(&self.goal, Goal::Play(plan) if plan.options.invited.is_some());
        let friend = match is_private_invitation {
            true => "The invited player can join with",
            false => "A friend can join with",
        };
        let listed = match snapshot.listed {
            true => " It is also in the list of open matches.",
            false => "",
        };
        let bot = self.bot_instructions(snapshot.rated);
        self.print(format!(
            "You are {side}. The code is {code}.{listed}\n\
             {friend}\n\n    {command}{link}\n\n\
             Waiting for an opponent; {bot}"
        ));
    }

    /// Prints the game and the clock of the current seek, and how a bot can join.
    pub(super) fn print_seek_status(&mut self) {
        let Stage::AwaitingMatch {
            seek: Some(ClientMessage::Seek(seek)),
            ..
        } = &self.stage
        else {
            return;
        };
        if seek.bot_after_ms == Some(0) {
            return; // A bot joins immediately, so no waiting message is needed.
        }
        let game = self.game_summary(&seek.game);
        let title = sanitize(game.map_or(&seek.game, |game| &game.title));
        let clock = seek.clock.map(|clock| clock.to_notation());
        let clock = clock.map_or_else(String::new, |clock| format!("{clock}, "));
        let is_rated = seek.rated == Some(true);
        let rated = view::rated_label(is_rated);
        let then = match &seek.bot {
            Some(level) => {
                let after =
                    Duration::from_millis(seek.bot_after_ms.unwrap_or(DEFAULT_BOT_AFTER_MS));
                let (level, after) = (sanitize(level), view::duration_text(after));
                format!("If no one joins within {after}, you play the {level} bot.")
            }
            None => format!(
                "Waiting for a player with the same settings; {}",
                self.bot_instructions(is_rated)
            ),
        };
        self.print(format!(
            "Looking for an opponent: {title} ({clock}{rated}, random side) …\n{then}"
        ));
    }

    /// Returns the part of the waiting message that explains whether and how the user can add a
    /// bot.
    fn bot_instructions(&self, is_rated: bool) -> String {
        let (bot, quit) = (paint(STRONG, "bot easy"), paint(STRONG, "quit"));
        match (self.options.interactive, is_rated) {
            (false, _) => "no bot joins automatically.".to_owned(),
            (true, true) => format!("bots do not play rated matches.\nType {quit} to leave."),
            (true, false) => format!(
                "no bot joins automatically.\n\
                 Type {bot} (or another level) to play a bot now, or {quit} to leave."
            ),
        }
    }

    /// Handles a line that the user types during a seek.
    pub(super) fn on_line_while_seeking(&mut self, line: &str) {
        let bot = parse_bot_command(line);
        let Stage::AwaitingMatch { seek, .. } = &self.stage else {
            return;
        };
        match (seek.clone(), bot) {
            (Some(ClientMessage::Seek(seek)), Some(level)) => self.seek_bot(*seek, &level),
            (Some(_), None) if self.pending_request.is_none() => self.print_seek_status(),
            (Some(_) | None, _) => self.print("Still waiting; type `quit` to stop."),
        }
    }

    /// Changes the seek so that the server pairs the player with a bot immediately. Prints an error
    /// if the seek is rated or for a correspondence match.
    fn seek_bot(&mut self, seek: SeekRequest, level: &str) {
        if seek.rated == Some(true) {
            return self
                .print_error("Bots do not play rated matches; type `quit` to stop looking.");
        }
        if seek.clock.is_some_and(|clock| clock.is_correspondence()) {
            return self
                .print_error("Bots do not play correspondence; type `quit` to stop looking.");
        }
        let Some(level) = self.resolve_bot_level(level) else {
            return;
        };
        self.request_match(ClientMessage::Seek(Box::new(SeekRequest {
            bot: Some(level),
            bot_after_ms: Some(0),
            ..seek
        })));
    }

    /// Adds a bot to the open seat if the line is a `bot` command. Returns false for any other
    /// line.
    pub(super) fn run_bot_command(&mut self, snapshot: &Snapshot, line: &str) -> bool {
        let Some(level) = parse_bot_command(line) else {
            return false;
        };
        let seat = open_seat(snapshot)
            .filter(|_| snapshot.status == MatchStatus::Open && snapshot.you.is_some());
        let Some(seat) = seat else {
            self.print_error("No open seat for a bot.");
            return true;
        };
        if self.pending_request.is_some() {
            self.print_error(REQUEST_PENDING_NOTICE);
            return true;
        }
        if let Some(level) = self.resolve_bot_level(&level) {
            self.send_request(ClientMessage::Seat {
                target: snapshot.match_id.into(),
                seat,
                occupant: SeatFill::Bot(level),
            });
        }
        true
    }

    /// Returns the level with this name, or the middle level for an empty name. Prints an error if
    /// the level does not exist.
    fn resolve_bot_level(&mut self, typed: &str) -> Option<String> {
        let middle = self.middle_level_index();
        let level = match typed {
            "" => self.levels().nth(middle).map(|(level, _)| level),
            typed => self.parse_level(typed),
        };
        if level.is_none() {
            let levels: Vec<String> = self.levels().map(|(level, _)| sanitize(&level)).collect();
            let (typed, levels) = (sanitize(typed), levels.join(", "));
            let text = format!("There is no level '{typed}'; choose one of {levels}.");
            self.print_error(&text);
        }
        level
    }
}

/// Parses a `bot` command and returns its level, which may be empty. Returns `None` for other
/// lines.
fn parse_bot_command(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let is_bot = words.next()?.eq_ignore_ascii_case("bot");
    is_bot.then(|| words.collect::<Vec<_>>().join(" ").to_lowercase())
}

fn open_seat(snapshot: &Snapshot) -> Option<SeatNumber> {
    let mut seats = (0..2).map(SeatNumber).zip(&snapshot.seats);
    let (seat, _) = seats.find(|(_, state)| state.occupant == Occupant::Open)?;
    Some(seat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_port_is_found_only_for_local_hosts() {
        for (page, port) in [
            ("http://127.0.0.1:7878", Some(7878)),
            ("http://127.8.9.1:80/house", Some(80)),
            ("http://[::1]:7879", Some(7879)),
            ("http://[::1]", Some(80)),
            ("https://localhost", Some(443)),
            ("http://LocalHost:7878", Some(7878)),
            ("http://192.168.1.5:7878", None),
            ("http://0.0.0.0:7878", None),
            ("https://play.example.org", None),
            ("https://localhost.example.org", None),
            ("http://[2001:db8::1]:7878", None),
        ] {
            assert_eq!(loopback_port(page), port, "{page}");
        }
        assert!(loopback_notice("http://[::1]:7879").contains("plyhouse --listen 0.0.0.0:7879"));
        assert_eq!(loopback_notice("https://play.example.org"), "");
    }
}
