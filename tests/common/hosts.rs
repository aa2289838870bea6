//! Hosts with addresses of their own, as network namespaces: what is started in one reaches another over its network alone.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{diytrace, run_to_end, wait_until};

/// The address by which all reach the first host.
pub const FIRST: &str = "10.77.0.1";

/// A host. Its network is gone when it is.
pub struct Host {
    /// Who has the namespace.
    holder: Child,
}

impl Host {
    /// The first host, and so many others with a wire to it; number n has the address 10.77.n.2.
    pub fn wired(others: usize) -> (Self, Vec<Self>) {
        let first = Self::alone();
        first.ip(&["addr", "add", &format!("{FIRST}/32"), "dev", "lo"]);
        let other = |number: usize| {
            let (other, wire) = (Self::alone(), format!("wire{number}"));
            let its_process = other.holder.id().to_string();
            first.ip(&["link", "add", &wire, "type", "veth", "peer", "name", "wire", "netns", &its_process]);
            first.ip(&["addr", "add", &format!("10.77.{number}.1/24"), "dev", &wire]);
            first.ip(&["link", "set", &wire, "up"]);
            other.ip(&["addr", "add", &format!("10.77.{number}.2/24"), "dev", "wire"]);
            other.ip(&["link", "set", "wire", "up"]);
            other.ip(&["route", "add", "default", "via", &format!("10.77.{number}.1")]);
            other
        };
        let others = (1..=others).map(other).collect();
        (first, others)
    }

    fn alone() -> Self {
        let mut holder = Command::new("unshare");
        // Whatever becomes of the test, it ends.
        let holder = holder.args(["--net", "sleep", "600"]).stdin(Stdio::null()).spawn().unwrap();
        let host = Self { holder };
        let ours = std::fs::read_link("/proc/self/ns/net").unwrap();
        let its = format!("/proc/{}/ns/net", host.holder.id());
        wait_until("it has a network", || std::fs::read_link(&its).is_ok_and(|its| its != ours));
        host.ip(&["link", "set", "lo", "up"]);
        host
    }

    /// Cuts the wire to another, which only finds out as nothing comes.
    pub fn cut(&self, number: usize) {
        self.ip(&["link", "set", &format!("wire{number}"), "down"]);
    }

    /// Mends it.
    pub fn mend(&self, number: usize) {
        self.ip(&["link", "set", &format!("wire{number}"), "up"]);
    }

    /// A service at port 7070, with the store `s.db` and the tokens of `tokens` in a folder, once it answers.
    pub fn serve(&self, here: &Path) -> Running {
        let mut command = diytrace(here);
        command.args(["serve", "--listen", "0.0.0.0:7070", "--store", "s.db", "--token-file", "tokens"]);
        let mut child = self.running(&command).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("listening on http")), "the service has ended");
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("service: {line}")));
        Running(child)
    }

    fn ip(&self, arguments: &[&str]) {
        let mut command = Command::new("ip");
        let output = run_to_end(&mut self.running(command.args(arguments)));
        assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A command as it runs on this host.
    pub fn running(&self, command: &Command) -> Command {
        let mut there = Command::new("nsenter");
        there.args(["--target", &self.holder.id().to_string(), "--net", "--"]);
        there.arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            there.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => there.env(name, value),
                None => there.env_remove(name),
            };
        }
        there
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A process that ends with the test.
pub struct Running(pub Child);

impl Running {
    /// Ends it as it should be; whether it says that all is well.
    pub fn end(mut self) -> bool {
        // SAFETY: a signal to a child of ours, which nobody has waited for yet.
        assert_eq!(unsafe { libc::kill(self.0.id() as i32, libc::SIGTERM) }, 0);
        self.0.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
