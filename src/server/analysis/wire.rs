//! What a review has found, in the types of the wire.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::review::{self, Evaluation, Judgement, MoveReview};
use plyhouse_protocol::{
    AnalysedPly, Judged, Keeps, Ply, Share, Sign, SignKind, Valuation, Why, WhyKind,
};

use crate::wire::to_protocol;

/// What is thought of a move.
pub(crate) fn analysed_ply(game: &GameEntry, looked: &MoveReview) -> AnalysedPly {
    let judged = looked.judgement.as_ref();
    AnalysedPly {
        ply: Ply(looked.ply as u64),
        seat: to_protocol::seat(looked.turn),
        m: looked.m.clone(),
        worth: valuation(looked.evaluation),
        best: looked.best_line.first().cloned().unwrap_or_default(),
        pv: looked.best_line.clone(),
        san: looked.best_line_san.clone(),
        judged: judged.map(|(judgement, _)| match judgement {
            Judgement::Inaccuracy => Judged::Inaccuracy,
            Judgement::Mistake => Judged::Mistake,
            Judgement::Blunder => Judged::Blunder,
        }),
        why: judged.map(|(_, why)| explanation(why)),
        said: review::english(game, looked),
    }
}

/// What a position is worth.
pub(crate) fn valuation(worth: Evaluation) -> Valuation {
    let known = worth.proven;
    let winner = known.and_then(|known| known.winner);
    Valuation {
        value: worth.value,
        win: Share::new(f64::midpoint(worth.winning_chance, 1.0)),
        exact: worth.exact,
        wins: winner.map(to_protocol::seat),
        plies: known.and_then(|known| known.plies),
        points: known.and_then(|known| known.points),
    }
}

fn explanation(why: &review::Explanation) -> Why {
    Why {
        kind: match why.kind {
            review::MistakeKind::MissesWin => WhyKind::MissesWin,
            review::MistakeKind::AllowsWin => WhyKind::AllowsWin,
            review::MistakeKind::LosesPoints => WhyKind::LosesPoints,
            review::MistakeKind::LosesMaterial => WhyKind::LosesMaterial,
            review::MistakeKind::MissesMaterial => WhyKind::MissesMaterial,
            review::MistakeKind::WorsensPosition => WhyKind::LosesGround,
        },
        better: why.better_move.clone(),
        keeps: match why.better_outcome {
            review::BetterMoveOutcome::Win => Keeps::Win,
            review::BetterMoveOutcome::Draw => Keeps::Draw,
            review::BetterMoveOutcome::Undecided => Keeps::Game,
            review::BetterMoveOutcome::Loss => Keeps::Loss,
        },
        plies: why.plies,
        points: why.points,
        material: why.material,
        signs: why.findings.iter().copied().map(finding).collect(),
        line: why.better_line.clone(),
        punished: why.refutation.clone(),
        goes_on: why.continues_after_refutation,
        san: why.refutation_san.clone(),
    }
}

fn finding(sign: review::Finding) -> Sign {
    let (kind, count, instead) = match sign {
        review::Finding::Corner => (SignKind::Corner, None, None),
        review::Finding::Mobility {
            moves,
            moves_after_better: instead,
        } => (SignKind::Mobility, Some(moves), Some(instead)),
        review::Finding::Captured(stones) => (SignKind::Captured, Some(stones), None),
        review::Finding::Atari(stones) => (SignKind::Atari, Some(stones), None),
        review::Finding::Dead(stones) => (SignKind::Lost, Some(stones), None),
        review::Finding::DoubleThreat => (SignKind::TwoThreats, None, None),
        review::Finding::Edge => (SignKind::Edge, None, None),
        review::Finding::Isolated => (SignKind::Apart, None, None),
        review::Finding::Drawn => (SignKind::Drawn, None, None),
        review::Finding::OpenThree => (SignKind::OpenThree, None, None),
    };
    Sign {
        sign: Some(kind),
        count,
        instead,
    }
}
