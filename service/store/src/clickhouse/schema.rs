//! The store's tables in ClickHouse. `docs/store.md` tells people of them.
//!
//! ClickHouse has no transactions, so a frame comes to be by one row: that of `frame`, which is put in last. Rows of other
//! tables mean nothing until a frame refers to them, and what a writer that was killed has left of them is swept away later.
//! Of frames with the same number the highest version counts. One that holds others says so itself (`covers`): they cease to
//! count with the row that replaces them. Names of paths and places are numbers made of what they are ([`crate::id`]), so two
//! writers give the same ones, and writing a row twice changes nothing.

use super::binary::Reader;
use super::client::{Client, Failure, reason};
use super::cluster;
use crate::Error;

/// The version of the tables.
pub const VERSION: u32 = 4;

/// Before this, functions took more room; what is there is read as well.
const LARGE_FUNCTIONS: u32 = 3;

/// Before that, there was no table of sampled profiles.
const WITHOUT_SAMPLED: u32 = 2;

/// Sampled profiles of others. Those of a series lie one after the other, and are much alike.
const SAMPLED: &str = "CREATE TABLE IF NOT EXISTS sampled (
  labels String,                          -- a JSON object
  started Int64 CODEC(DoubleDelta, ZSTD), -- ns since 1970
  ended Int64 CODEC(DoubleDelta, ZSTD),
  id UInt64,                              -- made of what it is
  types String CODEC(ZSTD),               -- a JSON array: type, unit and total of each
  samples UInt64,                         -- that differ in stack or labels
  bytes UInt64,                           -- of its messages
  messages String CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 1048576, max_compress_block_size = 1048576),
  checksum UInt32,                        -- CRC-32 of them
  INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree ORDER BY (labels, ended, id) SETTINGS index_granularity = 64";

/// Verdicts of comparisons. A store that was made before there were any gets it with the first: who knows nothing of them reads
/// it as before, so it needs no version of its own.
const VERDICT: &str = "CREATE TABLE IF NOT EXISTS verdict (
  id UInt64,                              -- made of what it is
  kind LowCardinality(String),            -- bench, diff or similar
  saved Int64,                            -- ns since 1970
  compared String,                        -- a JSON object: both sides, their labels, and the time
  command String,
  sentence String,                        -- what came out
  status UInt32,                          -- the command's exit status
  bytes UInt64,                           -- of its document
  document String CODEC(ZSTD(3)),         -- the command's JSON
  checksum UInt32                         -- CRC-32 of it
) ENGINE = ReplacingMergeTree ORDER BY id SETTINGS index_granularity = 64";

/// Frames that others have taken the place of. ClickHouse drops their rows of `frame` when it merges parts, whenever that is, and then
/// nothing else tells that what they refer to is not what somebody is about to put in. A store that was made before there was this
/// table gets it with the first.
const REPLACED: &str = "CREATE TABLE IF NOT EXISTS replaced (
  frame UInt64
) ENGINE = ReplacingMergeTree ORDER BY frame";

const TABLES: [&str; 9] = [
    "CREATE TABLE IF NOT EXISTS series (
  id UInt64,
  labels String,                          -- a JSON object
  program String,                         -- path of the program's file
  boot String,                            -- of the machine
  timing LowCardinality(String),          -- which calls are timed: all or off
  build UInt64,
  made Int64                              -- ns since 1970
) ENGINE = ReplacingMergeTree ORDER BY id",
    "CREATE TABLE IF NOT EXISTS in_use (      -- when somebody began to put in, or still did
  series UInt64,
  at DateTime DEFAULT now()
) ENGINE = ReplacingMergeTree(at) ORDER BY series",
    "CREATE TABLE IF NOT EXISTS module (
  id UInt64,
  version UInt64,
  key String,
  build_id String,                        -- in hexadecimal digits, empty if it has none
  path String,
  symbols String CODEC(ZSTD)              -- names, lines and code
) ENGINE = ReplacingMergeTree(version) ORDER BY id",
    "CREATE TABLE IF NOT EXISTS place (
  build UInt64, id UInt64,
  module UInt64,                          -- of a place in none: 0
  address UInt64                          -- ELF virtual address in it
) ENGINE = ReplacingMergeTree ORDER BY (build, id)",
    "CREATE TABLE IF NOT EXISTS path (
  build UInt64, id UInt64,
  depth UInt32,
  parent UInt64,                          -- 0: none
  function UInt64,                        -- places
  site UInt64,
  hook UInt64,
  flags UInt32,
  folded_into UInt64,                     -- 0: none
  target UInt64                           -- 0: none
) ENGINE = ReplacingMergeTree ORDER BY (build, id)",
    "CREATE TABLE IF NOT EXISTS frame (
  session String,                         -- the recording, wherever it is read
  sequence UInt64,
  version UInt64,                         -- of frames with one number the highest counts
  id UInt64,
  series UInt64,
  arrived Int64,                          -- when the recording came first, ns since 1970
  started Int64,                          -- ns since 1970
  ended Int64,
  covers Int64,                           -- frames of higher numbers that began before are in it
  holds UInt64,                           -- and those up to this number
  calls UInt64,
  raw_ns Int64,                           -- self times of all calls as they were measured
  paths UInt64,                           -- that changed in it
  columns UInt32,                         -- of path_sum: a bit for each in which it has numbers that are not 0
  largest UInt64,                         -- of all those numbers, without its sign
  bytes UInt64,                           -- that its sums take
  sums UInt64,                            -- of what it counted: the same if that is
  told UInt64                             -- of what is told beside that
) ENGINE = ReplacingMergeTree(version) ORDER BY (session, sequence) SETTINGS index_granularity = 1024",
    // Its rows are long, so few of them are read beside those that are asked for.
    "CREATE TABLE IF NOT EXISTS frame_data (
  series UInt64,                          -- as the frame has them
  ended Int64 CODEC(DoubleDelta, ZSTD),
  frame UInt64,
  put DateTime DEFAULT now(),
  head String CODEC(ZSTD),                -- what is told of the recording as a whole
  totals String CODEC(ZSTD),
  functions String CODEC(ZSTD),
  checksum UInt32                         -- CRC-32 of the three, one after the other
) ENGINE = ReplacingMergeTree ORDER BY (series, ended, frame) SETTINGS index_granularity = 128",
    // Paths are in the order in which the frame has them, mostly the same in one after the other: a block has many of those.
    "CREATE TABLE IF NOT EXISTS path_sum (
  series UInt64 CODEC(ZSTD),              -- as the frame has them
  ended Int64 CODEC(ZSTD),
  frame UInt64 CODEC(ZSTD),
  path UInt64 CODEC(ZSTD) SETTINGS (min_compress_block_size = 1048576, max_compress_block_size = 1048576),
  COLUMNS
) ENGINE = MergeTree ORDER BY (series, ended, frame)",
    // The last of all: where it is, the others are.
    "CREATE TABLE IF NOT EXISTS store (version UInt32) ENGINE = MergeTree ORDER BY version",
];

/// The numbers of a path in the order of [`crate::codec::Numbers`]: sums, of these what they have beyond what follows from others
/// ([`crate::beyond`]); then what is known of open calls. Times are in 1/1024 ns. A number that is larger than a column can have is
/// beside the functions of its frame.
pub const NUMBERS: [&str; crate::codec::NUMBERS] = [
    "calls",
    "closed",
    "unwound",
    "unbinned",
    "without_times",
    "own",
    "inclusive",
    "nested",
    "closed_time",
    "own_inner",
    "own_outer",
    "own_untimed",
    "inclusive_inner",
    "inclusive_outer",
    "inclusive_untimed",
    "nested_inner",
    "nested_outer",
    "nested_untimed",
    "closed_inner",
    "closed_outer",
    "closed_untimed",
    "hook_pairs",
    "wait",
    "preempted",
    "off_unknown",
    "off_unseen",
    "open",
    "open_since_reset",
    "so_far",
    "bound",
    "is_between",
];

/// What people ask about, for whom the tables themselves are too fine.
const SLICES: &str = "CREATE OR REPLACE VIEW slices AS SELECT
  JSONExtractString(labels, 'service') AS service, JSONExtractString(labels, 'host') AS host,
  JSONExtractString(labels, 'build') AS build, labels, session AS recording, sequence,
  replaceOne(toString(fromUnixTimestamp64Milli(intDiv(frames.started, 1000000), 'UTC')), ' ', 'T') || 'Z' AS started,
  replaceOne(toString(fromUnixTimestamp64Milli(intDiv(frames.ended, 1000000), 'UTC')), ' ', 'T') || 'Z' AS ended,
  (frames.ended - frames.started) / 1e9 AS seconds, calls, raw_ns, paths, bytes
FROM FRAMES AS frames INNER JOIN (SELECT DISTINCT id, labels FROM series) AS all ON all.id = of_series";

/// The frames that count, of recordings that a condition chooses: with the series of the recording, and the newest frame,
/// which knows best what is told of it.
pub fn frames(condition: &str) -> String {
    format!(
        "(SELECT * EXCEPT (cover, held) FROM (SELECT session, sequence, version, id, series AS own_series, arrived, started, ended, \
         covers, holds, calls, raw_ns, paths, columns, largest, bytes, sums, told, \
         argMax(series, (version, sequence)) OVER every AS of_series, argMax(id, (version, sequence)) OVER every AS newest, \
         argMax(ended, (version, sequence)) OVER every AS newest_ended, min(arrived) OVER every AS came, max(version) OVER every AS highest_version, \
         max(covers) OVER (PARTITION BY session ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS cover, \
         max(holds) OVER (PARTITION BY session ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS held \
         FROM frame FINAL WHERE {condition} WINDOW every AS (PARTITION BY session)) WHERE started >= cover AND (sequence > held OR sequence = 0))"
    )
}

/// Makes the tables in an empty database, and refuses what is no store, or one of another version.
pub fn make(client: &Client, create: bool) -> Result<(), Error> {
    let store = || client.place.to_string();
    let foreign = || Error::ForeignDatabase { store: store() };
    let mut version = version(client)?;
    if create && matches!(version, Version::NoDatabase | Version::NoStore { is_empty: true }) {
        make_tables(client)?;
        // Whoever does this at the same time writes the same.
        client.run(&format!("INSERT INTO store SELECT {VERSION} WHERE (SELECT count() FROM store) = 0"))?;
        version = self::version(client)?;
    }
    if let Version::Is(_, cluster) = &version {
        cluster::check(client, cluster)?;
    }
    if let (true, Version::Is(older @ (WITHOUT_SAMPLED | LARGE_FUNCTIONS), _)) = (create, &version) {
        if *older == WITHOUT_SAMPLED {
            client.run(SAMPLED)?;
        }
        client.run(&format!("INSERT INTO store SELECT {VERSION}"))?;
        version = Version::Is(VERSION, String::new());
    }
    match version {
        Version::Is(WITHOUT_SAMPLED..=VERSION, _) => Ok(()),
        Version::Is(version, _) => Err(Error::OtherVersion { store: store(), version, known: VERSION }),
        Version::NoDatabase | Version::NoStore { is_empty: true } => Err(Error::NoDatabase { store: store() }),
        Version::NoStore { is_empty: false } => Err(foreign()),
    }
}

/// The statements that make all tables; the last one says that the others are there.
pub fn statements() -> impl Iterator<Item = String> {
    let columns = NUMBERS.map(|name| format!("{name} Int64 CODEC(T64, ZSTD)")).join(",\n  ");
    [SAMPLED, VERDICT, REPLACED].into_iter().chain(TABLES).map(move |table| table.replace("COLUMNS", &columns))
}

fn make_tables(client: &Client) -> Result<(), Error> {
    let shards = client.shards()?;
    for shard in &shards {
        let query = format!("CREATE DATABASE IF NOT EXISTS {} ENGINE = Atomic", shard.place.database);
        shard.ask(false, &[], query.as_bytes()).map_err(|failure| shard.failed(failure))?;
        for statement in statements() {
            match &client.place.cluster {
                None => shard.run(&statement)?,
                Some(_) => shard.run(&cluster::making_shard(&statement))?,
            }
        }
    }
    // Whoever asks at one of them finds the others' tables there.
    for shard in &shards {
        for statement in client.place.cluster.iter().flat_map(|name| cluster::making_all(name)) {
            shard.run(&statement)?;
        }
        shard.run(&SLICES.replace("FRAMES", &frames("1")))?;
    }
    Ok(())
}

/// Makes the table of verdicts, where the store has none yet.
pub fn make_verdicts(client: &Client) -> Result<(), Error> {
    make_later(client, "verdict", VERDICT)
}

/// Makes the table of frames that were replaced, where the store has none yet.
pub fn make_replaced(client: &Client) -> Result<(), Error> {
    make_later(client, "replaced", REPLACED)
}

fn make_later(client: &Client, table: &str, statement: &str) -> Result<(), Error> {
    let Some(cluster) = &client.place.cluster else { return client.run(statement) };
    let shards = client.shards()?;
    shards.iter().try_for_each(|shard| shard.run(&cluster::making_shard(statement)))?;
    shards.iter().try_for_each(|shard| shard.run(&cluster::making_one(table, cluster)))
}

enum Version {
    /// And the cluster that it is over; empty if it is of one ClickHouse.
    Is(u32, String),
    NoDatabase,
    NoStore {
        is_empty: bool,
    },
}

fn version(client: &Client) -> Result<Version, Error> {
    let options = [("default_format", "RowBinary")];
    let query = format!("SELECT max(version), {} FROM store HAVING count() > 0", cluster::FOUND);
    let found = match client.ask(true, &options, query.as_bytes()) {
        Ok(rows) if !rows.is_empty() => {
            let mut row = Reader::of(&rows);
            let version = row.u32().zip(row.text()).map(|(version, cluster)| Version::Is(version, cluster));
            return version.ok_or_else(|| client.damaged("its version"));
        }
        Ok(_) => return Ok(Version::NoStore { is_empty: true }), // somebody is making it, or was killed then
        Err(Failure::Said { reason: reason::UNKNOWN_DATABASE, .. }) => return Ok(Version::NoDatabase),
        Err(Failure::Said { reason: reason::UNKNOWN_TABLE, .. }) => {
            // What a program that was killed has made of a store is no table of others.
            let ours = "('series', 'in_use', 'module', 'place', 'path', 'frame', 'frame_data', 'path_sum', 'sampled', 'verdict', \
                        'replaced', 'slices', 'store')";
            let others = format!(
                "SELECT toUInt64(count()) FROM system.tables WHERE database = currentDatabase() \
                 AND replaceRegexpOne(name, '_shard$', '') NOT IN {ours}"
            );
            client.rows(&others, &[])?
        }
        Err(failure) => return Err(client.failed(failure)),
    };
    let others = Reader::of(&found).u64().ok_or_else(|| client.damaged("its list of tables"))?;
    Ok(Version::NoStore { is_empty: others == 0 })
}
