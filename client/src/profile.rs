//! `ply profile` and `ply leaders`: what others may know of a player, and who plays best.

use plyhouse_protocol::{
    ClientMessage, LeaderboardRequest, LeaderboardRow, PlayerName, PoolRating, Profile,
    ServerMessage,
};

use crate::Visit;
use crate::devices::{Known, open_for_anyone, unexpected};
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::past;
use crate::view;

/// Shows the player with this name or this id, or whoever asks.
pub(crate) async fn show(visit: &Visit, meant: Option<String>) -> Result<(), Failure> {
    let mut dialogue = match meant {
        Some(_) => open_for_anyone(visit).await?,
        None => Known::open(visit, false).await?.dialogue,
    };
    // An id is longer than any name.
    let (name, player) = match meant {
        Some(text) if text.parse::<PlayerName>().is_err() => (None, Some(text)),
        name => (name, None),
    };
    let asked = ClientMessage::Profile { name, player };
    let ServerMessage::Profile { profile, .. } = dialogue.ask(asked).await? else {
        return Err(unexpected());
    };
    dialogue.say(&told(&profile))?;
    for row in &profile.recent_matches {
        dialogue.say(&past::line(row))?;
    }
    dialogue.close().await;
    Ok(())
}

/// Shows a part of a leaderboard.
pub(crate) async fn leaders(visit: &Visit, asked: LeaderboardRequest) -> Result<(), Failure> {
    let mut dialogue = open_for_anyone(visit).await?;
    let asked = ClientMessage::Leaderboard(Box::new(asked));
    let ServerMessage::Leaderboard { total, rows, .. } = dialogue.ask(asked).await? else {
        return Err(unexpected());
    };
    if rows.is_empty() {
        dialogue.say("Nobody is here who is rated for sure.")?;
    }
    for row in &rows {
        dialogue.say(&place(row))?;
    }
    let last = rows.last().map_or(total, |row| row.place);
    if last < total {
        let text = format!("… of {total}; more by --after {last}");
        dialogue.say(&text)?;
    }
    dialogue.close().await;
    Ok(())
}

fn place(row: &LeaderboardRow) -> String {
    format!(
        "{:>3}. {:>4} ± {:<3} {} ({} rated matches)",
        row.place,
        row.rating,
        row.deviation,
        sanitize(&row.player.name),
        row.games
    )
}

fn told(profile: &Profile) -> String {
    let player = &profile.player;
    let kind = match (player.bot, player.account) {
        (true, _) => "a program",
        (false, true) => "an account",
        (false, false) => "a guest",
    };
    let since = profile.since_ms.map_or_else(String::new, |at_ms| {
        format!(", since {}", view::date(at_ms))
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
        text.push_str(&rated(rating));
    }
    text
}

fn rated(rating: &PoolRating) -> String {
    format!(
        "{} ({}): {}{} ± {}, {} rated matches",
        sanitize(&rating.game),
        rating.pool.as_str(),
        rating.rating,
        if rating.provisional { "?" } else { "" },
        rating.deviation,
        rating.games
    )
}
