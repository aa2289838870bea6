//! What a service may remember, and what may wait: how so many bytes are shared out.

/// Bytes of memory, at least [`Memory::LEAST`].
#[derive(Clone, Copy, Debug)]
pub struct Memory(usize);

impl Memory {
    /// With less, one request that is as large as it may be would have no room.
    pub const LEAST: usize = 256 << 20;

    /// So many; `None`: they are too few.
    pub fn of(bytes: usize) -> Option<Self> {
        (bytes >= Self::LEAST).then_some(Self(bytes))
    }

    /// For requests that are on their way, or not answered yet.
    pub fn bodies(self) -> usize {
        self.sixteenths(4)
    }

    /// For what the store knows of builds and recordings that are being sent.
    pub fn store(self) -> usize {
        self.sixteenths(5)
    }

    /// For what has been told of recordings.
    pub fn recordings(self) -> usize {
        self.sixteenths(3)
    }

    /// For frames that are not in the store yet, as they came.
    pub fn frames(self) -> usize {
        self.sixteenths(1)
    }

    /// For answers, if the same is asked again.
    pub fn answers(self) -> usize {
        self.sixteenths(1)
    }

    fn sixteenths(self, parts: usize) -> usize {
        self.0 / 16 * parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_out_is_no_more_than_there_is() {
        let all = Memory::of(Memory::LEAST).unwrap();
        let shares = [all.bodies(), all.store(), all.recordings(), all.frames(), all.answers()];
        assert!(shares.iter().sum::<usize>() <= Memory::LEAST && shares.iter().all(|share| *share > 0));
        assert!(Memory::of(Memory::LEAST - 1).is_none());
    }
}
