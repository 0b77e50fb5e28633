//! `ply history`, `games` and `show`: list ended and current matches, and show a single match.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, EndReason, Event, HistoryRequest, HistoryRow, MatchRef, MatchStatus, Ply, Seq,
    ServerMessage, Snapshot,
};

use crate::CommandContext;
use crate::args::HistoryArguments;
use crate::exit::Failure;
use crate::line_terminal::columns;
use crate::login_and_devices::{SignedInPlayer, open_as_player_or_guest, unexpected_response};
use crate::sanitize::sanitize;
use crate::view::{self, STRONG, paint};

/// Prints ended matches. The match that ended last comes first.
pub(crate) async fn show_history(
    context: &CommandContext,
    arguments: HistoryArguments,
) -> Result<(), Failure> {
    let mut client = match arguments.player {
        Some(_) => open_as_player_or_guest(context).await?,
        None => SignedInPlayer::sign_in(context, false).await?.client,
    };
    let history = ClientMessage::History(Box::new(HistoryRequest {
        player: arguments.player,
        game: arguments.game,
        with: arguments.opponent,
        result: arguments.result,
        before: arguments.before.as_deref().map(MatchRef::from),
        limit: Some(arguments.limit),
    }));
    let ServerMessage::History { rows, more, .. } = client.request(history).await? else {
        return Err(unexpected_response());
    };
    if rows.is_empty() {
        client.print("No matches found.")?;
    }
    for row in &rows {
        client.print(&history_line(row))?;
    }
    if let Some(last) = rows.last().filter(|_| more) {
        let text = format!("… more with --before {}", last.match_id);
        client.print(&text)?;
    }
    client.close().await;
    Ok(())
}

pub(crate) fn history_line(row: &HistoryRow) -> String {
    let other = row.seats.get(row.you.other().index());
    let other = other.map_or_else(String::new, |seat| view::occupant_text(&seat.occupant));
    let result = match (row.outcome.winner, row.outcome.reason) {
        (Some(winner), _) if winner == row.you => "won",
        (Some(_), _) => "lost",
        (None, Some(EndReason::Aborted | EndReason::Abandonment)) => "aborted",
        (None, _) => "drawn",
    };
    format!(
        "{}  {}{}  {result} against {other}, {} move{}  ply show {}",
        view::format_utc_minute(row.ended_ms),
        sanitize(&row.game),
        view::from_position_label(row.from_position),
        row.plies,
        if row.plies == 1 { "" } else { "s" },
        row.match_id,
    )
}

/// Prints the player's current matches. Matches where the player is to move come first.
pub(crate) async fn show_current_games(context: &CommandContext) -> Result<(), Failure> {
    let mut known = SignedInPlayer::sign_in(context, false).await?;
    let mut matches = Vec::new();
    for followed in known.followed_matches.clone() {
        let snapshot = known.fetch_match(followed.match_id.into()).await?;
        let due_ms = followed.correspondence.and_then(|days| days.deadline_ms);
        matches.push((snapshot, due_ms));
    }
    let is_my_turn = |snapshot: &Snapshot| snapshot.you.is_some() && snapshot.turn == snapshot.you;
    matches.sort_by_key(|(now, due_ms)| (!is_my_turn(now), due_ms.unwrap_or(u64::MAX)));
    if matches.is_empty() {
        known.client.print("You have no current matches.")?;
    }
    let option = context.server.command_options();
    for (now, due_ms) in &matches {
        let has_stand_in = view::has_stand_in(now, known.player_id);
        let turn = match now.status {
            _ if has_stand_in => "a bot is playing for you".to_owned(),
            MatchStatus::Open => "waiting for an opponent".to_owned(),
            MatchStatus::Running | MatchStatus::Ended if is_my_turn(now) => {
                paint(STRONG, "your turn")
            }
            MatchStatus::Running | MatchStatus::Ended => view::turn_text(now),
        };
        let deadline_text = due_ms.map_or_else(String::new, |at_ms| {
            format!(", due {}", view::format_utc_minute(at_ms))
        });
        let command = match has_stand_in || now.you.is_some() {
            true => format!("  ply join {}{option}", sanitize(&now.code)),
            false => String::new(),
        };
        let text = format!(
            "{}: {turn}{deadline_text}{command}",
            view::headline(now, None)
        );
        known.client.print(&text)?;
    }
    known.client.close().await;
    Ok(())
}

/// Prints the current state of a match. If `ply` is given, prints the state after that number of
/// moves instead.
pub(crate) async fn show_match(
    context: &CommandContext,
    code: &str,
    ply: Option<u64>,
) -> Result<(), Failure> {
    let mut known = SignedInPlayer::sign_in(context, true).await?;
    let mut now = known.fetch_match(MatchRef::from(code)).await?;
    if let Some(ply) = ply {
        known.rewind_to_ply(&mut now, ply).await?;
    }
    let game = known.games.iter().find(|game| game.game == now.game);
    let mut text = view::headline(&now, game);
    text.push_str(&view::render_match(&now, game, columns(), Duration::ZERO));
    if let Some(start) = &now.initial_position {
        text.push_str(&format!("Starting position: {}\n", sanitize(start)));
    }
    text.push_str(&view::move_list(&now));
    if let Some(outcome) = now.outcome.as_ref().filter(|_| ply.is_none()) {
        text.push('\n');
        text.push_str(&view::outcome_text(&now, outcome));
    }
    if let Some(format) = game.and_then(|game| game.record_extension.as_ref()) {
        let path = format!("/record/{}.{}", now.match_id, sanitize(format));
        let address = context.server.web_url(&path);
        text.extend(address.map(|address| format!("\nDownload: {}", sanitize(&address))));
    }
    known.client.finish(&text).await
}

impl SignedInPlayer {
    pub(crate) async fn fetch_match(&mut self, target: MatchRef) -> Result<Snapshot, Failure> {
        match self.client.request(ClientMessage::Watch { target }).await? {
            ServerMessage::Match(snapshot) => Ok(*snapshot),
            _ => Err(unexpected_response()),
        }
    }

    /// Fetches all events of a match. A long match needs several requests.
    async fn fetch_events(&mut self, snapshot: &Snapshot) -> Result<Vec<Event>, Failure> {
        let mut all_events = Vec::new();
        while all_events.last().map_or(Seq(0), Event::seq) < snapshot.seq {
            let resync = ClientMessage::Resync {
                target: MatchRef::Id(snapshot.match_id),
                since: all_events.last().map_or(Seq(0), Event::seq),
            };
            match self.client.request(resync).await? {
                ServerMessage::Events { events, .. } if !events.is_empty() => {
                    all_events.extend(events)
                }
                _ => {
                    let why = "earlier positions are not available until the match has ended";
                    return Err(Failure::Refused(why.to_owned()));
                }
            }
        }
        Ok(all_events)
    }

    /// Rewinds the snapshot to the state after the given number of moves.
    async fn rewind_to_ply(&mut self, snapshot: &mut Snapshot, ply: u64) -> Result<(), Failure> {
        if ply > snapshot.ply.0 {
            let s = if snapshot.ply.0 == 1 { "" } else { "s" };
            let why = format!(
                "invalid --ply {ply}: the match has {} move{s}",
                snapshot.ply
            );
            return Err(Failure::Refused(why));
        }
        let positions = positions_by_ply(&self.fetch_events(snapshot).await?);
        let index = usize::try_from(ply).unwrap_or(usize::MAX);
        let position = positions.get(index).ok_or_else(unexpected_response)?;
        snapshot.position.clone_from(position);
        snapshot.moves.truncate(index);
        snapshot.check = false;
        if let Some(sans) = &mut snapshot.san {
            sans.truncate(index);
        }
        (snapshot.ply, snapshot.turn, snapshot.outcome) = (Ply(ply), None, None);
        Ok(())
    }
}

/// Returns the position at each ply. The positions after moves that were taken back are omitted.
fn positions_by_ply(events: &[Event]) -> Vec<String> {
    let mut positions = Vec::new();
    for event in events {
        match event {
            Event::Started { position, .. } => positions = vec![position.clone()],
            Event::Moved { position, .. } => positions.push(position.clone()),
            Event::TakenBack { ply, .. } => {
                let plies = usize::try_from(ply.0).unwrap_or(usize::MAX);
                positions.truncate(plies.saturating_add(1));
            }
            _ => {}
        }
    }
    positions
}
