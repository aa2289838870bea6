//! Who keeps a store.

use super::*;

/// Who keeps a store.
#[derive(Clone, Copy, Debug)]
pub enum Keeper {
    Sqlite,
    ClickHouse,
    /// Two shards.
    Cluster,
}

impl Keeper {
    /// Asks a law of so many cases; of a ClickHouse, where each takes long, of some.
    pub fn ask<S: Strategy>(self, cases: u32, strategy: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
        let cases = match self {
            Self::Sqlite => cases,
            Self::ClickHouse => cases / 8,
            Self::Cluster => cases / 16,
        };
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
        TestRunner::new(config).run(&strategy, law).unwrap_or_else(|error| panic!("{error}"));
    }
}

pub struct Place {
    pub _folder: tempfile::TempDir,
    pub address: Address,
}

/// An empty store: a file, or a database of its own in a ClickHouse that all laws share.
pub fn store(keeper: Keeper) -> (Place, Stored) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = tempfile::tempdir().unwrap();
    let address = match keeper {
        Keeper::Sqlite => folder.path().join("store.db").display().to_string(),
        Keeper::ClickHouse => shared().store(&format!("laws_{}", NUMBER.fetch_add(1, Ordering::Relaxed))),
        Keeper::Cluster => shared_cluster().store(&format!("laws_{}", NUMBER.fetch_add(1, Ordering::Relaxed))),
    };
    let address: Address = address.parse().unwrap();
    let store = open(&address, true).unwrap();
    (Place { _folder: folder, address }, store)
}

/// It ends with this process; what it has kept goes when the laws are asked again.
pub fn shared() -> &'static clickhouse::ClickHouse {
    static SHARED: OnceLock<clickhouse::ClickHouse> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws");
        let _ = fs::remove_dir_all(&folder);
        clickhouse::ClickHouse::start(&folder)
    })
}

pub fn shared_cluster() -> &'static clickhouse::Cluster {
    static SHARED: OnceLock<clickhouse::Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws-of-two");
        let _ = fs::remove_dir_all(&folder);
        clickhouse::Cluster::start(&folder)
    })
}
