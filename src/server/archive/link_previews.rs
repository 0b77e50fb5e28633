//! What somebody is told of a match or a player who has been sent a link to them, before opening it.

use plyhouse_engine::game::{Diagram, Seat};
use plyhouse_matches::{Match, Occupant, Stage, board_image};
use plyhouse_protocol::{EndReason, ErrorCode, MatchId, MatchRef, Profile, Seq};

use super::game_records::{ANONYMOUS_VIEWER, ArchiveError};
use crate::context::server_context::ServerContext;

/// What is told of a match or a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPreview {
    /// Who it is about. Players have chosen their names: it is text, and nothing else.
    pub title: String,
    /// How it stands.
    pub text: String,
    /// The match of which there is a picture, and its last event.
    pub image: Option<(MatchId, Seq)>,
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
    board: Diagram,
}

impl DrawnBoard {
    /// How wide and how high a picture is, in pixels.
    pub const SIZE: (u16, u16) = (board_image::WIDTH, board_image::HEIGHT);

    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        board_image::render_svg(&self.board)
    }

    /// The picture as pixels, three bytes each (red, green, blue), row by row from the top. Takes some
    /// milliseconds.
    #[must_use]
    pub fn pixels(&self) -> Vec<u8> {
        board_image::render_pixels(&self.board)
    }
}

impl ServerContext {
    /// How a match looks.
    pub(crate) async fn draw_board(&self, target: MatchRef) -> Result<DrawnBoard, ArchiveError> {
        let state = self.replay_for_spectators(target).await?;
        Ok(DrawnBoard {
            id: state.id(),
            seq: state.seq(),
            has_ended: matches!(state.stage(), Stage::Ended { .. }),
            board: state.position().diagram(),
        })
    }

    /// What is told of a match.
    pub(crate) async fn match_preview(
        &self,
        target: MatchRef,
    ) -> Result<LinkPreview, ArchiveError> {
        let state = self.replay_for_spectators(target).await?;
        let [first, second] = Seat::ALL.map(|seat| occupant_name(state.occupant(seat)));
        let game = state.creation().game.info.title;
        Ok(LinkPreview {
            title: format!("{first} \u{2013} {second}: {game}"),
            text: status_text(&state),
            image: Some((state.id(), state.seq())),
        })
    }

    /// What is told of a player, by a name or an id.
    pub(crate) async fn player_preview(&self, player: &str) -> Result<LinkPreview, ArchiveError> {
        let Ok(_permit) = self.game_record_permits.try_acquire() else {
            return Err(ArchiveError::Busy);
        };
        let id = self.resolve_player(player).await?;
        let profile = self
            .load_profile(id, ANONYMOUS_VIEWER)
            .await
            .map_err(|error| {
                let is_unknown = error.code == Some(ErrorCode::UnknownPlayer);
                if is_unknown {
                    ArchiveError::NotFound
                } else {
                    ArchiveError::StoreUnavailable
                }
            })?;
        let Profile {
            player,
            won,
            lost,
            drawn,
            ..
        } = profile;
        Ok(LinkPreview {
            title: format!("{} on Plyhouse", player.name),
            text: format!("{won} won, {lost} lost, {drawn} drawn"),
            image: None,
        })
    }

    /// A match as a stranger sees it.
    async fn replay_for_spectators(&self, target: MatchRef) -> Result<Match, ArchiveError> {
        let Ok(_permit) = self.game_record_permits.try_acquire() else {
            return Err(ArchiveError::Busy);
        };
        let record = self.spectator_record(target).await?;
        let id = record.creation.id;
        Match::replay(record.creation, &record.events).map_err(|damaged| {
            tracing::error!(match_id = %id, %damaged, "cannot replay a match");
            ArchiveError::Corrupt
        })
    }
}

fn occupant_name(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Open => "somebody".to_owned(),
        Occupant::Bot(level) => format!("Plyhouse bot ({level})"),
        Occupant::Player { name, .. } | Occupant::StandIn { name, .. } => name.clone(),
    }
}

fn status_text(state: &Match) -> String {
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
            let name = occupant_name(state.occupant(winner));
            format!("{name} has won {}, after {moves}.", win_method(reason))
        }
        Stage::Ended { reason, .. } => match reason {
            EndReason::Aborted | EndReason::Abandonment => "It was broken off.".to_owned(),
            EndReason::Rules
            | EndReason::Agreement
            | EndReason::Timeout
            | EndReason::Resignation => {
                format!("A draw, after {moves}.")
            }
        },
    }
}

const fn win_method(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Rules => "on the board",
        EndReason::Resignation => "by resignation",
        EndReason::Timeout => "on time",
        EndReason::Abandonment | EndReason::Aborted | EndReason::Agreement => "by abandonment",
    }
}
