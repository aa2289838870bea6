//! What is wrong with a file, counted and then told in a few sentences.

use diytrace_format::Slot;

use super::doubt::{Doubt, Lost};

/// More calls than one path can have had: a thread that does nothing else would need forty years.
const TOO_MANY: u64 = 1 << 58;

/// More ticks than all calls of a path can have taken: thirty years of a fast clock.
const TOO_LONG: u64 = 1 << 62;

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
    /// Times off the processor that lead nowhere, or belong to no path.
    pub off_cpu: usize,
    /// Blocks of no arena.
    pub chunks: usize,
    /// Paths whose counters cannot be what the recorder wrote.
    pub counters: usize,
}

impl Damage {
    /// The counters of a path; none where they cannot be.
    pub fn sound(&mut self, unwound: u64, slots: [Slot; 2]) -> (u64, [Slot; 2]) {
        // Less than none, as a signal handler that forks in the middle of an exit may leave it: that costs no calls.
        let slots = slots.map(|slot| match slot.descendants.wrapping_neg() < TOO_MANY {
            true => Slot { descendants: 0, ..slot },
            false => slot,
        });
        let is_sound = |slot: &Slot| slot.calls.max(slot.descendants) < TOO_MANY && slot.ticks < TOO_LONG;
        if unwound < TOO_MANY && slots.iter().all(is_sound) {
            return (unwound, slots);
        }
        self.counters += 1;
        Default::default()
    }

    /// What it has cost.
    pub fn doubts(&self) -> Vec<Doubt> {
        let truncated = (self.truncated > 0).then_some(Doubt::Truncated { bytes: self.truncated });
        let nodes = self.parents + self.positions;
        let lost = [
            (self.clock, Lost::Clock),
            (nodes > 0, Lost::Callers(nodes)),
            (self.counters > 0, Lost::Calls(self.counters)),
            (self.records > 0, Lost::Percentiles(self.records)),
            (self.off_cpu > 0, Lost::Waits),
            (self.chunks > 0, Lost::Blocks(self.chunks)),
        ];
        let damaged = lost.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, lost)| Doubt::Damaged(lost));
        truncated.into_iter().chain(damaged).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_which_there_are_less_than_no_calls_has_its_own() {
        let mut damage = Damage::default();
        let slot = Slot { calls: 1, ticks: 10, descendants: 0, mark: 4 };
        let negative = Slot { descendants: 204u64.wrapping_neg(), ..slot };
        assert_eq!(damage.sound(0, [negative, slot]), (0, [slot; 2]));
        assert_eq!(damage.counters, 0);
        assert_eq!(damage.sound(0, [Slot { descendants: 1 << 60, ..slot }, slot]), Default::default());
        assert_eq!(damage.counters, 1);
    }
}
