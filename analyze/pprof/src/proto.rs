//! The messages of [`profile.proto`](https://github.com/google/pprof/blob/main/proto/profile.proto), as far as tools
//! write them. Numbers of strings are places in the string table, whose first one is empty.

use prost::Message;

/// All of it.
#[derive(Clone, PartialEq, Message)]
pub struct Profile {
    /// What the values of a sample are.
    #[prost(message, repeated, tag = "1")]
    pub sample_type: Vec<ValueType>,
    /// Stacks with their values.
    #[prost(message, repeated, tag = "2")]
    pub sample: Vec<Sample>,
    /// Programs and libraries.
    #[prost(message, repeated, tag = "3")]
    pub mapping: Vec<Mapping>,
    /// Places in code.
    #[prost(message, repeated, tag = "4")]
    pub location: Vec<Location>,
    /// Functions.
    #[prost(message, repeated, tag = "5")]
    pub function: Vec<Function>,
    /// Strings; the first is empty.
    #[prost(string, repeated, tag = "6")]
    pub string_table: Vec<String>,
    /// Frames of these names, as a pattern, and what they call are left out.
    #[prost(int64, tag = "7")]
    pub drop_frames: i64,
    /// But not those of these.
    #[prost(int64, tag = "8")]
    pub keep_frames: i64,
    /// When it began, in nanoseconds since 1970.
    #[prost(int64, tag = "9")]
    pub time_nanos: i64,
    /// How long it took, in nanoseconds.
    #[prost(int64, tag = "10")]
    pub duration_nanos: i64,
    /// What came to pass between two samples.
    #[prost(message, optional, tag = "11")]
    pub period_type: Option<ValueType>,
    /// How much of it.
    #[prost(int64, tag = "12")]
    pub period: i64,
    /// What the reader should know.
    #[prost(int64, repeated, tag = "13")]
    pub comment: Vec<i64>,
    /// The type of value that is shown if none was asked for.
    #[prost(int64, tag = "14")]
    pub default_sample_type: i64,
}

/// What a value is, and its unit.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct ValueType {
    /// What it is.
    #[prost(int64, tag = "1")]
    pub r#type: i64,
    /// Its unit.
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

/// A stack.
#[derive(Clone, PartialEq, Message)]
pub struct Sample {
    /// Locations, the innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub location_id: Vec<u64>,
    /// One value for each type.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    /// What tells it from others with this stack.
    #[prost(message, repeated, tag = "3")]
    pub label: Vec<Label>,
}

/// What a sample is marked with: a string, or a number.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Label {
    /// Its name.
    #[prost(int64, tag = "1")]
    pub key: i64,
    /// The string.
    #[prost(int64, tag = "2")]
    pub str: i64,
    /// The number.
    #[prost(int64, tag = "3")]
    pub num: i64,
    /// The number's unit.
    #[prost(int64, tag = "4")]
    pub num_unit: i64,
}

/// A program or library, and the addresses that stand for its code.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Mapping {
    /// Its number, not 0.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// First address.
    #[prost(uint64, tag = "2")]
    pub memory_start: u64,
    /// The address after the last.
    #[prost(uint64, tag = "3")]
    pub memory_limit: u64,
    /// Where in its file that lies.
    #[prost(uint64, tag = "4")]
    pub file_offset: u64,
    /// Its file.
    #[prost(int64, tag = "5")]
    pub filename: i64,
    /// Its build ID in hexadecimal digits.
    #[prost(int64, tag = "6")]
    pub build_id: i64,
    /// Functions' names are here.
    #[prost(bool, tag = "7")]
    pub has_functions: bool,
    /// So are their files.
    #[prost(bool, tag = "8")]
    pub has_filenames: bool,
    /// So are lines.
    #[prost(bool, tag = "9")]
    pub has_line_numbers: bool,
    /// So are inlined functions.
    #[prost(bool, tag = "10")]
    pub has_inline_frames: bool,
}

/// A place in code.
#[derive(Clone, PartialEq, Message)]
pub struct Location {
    /// Its number, not 0.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// The mapping that it lies in; 0: none.
    #[prost(uint64, tag = "2")]
    pub mapping_id: u64,
    /// Its address.
    #[prost(uint64, tag = "3")]
    pub address: u64,
    /// Functions there, the innermost inlined one first.
    #[prost(message, repeated, tag = "4")]
    pub line: Vec<Line>,
    /// Whether several places with the same code were taken for one.
    #[prost(bool, tag = "5")]
    pub is_folded: bool,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct Line {
    /// The function.
    #[prost(uint64, tag = "1")]
    pub function_id: u64,
    /// The line; 0: not known.
    #[prost(int64, tag = "2")]
    pub line: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Function {
    /// Its number, not 0.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name as people write it.
    #[prost(int64, tag = "2")]
    pub name: i64,
    /// Its name as the linker knows it.
    #[prost(int64, tag = "3")]
    pub system_name: i64,
    /// Its file.
    #[prost(int64, tag = "4")]
    pub filename: i64,
    /// The line it begins at.
    #[prost(int64, tag = "5")]
    pub start_line: i64,
}
