//! `ply profile` and `ply leaders`: show the profile of a player, or a leaderboard.

use plyhouse_protocol::{
    ClientMessage, LeaderboardRequest, LeaderboardRow, PlayerName, PoolRating, Profile,
    ServerMessage,
};

use crate::CommandContext;
use crate::args::LeadersArguments;
use crate::exit::Failure;
use crate::history;
use crate::login_and_devices::{SignedInPlayer, open_as_player_or_guest, unexpected_response};
use crate::sanitize::sanitize;
use crate::view;

/// Prints the profile of the player with this name or id. Without a target, prints the user's own
/// profile.
pub(crate) async fn show_profile(
    context: &CommandContext,
    target: Option<String>,
) -> Result<(), Failure> {
    let mut client = match target {
        Some(_) => open_as_player_or_guest(context).await?,
        None => SignedInPlayer::sign_in(context, false).await?.client,
    };
    // Treat the target as a player id if it is not a valid name. Player ids are too long to be
    // names.
    let (name, player) = match target {
        Some(text) if text.parse::<PlayerName>().is_err() => (None, Some(text)),
        name => (name, None),
    };
    let request = ClientMessage::Profile { name, player };
    let ServerMessage::Profile { profile, .. } = client.request(request).await? else {
        return Err(unexpected_response());
    };
    client.print(&profile_text(&profile))?;
    for row in &profile.recent_matches {
        client.print(&history::history_line(row))?;
    }
    client.close().await;
    Ok(())
}

/// Prints one page of a leaderboard.
pub(crate) async fn show_leaderboard(
    context: &CommandContext,
    arguments: LeadersArguments,
) -> Result<(), Failure> {
    let mut client = open_as_player_or_guest(context).await?;
    let message = ClientMessage::Leaderboard(Box::new(LeaderboardRequest {
        game: arguments.game,
        pool: Some(arguments.pool),
        limit: Some(arguments.limit),
        after: arguments.after,
    }));
    let ServerMessage::Leaderboard { total, rows, .. } = client.request(message).await? else {
        return Err(unexpected_response());
    };
    if rows.is_empty() {
        client.print("No ranked players.")?;
    }
    for row in &rows {
        client.print(&leaderboard_line(row))?;
    }
    let last = rows.last().map_or(total, |row| row.place);
    if last < total {
        let text = format!("… of {total}; more with --after {last}");
        client.print(&text)?;
    }
    client.close().await;
    Ok(())
}

fn leaderboard_line(row: &LeaderboardRow) -> String {
    format!(
        "{:>3}. {:>4} ± {:<3} {} ({})",
        row.place,
        row.rating,
        row.deviation,
        sanitize(&row.player.name),
        rated_match_count(row.games)
    )
}

fn rated_match_count(count: u64) -> String {
    let plural = if count == 1 { "" } else { "es" };
    format!("{count} rated match{plural}")
}

fn profile_text(profile: &Profile) -> String {
    let player = &profile.player;
    let kind = match (player.bot, player.account) {
        (true, _) => "bot",
        (false, true) => "registered player",
        (false, false) => "guest",
    };
    let since = profile.since_ms.map_or_else(String::new, |at_ms| {
        format!(", since {}", view::format_utc_minute(at_ms))
    });
    let mut text = format!(
        "{}, {kind}{since}\n{} won, {} lost, {} drawn",
        sanitize(&player.name),
        profile.won,
        profile.lost,
        profile.drawn
    );
    for rating in &profile.ratings {
        text.push('\n');
        text.push_str(&rating_line(rating));
    }
    text
}

fn rating_line(rating: &PoolRating) -> String {
    format!(
        "{} ({}): {}{} ± {}, {}",
        sanitize(&rating.game),
        rating.pool.as_str(),
        rating.rating,
        if rating.provisional { "?" } else { "" },
        rating.deviation,
        rated_match_count(rating.games)
    )
}
