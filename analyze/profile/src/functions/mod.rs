//! Functions: their names, how they are called, and what their call paths come to.
//!
//! ```text
//! call paths, corrected ──[sums]──▶ [`Function`]s with their callees
//! places ──[names]──▶ what they are called, and which are one ──[roots]──▶ which were asked for
//! call sites ──[calls]──▶ by which instruction a call was made, from whose code
//! ```

mod calls;
mod function;
mod names;
mod ran;
mod roots;
mod summing;
mod sums;

pub use calls::{Call, CallId, CallKind, Calls, Kinds};
pub use function::{Edge, EdgeSums, Function, FunctionId, Sums};
pub use names::{Name, Names, OTHER_CALLS, Spelling};
pub use ran::Ran;
pub use roots::Roots;
pub use sums::functions;
