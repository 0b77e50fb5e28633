//! Converts the server's own types to protocol types.

use plyhouse_engine::catalog::{CATALOG, level_rating};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Match, Occupant, Offer, Refusal, RemainingTime, SeatAtStart, Stage};
use plyhouse_protocol::{
    Challenge, ChatMode, ChatPreset, ChatPresetText, ClockControl, ClockPreset, EndReason, Ending,
    ErrorCode, GameSummary, HistoryRow, LevelSummary, MatchStatus, NamedPlayer,
    Occupant as WireOccupant, OfferKind, OfferState, PlayerId, PlayerKind, PlayerSummary, Ply,
    SeatNumber, SeatState, Series, ShownRating, TimeLeft, WireError,
};
use plyhouse_store::{PastMatch, PlayerRecord};

pub(crate) fn status(stage: Stage) -> MatchStatus {
    match stage {
        Stage::Open => MatchStatus::Open,
        Stage::Running => MatchStatus::Running,
        Stage::Ended { .. } => MatchStatus::Ended,
    }
}

pub(crate) fn seat(seat: Seat) -> SeatNumber {
    SeatNumber(seat.number())
}

pub(crate) fn occupant(occupant: &Occupant, is_connected: bool) -> WireOccupant {
    match occupant {
        Occupant::Open => WireOccupant::Open,
        Occupant::Player {
            id,
            name,
            kind,
            rating,
        } => player_occupant(*id, name, *kind, *rating, is_connected),
        Occupant::Bot(level) => bot_occupant(*level, None),
        Occupant::StandIn {
            level,
            player,
            name,
            ..
        } => {
            let stand_in_for = NamedPlayer {
                player: *player,
                name: name.clone(),
            };
            bot_occupant(*level, Some(stand_in_for))
        }
    }
}

fn player_occupant(
    player: PlayerId,
    name: &str,
    kind: PlayerKind,
    rating: Option<ShownRating>,
    connected: bool,
) -> WireOccupant {
    WireOccupant::Player {
        player,
        name: name.to_owned(),
        connected,
        account: kind.is_account(),
        bot: kind == PlayerKind::Bot,
        rating,
    }
}

fn bot_occupant(level: Level, stand_in_for: Option<NamedPlayer>) -> WireOccupant {
    WireOccupant::Bot {
        level: level.id().to_owned(),
        stand_in_for,
    }
}

pub(crate) fn player(record: &PlayerRecord) -> PlayerSummary {
    PlayerSummary {
        id: record.id,
        name: record.name.clone(),
        account: record.kind.is_account(),
        bot: record.kind == PlayerKind::Bot,
    }
}

pub(crate) fn time_left(left: &RemainingTime) -> TimeLeft {
    TimeLeft {
        left_ms: left.remaining_ms(),
        periods: left.periods(),
    }
}

/// Returns the chat presets that are available in this chat mode.
pub(crate) fn chat_presets(mode: ChatMode) -> Vec<ChatPresetText> {
    let all = match mode {
        ChatMode::Off => &[],
        ChatMode::Presets | ChatMode::Text => ChatPreset::ALL,
    };
    let preset_text = |preset: &ChatPreset| ChatPresetText {
        preset: preset.as_str().to_owned(),
        text: preset.text().to_owned(),
    };
    all.iter().map(preset_text).collect()
}

pub(crate) const fn offer(offer: Offer) -> OfferKind {
    match offer {
        Offer::Draw => OfferKind::Draw,
        Offer::Takeback => OfferKind::Takeback,
    }
}

pub(crate) fn offer_state(by: Seat, kind: Offer, ply: Ply, to_ply: Option<Ply>) -> OfferState {
    OfferState {
        seat: seat(by),
        offer: offer(kind),
        ply,
        to_ply,
    }
}

/// Returns the score of the series of matches that this match belongs to.
pub(crate) fn series(state: &Match) -> Series {
    let plyhouse_matches::Series { game, points } = state.series();
    Series { game, points }
}

/// Returns how the match ended; `None` if it has not ended. If the rules of the game ended the
/// match, the position determines the detail, the scores and the winning line. Otherwise, there are
/// no scores and no winning line.
pub(crate) fn ending(state: &Match) -> Option<Ending> {
    let Stage::Ended {
        winner,
        reason,
        detail,
        by,
    } = state.stage()
    else {
        return None;
    };
    let position = (reason == EndReason::Rules).then(|| state.position());
    let rules_ending = position.and_then(|position| position.ending());
    let rules_detail = rules_ending.map(|ending| ending.detail);
    Some(Ending {
        winner: winner.map(seat),
        reason: Some(reason),
        detail: rules_detail
            .or_else(|| detail.map(|detail| detail.as_str()))
            .map(str::to_owned),
        by: by.map(seat),
        scores: rules_ending.and_then(|ending| ending.scores),
        line: position.and_then(|position| position.winning_line()),
    })
}

/// Returns the entry of an ended match in a player's history.
pub(crate) fn history_row(ended_match: &PastMatch) -> HistoryRow {
    let (creation, summary) = (&ended_match.creation, &ended_match.summary);
    let seat_state = |at: Seat| SeatState {
        side: creation.game.info.sides[at.index()].to_owned(),
        occupant: match &summary.seats[at.index()] {
            SeatAtStart::Player {
                player,
                name,
                kind,
                rating,
            } => player_occupant(*player, name, *kind, *rating, false),
            SeatAtStart::Bot { bot } => bot_occupant(*bot, None),
        },
    };
    HistoryRow {
        match_id: creation.id,
        code: creation.code.to_string(),
        game: creation.game.info.id.to_owned(),
        seats: Seat::ALL.map(seat_state),
        outcome: Ending {
            winner: summary.winner.map(seat),
            reason: Some(summary.reason),
            detail: summary.detail.clone(),
            by: summary.by.map(seat),
            scores: summary.scores,
            line: summary.winning_line.clone(),
        },
        plies: summary.plies,
        clock: creation.terms.clock,
        rated: creation.terms.rated,
        from_position: creation.terms.is_from_position(),
        you: seat(ended_match.seat),
        ended_ms: ended_match.ended_ms,
    }
}

pub(crate) fn refusal_error(refusal: &Refusal) -> WireError {
    let mut error = WireError::new(error_code(refusal), refusal.to_string());
    match refusal {
        Refusal::StalePly {
            expected,
            takebacks,
        } => (error.expected, error.takebacks) = (Some(*expected), Some(*takebacks)),
        Refusal::TooSoon {
            expected,
            retry_after_ms,
            ..
        } => (error.expected, error.retry_after_ms) = (*expected, *retry_after_ms),
        _ => {}
    }
    error
}

const fn error_code(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::MatchEnded => ErrorCode::MatchEnded,
        Refusal::MatchRunning => ErrorCode::MatchRunning,
        Refusal::MatchNotStarted => ErrorCode::MatchNotStarted,
        Refusal::AlreadySeated => ErrorCode::AlreadySeated,
        Refusal::SeatTaken => ErrorCode::SeatTaken,
        Refusal::TooManyEvents => ErrorCode::Overloaded,
        Refusal::NotSeated => ErrorCode::NotSeated,
        Refusal::NotHost => ErrorCode::NotHost,
        Refusal::StalePly { .. } => ErrorCode::StalePly,
        Refusal::NotYourTurn => ErrorCode::NotYourTurn,
        Refusal::Unreadable(_) => ErrorCode::UnreadableMove,
        Refusal::Illegal(_) => ErrorCode::IllegalMove,
        Refusal::NotAllowed(_) => ErrorCode::NotAllowed,
        Refusal::NotRegistered => ErrorCode::NotRegistered,
        Refusal::TooSoon { .. } => ErrorCode::TooSoon,
        Refusal::NothingOffered => ErrorCode::NothingOffered,
    }
}

pub(crate) fn games() -> Vec<GameSummary> {
    CATALOG
        .iter()
        .map(|entry| GameSummary {
            game: entry.info.id.to_owned(),
            title: entry.info.title.to_owned(),
            sides: entry.info.sides.map(str::to_owned),
            files: entry.info.files.into(),
            ranks: entry.info.ranks.into(),
            record_extension: entry
                .record_format
                .map(|format| format.extension().to_owned()),
            draw_offers: entry.allows_draw_offers,
        })
        .collect()
}

/// Returns the challenge that an open match sends to the invited player, with that player's id.
pub(crate) fn challenge(state: &Match) -> Option<(PlayerId, Challenge)> {
    let creation = state.creation();
    let invited = creation.terms.invited;
    let invited = invited.filter(|_| state.stage() == Stage::Open)?;
    let is_open_seat = |seat: &Seat| state.occupant(*seat) == &Occupant::Open;
    let open_seat = Seat::ALL.into_iter().find(is_open_seat)?;
    let Occupant::Player { id, name, .. } = state.occupant(open_seat.other()) else {
        return None;
    };
    let challenge = Challenge {
        match_id: creation.id,
        code: creation.code.to_string(),
        game: creation.game.info.id.to_owned(),
        clock: creation.terms.clock,
        rated: creation.terms.rated,
        from_position: creation.terms.is_from_position(),
        seat: seat(open_seat),
        challenger: NamedPlayer {
            player: *id,
            name: name.clone(),
        },
    };
    Some((invited, challenge))
}

/// Returns the suggested clocks with their titles.
pub(crate) fn clock_presets(clocks: &[ClockControl]) -> Vec<ClockPreset> {
    let preset = |&clock: &ClockControl| ClockPreset {
        title: clock.to_string(),
        clock,
    };
    clocks.iter().map(preset).collect()
}

pub(crate) fn levels() -> Vec<LevelSummary> {
    Level::ALL
        .into_iter()
        .map(|level| LevelSummary {
            level: level.id().to_owned(),
            title: level.title().to_owned(),
            rating: (CATALOG.iter())
                .map(|entry| {
                    let game = entry.info.id;
                    (game.to_owned(), level_rating(game, level))
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_has_its_error_code() {
        for (refusal, code) in [
            (Refusal::MatchEnded, "match_ended"),
            (Refusal::MatchRunning, "match_running"),
            (Refusal::MatchNotStarted, "match_not_started"),
            (Refusal::AlreadySeated, "already_seated"),
            (Refusal::SeatTaken, "seat_taken"),
            (Refusal::TooManyEvents, "overloaded"),
            (Refusal::NotSeated, "not_seated"),
            (Refusal::NotHost, "not_host"),
            (Refusal::NotYourTurn, "not_your_turn"),
            (Refusal::NotAllowed(""), "not_allowed"),
            (Refusal::NotRegistered, "not_registered"),
            (Refusal::NothingOffered, "nothing_offered"),
        ] {
            let error = refusal_error(&refusal);
            assert_eq!(error.code.map(|code| code.as_str()), Some(code));
        }
    }

    #[test]
    fn refusal_tells_when_to_retry() {
        let too_soon = refusal_error(&Refusal::TooSoon {
            reason: "",
            expected: Some(Ply(22)),
            retry_after_ms: Some(999),
        });
        assert_eq!(too_soon.code, Some(ErrorCode::TooSoon));
        assert_eq!(too_soon.expected, Some(Ply(22)));
        assert_eq!(too_soon.retry_after_ms, Some(999));
        let stale = refusal_error(&Refusal::StalePly {
            expected: Ply(3),
            takebacks: 1,
        });
        assert_eq!(stale.code, Some(ErrorCode::StalePly));
        assert_eq!((stale.expected, stale.takebacks), (Some(Ply(3)), Some(1)));
    }
}
