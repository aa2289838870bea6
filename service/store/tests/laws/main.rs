//! Laws of the store whoever keeps it, on recordings that nobody thought of.
//!
//! Each is asked of both engines.

#[path = "../../../../tests/common/clickhouse.rs"]
#[allow(dead_code)] // each test file uses its part
mod clickhouse;
mod frames;
mod keeper;
mod recordings;
mod selections;
mod slices;
mod verdicts;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use diytrace_format::Slot;
use diytrace_format::node::mark;
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::load::{Family, Node};
use diytrace_profile::merge::{By, Merging, PartKey, merge};
use diytrace_profile::process::State;
use diytrace_profile::testing::{arena, calls, family, function_of, node, record, slot};
use diytrace_profile::time::Time;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use diytrace_store::{
    Address, Compared, Error, Frame, GroupBy, Incoming, Labels, Outgoing, Put, Query, Range, Stored, Tier, Verdict,
    VerdictFacts, VerdictKind, decode, encode, open,
};
use needs::needs;

use frames::*;
use keeper::*;
use recordings::*;
use selections::*;
use slices::*;
use verdicts::*;

/// Each law, asked of both.
macro_rules! laws {
    ($($law:ident)*) => {
        mod kept_by_sqlite {
            $(#[test] fn $law() { super::$law(super::Keeper::Sqlite); })*
        }
        mod kept_by_clickhouse {
            $(#[super::needs(clickhouse)] #[test] fn $law() { super::$law(super::Keeper::ClickHouse); })*
        }
        mod kept_by_two_shards {
            $(#[super::needs(clickhouse)] #[test] fn $law() { super::$law(super::Keeper::Cluster); })*
        }
    };
}

laws! {
    what_is_selected_is_what_merging_the_recordings_gives
    parts_are_what_each_of_them_is_by_itself
    series_are_those_whose_labels_match_whatever_is_in_them
    slices_of_a_recording_add_up_to_it_whatever_is_sent_again
    coarser_slices_have_the_same_sums
    old_slices_become_minutes_and_the_latest_stay
    a_slice_of_a_time_that_the_whole_has_is_refused
    paths_are_numbered_once_whoever_puts_them_in
    many_frames_together_are_as_one_after_the_other
    after_a_frame_that_is_refused_those_before_it_are_in
    a_frame_that_is_refused_keeps_no_other_out
    numbers_of_any_size_add_up
    a_recording_that_has_counted_nothing_is_nothing
    verdicts_count_once_and_go_by_the_time_of_their_coming
}
