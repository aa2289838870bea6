//! What is wrong with a file, counted and then told in a few sentences.

/// What is wrong with a file.
#[derive(Default)]
pub struct Damage {
    /// Bytes that are missing at the end.
    pub truncated: u64,
    /// The clock or the costs cannot be.
    pub clock: bool,
    /// Paths above that are none.
    pub parents: usize,
    /// Recursions folded into paths that are none.
    pub positions: usize,
    /// Histograms that lead nowhere.
    pub records: usize,
    /// Blocks of no arena.
    pub chunks: usize,
}

impl Damage {
    /// It in sentences.
    pub fn describe(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.truncated > 0 {
            said.push(format!("the file is truncated: its last {} bytes are missing", self.truncated));
        }
        if self.clock {
            said.push("the file is damaged: it has no sound clock, so times are in an unknown unit".to_owned());
        }
        let nodes = self.parents + self.positions;
        if nodes > 0 {
            said.push(format!("the file is damaged: the callers of {nodes} call paths are lost"));
        }
        if self.records > 0 {
            said.push(format!("the file is damaged: the percentiles of {} functions are lost", self.records));
        }
        if self.chunks > 0 {
            said.push(format!("the file is damaged: {} blocks belong to no thread", self.chunks));
        }
        said
    }
}
