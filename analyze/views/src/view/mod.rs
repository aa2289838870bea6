//! Views: from a document to output, one file each. They read no files and decide nothing.

pub mod annotate;
pub mod csv;
pub mod json;
mod screen;
pub mod table;
pub mod timeline;
pub mod tree;

pub use screen::{Color, Screen};
