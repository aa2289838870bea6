//! x
#![allow(missing_docs)]
