//! Lines of best play, gathered on the way back from where they end (the "triangular" table of
//! principal variations).

/// The best line from the position at each ply, as far as it was seen to be within the window.
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
    /// The line from the position that was looked at last at `ply`.
    pub(super) fn line_at(&self, ply: u32) -> &[M] {
        self.lines.get(ply as usize).map_or(&[], Vec::as_slice)
    }

    /// Begins a new line at `ply`.
    pub(super) fn start_line(&mut self, ply: u32) {
        // One more, for the line that follows.
        let plies = ply as usize + 2;
        if self.lines.len() < plies {
            self.lines.resize_with(plies, Vec::new);
        }
        self.lines[ply as usize].clear();
    }

    /// The best line at `ply` is now `m` and what follows it.
    pub(super) fn extend(&mut self, ply: u32, m: M) {
        let (upper, lower) = self.lines.split_at_mut(ply as usize + 1);
        let line = &mut upper[ply as usize];
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0]);
    }
}
