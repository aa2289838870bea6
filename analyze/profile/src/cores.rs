//! When work is shared by the processor's cores.

/// Of fewer paths, waking another core takes longer than it saves.
pub const WORTH_ANOTHER_CORE: usize = 4096;
