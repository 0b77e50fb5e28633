//! Triangular table of principal variations. The search assembles each line from the leaf to the
//! root.

/// For each ply, the principal variation of the most recently searched position at that ply.
#[derive(Debug)]
pub(super) struct PvTable<M> {
    lines: Vec<Vec<M>>,
}

impl<M> Default for PvTable<M> {
    fn default() -> Self {
        Self { lines: Vec::new() }
    }
}

impl<M: Copy> PvTable<M> {
    /// Returns the principal variation of the most recently searched position at `ply`.
    pub(super) fn line_at(&self, ply: u32) -> &[M] {
        self.lines.get(ply as usize).map_or(&[], Vec::as_slice)
    }

    /// Starts an empty line at `ply`.
    pub(super) fn start_line(&mut self, ply: u32) {
        // The function also creates the line for the next ply, because `extend` reads it.
        let plies = ply as usize + 2;
        if self.lines.len() < plies {
            self.lines.resize_with(plies, Vec::new);
        }
        self.lines[ply as usize].clear();
    }

    /// Sets the line at `ply` to the move `m` followed by the line at the next ply.
    pub(super) fn extend(&mut self, ply: u32, m: M) {
        let (upper, lower) = self.lines.split_at_mut(ply as usize + 1);
        let line = &mut upper[ply as usize];
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0]);
    }
}
