//! What somebody is told of a match or a player who has been sent a link to them, before opening it.

use plyhouse_engine::game::{Picture, Seat};
use plyhouse_matches::{Match, Occupant, Stage, picture};
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, Profile, Reason, Seq};

use super::game_records::{NotServed, STRANGER};
use crate::context::server_context::ServerContext;

/// What is told of a match or a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Who it is about. Players have chosen their names: it is text, and nothing else.
    pub title: String,
    /// How it stands.
    pub text: String,
    /// The match of which there is a picture, and its last event.
    pub picture: Option<(MatchId, Seq)>,
}

/// How a match looks.
#[derive(Clone, Debug)]
pub struct DrawnBoard {
    /// Which it is.
    pub id: MatchId,
    /// The last event that is in the picture.
    pub seq: Seq,
    /// Whether there will be no other picture.
    pub has_ended: bool,
    board: Picture,
}

impl DrawnBoard {
    /// How wide and how high a picture is, in pixels.
    pub const SIZE: (u16, u16) = (picture::WIDTH, picture::HEIGHT);

    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        picture::svg(&self.board)
    }

    /// The picture as pixels, three bytes each (red, green, blue), row by row from the top. Takes some
    /// milliseconds.
    #[must_use]
    pub fn pixels(&self) -> Vec<u8> {
        picture::pixels(&self.board)
    }
}

impl ServerContext {
    /// How a match looks.
    pub(crate) async fn drawn(&self, target: MatchRef) -> Result<DrawnBoard, NotServed> {
        let state = self.looked_at(target).await?;
        Ok(DrawnBoard {
            id: state.id(),
            seq: state.seq(),
            has_ended: matches!(state.stage(), Stage::Ended { .. }),
            board: state.position().picture(),
        })
    }

    /// What is told of a match.
    pub(crate) async fn preview_of_match(&self, target: MatchRef) -> Result<Preview, NotServed> {
        let state = self.looked_at(target).await?;
        let [first, second] = Seat::ALL.map(|seat| name_of(state.occupant(seat)));
        let game = state.creation().game.info.title;
        Ok(Preview {
            title: format!("{first} \u{2013} {second}: {game}"),
            text: standing(&state),
            picture: Some((state.id(), state.seq())),
        })
    }

    /// What is told of a player, by a name or an id.
    pub(crate) async fn preview_of_player(&self, player: &str) -> Result<Preview, NotServed> {
        let Ok(_place) = self.game_record_permits.try_acquire() else {
            return Err(NotServed::Busy);
        };
        let id = self.meant(player).await?;
        let profile = self.profile(id, STRANGER).await.map_err(|error| {
            let is_unknown = error.code == Some(ErrorCode::UnknownPlayer);
            if is_unknown {
                NotServed::Unknown
            } else {
                NotServed::Unreadable
            }
        })?;
        let Profile {
            player,
            won,
            lost,
            drawn,
            ..
        } = profile;
        Ok(Preview {
            title: format!("{} on Plyhouse", player.name),
            text: format!("{won} won, {lost} lost, {drawn} drawn"),
            picture: None,
        })
    }

    /// A match as a stranger sees it.
    async fn looked_at(&self, target: MatchRef) -> Result<Match, NotServed> {
        let Ok(_place) = self.game_record_permits.try_acquire() else {
            return Err(NotServed::Busy);
        };
        let record = self.shown(target).await?;
        let id = record.creation.id;
        Match::replay(record.creation, &record.events).map_err(|damaged| {
            tracing::error!(match_id = %id, %damaged, "match not shown");
            NotServed::Damaged
        })
    }
}

fn name_of(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Open => "somebody".to_owned(),
        Occupant::Bot(level) => format!("Plyhouse bot ({level})"),
        Occupant::Player { name, .. } | Occupant::StandIn { name, .. } => name.clone(),
    }
}

fn standing(state: &Match) -> String {
    let moves = match state.ply().0 {
        1 => "1 move".to_owned(),
        plies => format!("{plies} moves"),
    };
    match state.stage() {
        Stage::Open => "A seat is free.".to_owned(),
        Stage::Running => format!("It is being played: {moves} so far."),
        Stage::Ended {
            winner: Some(winner),
            reason,
            ..
        } => {
            let name = name_of(state.occupant(winner));
            format!("{name} has won {}, after {moves}.", how(reason))
        }
        Stage::Ended { reason, .. } => match reason {
            Reason::Aborted | Reason::Abandonment => "It was broken off.".to_owned(),
            Reason::Rules | Reason::Agreement | Reason::Timeout | Reason::Resignation => {
                format!("A draw, after {moves}.")
            }
        },
    }
}

const fn how(reason: Reason) -> &'static str {
    match reason {
        Reason::Rules => "on the board",
        Reason::Resignation => "by resignation",
        Reason::Timeout => "on time",
        Reason::Abandonment | Reason::Aborted | Reason::Agreement => "by abandonment",
    }
}
