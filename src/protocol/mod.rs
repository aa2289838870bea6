//! What threads and processes agree on through the file, without asking the kernel.
//!
//! Every word here is written by several threads, of several processes, any of which may be killed between two
//! instructions; and by signal handlers in the middle of each other. Nothing here waits for anybody: whoever finds a
//! word changed goes on from what it finds. `tests/interleavings.rs` runs all orders of their steps, crashes in between
//! included (`RUSTFLAGS="--cfg loom" cargo test --release --test interleavings`).
//!
//! | words | promise |
//! |---|---|
//! | `Header::used` ([`space`]) | only grows; a range of the file is handed out once. One that was handed out and never became a block is stepped over |
//! | `Header::extent`, `processes`, `tokens`, `modules` | only grow; each number is handed out once |
//! | the directory ([`directory`]) | an arena has one owner: whoever brought the word from another's token to its own. A token is used once, so a word that is seen again is the same ownership. Released, or its owner known to be gone, it may be adopted |
//! | `Arena::token` ([`directory::Owner`]) | written last by a new owner: the owner's task and namespace beside it are those of that token, or of none |
//! | `Block::nodes` and `back` ([`room`]) | one word; a place in a block is handed out once |
//! | `NodeRecord::key`, `parent` | the first word of a node that is written, by compare and exchange, and the last: a node without a parent is not complete, and counts for nothing |
//! | `Header::last_module` ([`modules`]) | leads to every module that was published, latest first; none is recorded twice by one after the other |
//! | `Header::anchors` ([`anchors`]) | a pair of clock readings is read as it was written, or not at all |
//! | counts by function ([`by_function`]) | a function has one place; what was counted stays |

pub mod anchors;
pub mod by_function;
pub mod directory;
pub mod modules;
pub mod room;
pub mod space;
pub(crate) mod sync;
