//! What a review has found, in the types of the wire.

use plyhouse_engine::catalog::Entry;
use plyhouse_engine::review::{self, Judgement, Looked, Worth};
use plyhouse_protocol::{AnalysedPly, Judged, Keeps, Ply, Share, Valuation, Why, WhyKind};

use crate::to_protocol;

/// What is thought of a move.
pub(super) fn ply(game: &Entry, looked: &Looked) -> AnalysedPly {
    let judged = looked.judged.as_ref();
    AnalysedPly {
        ply: Ply(looked.ply as u64),
        seat: to_protocol::seat(looked.turn),
        m: looked.m.clone(),
        worth: worth(looked.worth),
        best: looked.line.first().cloned().unwrap_or_default(),
        pv: looked.line.clone(),
        judged: judged.map(|(judgement, _)| match judgement {
            Judgement::Inaccuracy => Judged::Inaccuracy,
            Judgement::Mistake => Judged::Mistake,
            Judgement::Blunder => Judged::Blunder,
        }),
        why: judged.map(|(_, why)| self::why(why)),
        said: review::said(game, looked),
    }
}

/// What a position is worth.
pub(crate) fn worth(worth: Worth) -> Valuation {
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

fn why(why: &review::Why) -> Why {
    Why {
        kind: match why.kind {
            review::Kind::MissesWin => WhyKind::MissesWin,
            review::Kind::AllowsWin => WhyKind::AllowsWin,
            review::Kind::LosesPoints => WhyKind::LosesPoints,
            review::Kind::LosesMaterial => WhyKind::LosesMaterial,
            review::Kind::LosesGround => WhyKind::LosesGround,
        },
        better: why.better.clone(),
        keeps: match why.keeps {
            review::Keeps::Win => Keeps::Win,
            review::Keeps::Draw => Keeps::Draw,
            review::Keeps::Game => Keeps::Game,
            review::Keeps::Loss => Keeps::Loss,
        },
        plies: why.plies,
        points: why.points,
        material: why.material,
        line: why.line.clone(),
        punished: why.punished.clone(),
    }
}
