//! Converts the results of a match review to protocol types.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::review::{self, Evaluation, Judgement, MoveReview};
use plyhouse_protocol::{
    AnalysedPly, BetterMoveOutcome, Explanation, Finding, FindingKind, MistakeKind, MoveJudgement,
    Ply, PositionEvaluation, Probability,
};

use crate::wire::to_protocol;

pub(crate) fn analysed_ply(game: &GameEntry, looked: &MoveReview) -> AnalysedPly {
    let judged = looked.judgement.as_ref();
    AnalysedPly {
        ply: Ply(looked.ply as u64),
        seat: to_protocol::seat(looked.turn),
        m: looked.m.clone(),
        evaluation: valuation(looked.evaluation),
        best: looked.best_line.first().cloned().unwrap_or_default(),
        pv: looked.best_line.clone(),
        san: looked.best_line_san.clone(),
        judgement: judged.map(|(judgement, _)| match judgement {
            Judgement::Inaccuracy => MoveJudgement::Inaccuracy,
            Judgement::Mistake => MoveJudgement::Mistake,
            Judgement::Blunder => MoveJudgement::Blunder,
        }),
        explanation: judged.map(|(_, why)| explanation(why)),
        english: review::english(game, looked),
    }
}

pub(crate) fn valuation(evaluation: Evaluation) -> PositionEvaluation {
    let known = evaluation.proven;
    let winner = known.and_then(|known| known.winner);
    PositionEvaluation {
        value: evaluation.value,
        win_probability: Probability::new(f64::midpoint(evaluation.winning_chance, 1.0)),
        exact: evaluation.exact,
        winner: winner.map(to_protocol::seat),
        plies: known.and_then(|known| known.plies),
        points: known.and_then(|known| known.points),
    }
}

fn explanation(why: &review::Explanation) -> Explanation {
    Explanation {
        kind: match why.kind {
            review::MistakeKind::MissesWin => MistakeKind::MissesWin,
            review::MistakeKind::AllowsWin => MistakeKind::AllowsWin,
            review::MistakeKind::LosesPoints => MistakeKind::LosesPoints,
            review::MistakeKind::LosesMaterial => MistakeKind::LosesMaterial,
            review::MistakeKind::MissesMaterial => MistakeKind::MissesMaterial,
            review::MistakeKind::WorsensPosition => MistakeKind::WorsensPosition,
        },
        better_move: why.better_move.clone(),
        better_outcome: match why.better_outcome {
            review::BetterMoveOutcome::Win => BetterMoveOutcome::Win,
            review::BetterMoveOutcome::Draw => BetterMoveOutcome::Draw,
            review::BetterMoveOutcome::Undecided => BetterMoveOutcome::Undecided,
            review::BetterMoveOutcome::Loss => BetterMoveOutcome::Loss,
        },
        plies: why.plies,
        points: why.points,
        material: why.material,
        findings: why.findings.iter().copied().map(finding).collect(),
        better_line: why.better_line.clone(),
        refutation: why.refutation.clone(),
        continues_after_refutation: why.continues_after_refutation,
        refutation_san: why.refutation_san.clone(),
    }
}

fn finding(sign: review::Finding) -> Finding {
    let (kind, count, instead) = match sign {
        review::Finding::Corner => (FindingKind::Corner, None, None),
        review::Finding::Mobility {
            moves,
            moves_after_better,
        } => (FindingKind::Mobility, Some(moves), Some(moves_after_better)),
        review::Finding::Captured(stones) => (FindingKind::Captured, Some(stones), None),
        review::Finding::Atari(stones) => (FindingKind::Atari, Some(stones), None),
        review::Finding::Dead(stones) => (FindingKind::Dead, Some(stones), None),
        review::Finding::DoubleThreat => (FindingKind::DoubleThreat, None, None),
        review::Finding::Edge => (FindingKind::Edge, None, None),
        review::Finding::Isolated => (FindingKind::Isolated, None, None),
        review::Finding::Drawn => (FindingKind::Drawn, None, None),
        review::Finding::OpenThree => (FindingKind::OpenThree, None, None),
    };
    Finding {
        kind: Some(kind),
        count,
        count_after_better: instead,
    }
}
