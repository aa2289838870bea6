//! A service and agents, as programs of their own, and what lies between them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use super::diytrace;

/// `diytrace serve`, with a store in a folder if no other is named.
pub struct Service {
    folder: PathBuf,
    arguments: Vec<String>,
    child: Child,
    pub address: SocketAddr,
}

impl Service {
    /// Started in a folder, on a port of its own, with these arguments beside.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (child, address) = started(folder, "127.0.0.1:0", &arguments);
        Self { folder: folder.to_owned(), arguments, child, address }
    }

    /// Kills it, whatever it does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again where it was.
    pub fn start_again(&mut self) {
        let address = self.address.to_string();
        (self.child, self.address) = started(&self.folder, &address, &self.arguments);
    }

    /// Ends it as it should be; its exit status.
    pub fn end(&mut self) -> Option<i32> {
        signal(&self.child, libc::SIGTERM);
        self.child.wait().unwrap().code()
    }

    /// Whether there is room on its disk.
    pub fn set_room(&self, has_room: bool) {
        set_room(&self.child, has_room);
    }

    /// The answer to a request: its status, its headers, and its body.
    pub fn get(&self, path: &str) -> Answer {
        ask(self.address, "GET", path, &[], &[])
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started(folder: &Path, address: &str, arguments: &[String]) -> (Child, SocketAddr) {
    let mut command = diytrace(folder);
    let usual: &[&str] = if arguments.iter().any(|word| word == "--store") { &[] } else { &["--store", "s.db"] };
    command.args(["serve", "--listen", address]).args(usual).args(arguments).env("DIYTRACE_LOG", "warn");
    survives_full_disks(&mut command);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("listening on http") {
        said.clear();
        assert!(lines.read_line(&mut said).unwrap() > 0, "the service has ended");
    }
    // What it says later goes on to who looks at the test.
    thread::spawn(move || lines.lines().map_while(Result::ok).for_each(|line| eprintln!("service: {line}")));
    (child, said.trim().rsplit('/').next().unwrap().parse().unwrap())
}

/// `diytrace agent`, sending what is in a folder's `out`.
pub struct Agent {
    child: Child,
}

impl Agent {
    /// To a service, often; from here on a signal ends it in order.
    pub fn start(folder: &Path, to: &str) -> Self {
        Self::start_every("50ms", folder, to)
    }

    /// And so often.
    pub fn start_every(every: &str, folder: &Path, to: &str) -> Self {
        Self::start_with(&["--every", every], folder, to)
    }

    /// With these arguments beside.
    pub fn start_with(arguments: &[&str], folder: &Path, to: &str) -> Self {
        let mut command = diytrace(folder);
        command.args(["agent", "--to", to, "--dir", "out", "--spool", "spool"]).args(arguments);
        survives_full_disks(&mut command);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        assert!(lines.read_line(&mut said).unwrap() > 0 && said.contains("sends to"), "{said}");
        thread::spawn(move || lines.lines().map_while(Result::ok).for_each(|line| eprintln!("agent: {line}")));
        Self { child }
    }

    /// Kills it, whatever it does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether there is room on its disk.
    pub fn set_room(&self, has_room: bool) {
        set_room(&self.child, has_room);
    }

    /// Ends it as it should be.
    pub fn end(mut self) {
        signal(&self.child, libc::SIGTERM);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `diytrace agent --load-worker`.
pub struct LoadWorker {
    child: Child,
}

impl LoadWorker {
    /// Of a service, with these arguments beside.
    pub fn start(folder: &Path, to: &str, arguments: &[&str]) -> Self {
        let mut command = diytrace(folder);
        command.args(["agent", "--load-worker", "--to", to]).args(arguments);
        Self { child: command.spawn().unwrap() }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, whatever it does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for LoadWorker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Files that may not grow are as those of a full disk are, if no signal says more.
fn survives_full_disks(command: &mut Command) {
    // SAFETY: the call is one that may be made between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            Ok(())
        });
    }
}

/// Lets a process's files grow, or not: those of 16 KiB and more.
fn set_room(child: &Child, has_room: bool) {
    let (process, mut limit) = (child.id() as i32, libc::rlimit { rlim_cur: 0, rlim_max: 0 });
    // SAFETY: both structures are there, and the process is a child of ours, which nobody has waited for yet.
    unsafe {
        assert_eq!(libc::prlimit(process, libc::RLIMIT_FSIZE, std::ptr::null(), &mut limit), 0);
        limit.rlim_cur = if has_room { limit.rlim_max } else { 16 << 10 };
        assert_eq!(libc::prlimit(process, libc::RLIMIT_FSIZE, &limit, std::ptr::null_mut()), 0);
    }
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: a signal to a child of ours, which nobody has waited for yet.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

/// What becomes of what goes through [`Between`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// It arrives, and so does the answer.
    Open,
    /// It arrives, and the answer does not.
    NoAnswer,
    /// Nothing arrives.
    Cut,
}

/// Between an agent and a service.
pub struct Between {
    pub address: SocketAddr,
    way: Arc<AtomicU8>,
}

impl Between {
    /// In front of a service, or of several, which take turns.
    pub fn of(services: &[SocketAddr]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(AtomicU8::new(Way::Open as u8));
        let (here, services) = (way.clone(), services.to_vec());
        thread::spawn(move || {
            for (client, service) in listener.incoming().map_while(Result::ok).zip(services.into_iter().cycle()) {
                let way = here.clone();
                thread::spawn(move || pass(client, service, &way));
            }
        });
        Self { address, way }
    }

    /// From now on.
    pub fn set(&self, way: Way) {
        self.way.store(way as u8, Ordering::Relaxed);
    }
}

/// Passes a connection on, both ways, as long as it may.
fn pass(client: TcpStream, service: SocketAddr, way: &Arc<AtomicU8>) {
    let is = |wanted: Way| way.load(Ordering::Relaxed) == wanted as u8;
    let Ok(server) = TcpStream::connect(service) else { return };
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let here = way.clone();
    let requests = thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(read @ 1..) = from_client.read(&mut bytes) {
            if here.load(Ordering::Relaxed) == Way::Cut as u8 || to_server.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Both);
        let _ = from_client.shutdown(Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    let mut bytes = [0; 1 << 16];
    while let Ok(read @ 1..) = from_server.read(&mut bytes) {
        if !is(Way::Open) || to_client.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to_client.shutdown(Shutdown::Both);
    let _ = from_server.shutdown(Shutdown::Both);
    let _ = requests.join();
}

/// A service's answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What it says is wrong.
    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

/// Asks a service.
pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
    let host = format!("{address}");
    let is_host = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("host");
    let usual = [("host", host.as_str())];
    let host = if headers.iter().any(is_host) { &[][..] } else { &usual };
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in host.iter().chain(headers) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // A service that says no need not read all.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(b"\r\n"))
        .and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer to {path}"));
    let headers = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = answer[end + 4..].to_vec();
    if headers.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Answer { status, headers, body }
}

fn unchunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|bytes| bytes == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&chunks[..end]).unwrap(), 16).unwrap();
        let rest = &chunks[end + 2..];
        body.extend(&rest[..size.min(rest.len())]);
        if size == 0 || rest.len() < size + 2 {
            break;
        }
        chunks = &rest[size + 2..];
    }
    body
}
