//! Previews of matches and players, which messengers and social networks show for a link.

use plyhouse_engine::game::{Diagram, Seat};
use plyhouse_matches::{Match, Occupant, Stage};
use plyhouse_protocol::{EndReason, MatchId, MatchRef, Seq};

use super::board_image;
use super::game_records::{ANONYMOUS_VIEWER, ArchiveError, lookup_error};
use crate::context::server_context::ServerContext;

/// Preview of a match or a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPreview {
    /// Title with the names of the players. Players choose their names, so the title must be
    /// escaped.
    pub title: String,
    /// Description of the match's state or of the player's results.
    pub text: String,
    /// The preview image is identified by its match id and by the sequence number of the last event
    /// that it shows. The preview of a player has no image.
    pub image: Option<(MatchId, Seq)>,
}

/// Board of a match, ready to be drawn.
#[derive(Clone, Debug)]
pub struct DrawnBoard {
    pub id: MatchId,
    /// Sequence number of the last event that the board reflects.
    pub seq: Seq,
    /// Whether the match has ended and the board can no longer change.
    pub has_ended: bool,
    board: Diagram,
}

impl DrawnBoard {
    /// Width and height of the image, in pixels.
    pub const SIZE: (u16, u16) = (board_image::WIDTH, board_image::HEIGHT);

    /// Renders the board as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        board_image::render_svg(&self.board)
    }

    /// Renders the board as PNG, which takes several milliseconds.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        board_image::render_png(&self.board)
    }
}

impl ServerContext {
    /// Returns the board of a match as spectators see it.
    pub(crate) async fn draw_board(&self, target: MatchRef) -> Result<DrawnBoard, ArchiveError> {
        let state = self.replay_for_spectators(target).await?;
        Ok(DrawnBoard {
            id: state.id(),
            seq: state.seq(),
            has_ended: matches!(state.stage(), Stage::Ended { .. }),
            board: state.position().diagram(),
        })
    }

    /// Returns the preview of a match.
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

    /// Returns the preview of a player. `player` is a name or an id.
    pub(crate) async fn player_preview(&self, player: &str) -> Result<LinkPreview, ArchiveError> {
        let _permit = self.acquire_read_permit()?;
        let id = self.resolve_player(player).await?;
        let profile = self.load_profile(id, ANONYMOUS_VIEWER).await;
        let profile = profile.map_err(lookup_error)?;
        let (won, lost, drawn) = (profile.won, profile.lost, profile.drawn);
        Ok(LinkPreview {
            title: format!("{} on Plyhouse", profile.player.name),
            text: format!("{won} won, {lost} lost, {drawn} drawn"),
            image: None,
        })
    }

    /// Loads and replays the part of a match that spectators may see.
    async fn replay_for_spectators(&self, target: MatchRef) -> Result<Match, ArchiveError> {
        let _permit = self.acquire_read_permit()?;
        let record = self.spectator_record(target).await?;
        let id = record.creation.id;
        Match::replay(record.creation, &record.events).map_err(|damaged| {
            tracing::error!(match_id = %id, error = %damaged, "cannot replay a match");
            ArchiveError::Corrupt
        })
    }
}

fn occupant_name(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Open => "open seat".to_owned(),
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
        Stage::Open => "Waiting for players.".to_owned(),
        Stage::Running => format!("In progress: {moves} so far."),
        Stage::Ended {
            winner: Some(winner),
            reason,
            ..
        } => {
            let name = occupant_name(state.occupant(winner));
            format!("{name} won {} after {moves}.", win_method(reason))
        }
        Stage::Ended { reason, .. } => match reason {
            EndReason::Aborted | EndReason::Abandonment => "Game aborted.".to_owned(),
            EndReason::Rules
            | EndReason::Agreement
            | EndReason::Timeout
            | EndReason::Resignation => {
                format!("Draw after {moves}.")
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
