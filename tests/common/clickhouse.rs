//! A ClickHouse as a process of its own, from the library that npm has of it. (The tests of `service/store` use this file, too.)

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where it is: the library, got once, and the program that starts it.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clickhouse");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("package.json"), include_str!("../clickhouse/package.json")).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock"]);
        succeed(npm.arg("--ignore-scripts").current_dir(&folder));
        fs::write(folder.join("engine.c"), include_str!("../../c-fixtures/engine.c")).unwrap();
        // Another process may be at the same: each makes a file of its own, and the last one stays.
        let own = format!("engine-{}", std::process::id());
        let mut compiler = Command::new("cc");
        succeed(compiler.args(["-pthread", "-o", &own, "engine.c", "-ldl"]).current_dir(&folder));
        fs::rename(folder.join(&own), folder.join("engine")).unwrap();
        folder
    })
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A ClickHouse; it ends with this, or with the process that has it.
pub struct ClickHouse {
    folder: PathBuf,
    child: Child,
    /// The ports of all shards' own protocol, and which of them is its; none if it is alone.
    shards: Option<(Vec<u16>, usize)>,
    /// Of HTTP.
    pub port: u16,
}

impl ClickHouse {
    /// With its data in a folder, which is made.
    pub fn start(folder: &Path) -> Self {
        Self::start_as(folder, None)
    }

    /// As a shard of a cluster, `two`.
    fn start_as(folder: &Path, shards: Option<(Vec<u16>, usize)>) -> Self {
        fs::create_dir_all(folder).unwrap();
        let (child, port) = started(folder, 0, shards.as_ref());
        Self { folder: folder.to_owned(), child, shards, port }
    }

    /// A store in a database of it.
    pub fn store(&self, database: &str) -> String {
        format!("clickhouse://127.0.0.1:{}/{database}", self.port)
    }

    /// Has it do something that commands do not.
    pub fn run(&self, database: &str, query: &str) {
        let url = format!("http://127.0.0.1:{}/?database={database}", self.port);
        succeed(Command::new("curl").args(["-sf", &url, "-d", query]));
    }

    /// Kills it, whatever it does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again where it was.
    pub fn start_again(&mut self) {
        (self.child, self.port) = started(&self.folder, self.port, self.shards.as_ref());
    }
}

/// Two ClickHouses that know each other as the shards of a cluster, `two`.
pub struct Cluster {
    pub shards: [ClickHouse; 2],
}

impl Cluster {
    /// With their data in folders of this one, which is made.
    pub fn start(folder: &Path) -> Self {
        // Free a moment ago: each must know the other's before it starts.
        let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports: Vec<u16> = free.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        drop(free);
        let shard = |number: usize| {
            ClickHouse::start_as(&folder.join(format!("shard-{number}")), Some((ports.clone(), number)))
        };
        Self { shards: [shard(0), shard(1)] }
    }

    /// A store in a database over both, asked for at the first.
    pub fn store(&self, database: &str) -> String {
        format!("{}?cluster=two", self.shards[0].store(database))
    }
}

impl Drop for ClickHouse {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started(folder: &Path, port: u16, shards: Option<&(Vec<u16>, usize)>) -> (Child, u16) {
    let [data, ports, users, config] = ["data", "ports", "users.xml", "config.xml"].map(|name| folder.join(name));
    let _ = fs::remove_file(&ports);
    fs::write(&users, USERS).unwrap();
    let cluster = shards.map_or_else(String::new, |(ports, _)| cluster(ports));
    let text = format!("<clickhouse><users_config>{}</users_config>{cluster}</clickhouse>\n", users.display());
    fs::write(&config, text).unwrap();
    let (own_protocol, own_port) = shards.map_or(("", 0), |(ports, own)| ("SYSTEM START LISTEN TCP;", ports[*own]));
    // The last query reads a pipe that stays open as long as the engine is to live.
    let queries = format!(
        "{own_protocol} SYSTEM START LISTEN HTTP; SELECT getServerPort('http_port') INTO OUTFILE '{}' TRUNCATE FORMAT TSV; \
         SELECT count() FROM file('/proc/self/fd/9', 'LineAsString', 'line String') FORMAT Null",
        ports.display()
    );
    let mut command = Command::new(self::folder().join("engine"));
    command.arg(self::folder().join("node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"));
    command.arg("--path").arg(&data).arg("--config-file").arg(&config).arg(format!("--http_port={port}"));
    command.arg(format!("--tcp_port={own_port}")).args(["--listen_host=127.0.0.1", "--interactive", "--progress=off"]);
    command.args(["--history_file=/dev/null", "--query", &queries]).current_dir(folder);
    let said = folder.join("said");
    let log = fs::File::create(&said).unwrap();
    let child = command.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log).spawn();
    let (mut child, start) = (child.unwrap(), Instant::now());
    loop {
        if let Some(port) = fs::read_to_string(&ports).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok()) {
            return (child, port);
        }
        let has_ended = child.try_wait().unwrap().is_some();
        let said = || fs::read_to_string(&said).unwrap_or_default();
        assert!(!has_ended && start.elapsed() < PATIENCE, "ClickHouse has not started: {}", said());
        sleep(Duration::from_millis(20));
    }
}

fn cluster(ports: &[u16]) -> String {
    let shard = |port| format!("<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>");
    let shards: String = ports.iter().map(shard).collect();
    format!(
        "<remote_servers><two>{shards}</two></remote_servers>\
         <background_distributed_schedule_pool_size>4</background_distributed_schedule_pool_size>"
    )
}

/// Who may ask: anybody here, a user with a password, and one who may only read.
const USERS: &str = "<clickhouse>
 <profiles><default/><reading><readonly>1</readonly></reading></profiles>
 <quotas><default/></quotas>
 <users>
  <default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
  <writer><password>s3cr:t@</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></writer>
  <reader><password/><networks><ip>127.0.0.1</ip></networks><profile>reading</profile><quota>default</quota></reader>
 </users>
</clickhouse>
";
