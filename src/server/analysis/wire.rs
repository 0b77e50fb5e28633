//! What a review has found, in the types of the wire.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::review::{self, Judgement, Looked, Worth};
use plyhouse_protocol::{
    AnalysedPly, Judged, Keeps, Ply, Share, Sign, SignKind, Valuation, Why, WhyKind,
};

use crate::wire::to_protocol;

/// What is thought of a move.
pub(crate) fn analysed_ply(game: &GameEntry, looked: &Looked) -> AnalysedPly {
    let judged = looked.judged.as_ref();
    AnalysedPly {
        ply: Ply(looked.ply as u64),
        seat: to_protocol::seat(looked.turn),
        m: looked.m.clone(),
        worth: valuation(looked.worth),
        best: looked.line.first().cloned().unwrap_or_default(),
        pv: looked.line.clone(),
        san: looked.san.clone(),
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
pub(crate) fn valuation(worth: Worth) -> Valuation {
    let known = worth.known;
    let winner = known.and_then(|known| known.winner);
    Valuation {
        value: worth.value,
        win: Share::new(f64::midpoint(worth.chance, 1.0)),
        exact: worth.exact,
        wins: winner.map(to_protocol::seat),
        plies: known.and_then(|known| known.plies),
        points: known.and_then(|known| known.points),
    }
}

fn explanation(why: &review::Why) -> Why {
    Why {
        kind: match why.kind {
            review::Kind::MissesWin => WhyKind::MissesWin,
            review::Kind::AllowsWin => WhyKind::AllowsWin,
            review::Kind::LosesPoints => WhyKind::LosesPoints,
            review::Kind::LosesMaterial => WhyKind::LosesMaterial,
            review::Kind::MissesMaterial => WhyKind::MissesMaterial,
            review::Kind::LosesGround => WhyKind::LosesGround,
        },
        better: why.better.clone(),
        keeps: match why.keeps {
            review::BetterOutcome::Win => Keeps::Win,
            review::BetterOutcome::Draw => Keeps::Draw,
            review::BetterOutcome::Game => Keeps::Game,
            review::BetterOutcome::Loss => Keeps::Loss,
        },
        plies: why.plies,
        points: why.points,
        material: why.material,
        signs: why.signs.iter().copied().map(finding).collect(),
        line: why.line.clone(),
        punished: why.punished.clone(),
        goes_on: why.goes_on,
        san: why.san.clone(),
    }
}

fn finding(sign: review::Finding) -> Sign {
    let (kind, count, instead) = match sign {
        review::Finding::Corner => (SignKind::Corner, None, None),
        review::Finding::Mobility { moves, instead } => {
            (SignKind::Mobility, Some(moves), Some(instead))
        }
        review::Finding::Captured(stones) => (SignKind::Captured, Some(stones), None),
        review::Finding::Atari(stones) => (SignKind::Atari, Some(stones), None),
        review::Finding::Lost(stones) => (SignKind::Lost, Some(stones), None),
        review::Finding::TwoThreats => (SignKind::TwoThreats, None, None),
        review::Finding::Edge => (SignKind::Edge, None, None),
        review::Finding::Apart => (SignKind::Apart, None, None),
        review::Finding::Drawn => (SignKind::Drawn, None, None),
        review::Finding::OpenThree => (SignKind::OpenThree, None, None),
    };
    Sign {
        sign: Some(kind),
        count,
        instead,
    }
}
