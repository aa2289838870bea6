//! Hosts with addresses of their own, as network namespaces: what is started in one reaches another over its network alone.

use std::process::{Child, Command, Stdio};

use super::{run_to_end, wait_until};

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
