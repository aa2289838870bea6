//! A web server that is not ours, and what it has logged.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::wait_until;

/// An nginx that runs in a folder.
pub struct Nginx {
    child: Child,
    log: std::path::PathBuf,
}

impl Nginx {
    /// With these servers, as its configuration has them.
    pub fn start(folder: &Path, servers: &str) -> Self {
        Self::start_on(folder, servers, |command| {
            let mut here = Command::new(command.get_program());
            here.args(command.get_args());
            here
        })
    }

    /// The same, as another host runs commands.
    pub fn start_on(folder: &Path, servers: &str, running: impl Fn(&Command) -> Command) -> Self {
        let here = folder.display();
        let log = folder.join("access.log");
        // One process, of the user that has the folder.
        let configuration = format!(
            "daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;
             events {{ worker_connections 512; }}
             http {{
                 log_format counted '$server_protocol $status $request_uri $remote_addr';
                 access_log {log} counted;
                 client_body_temp_path {here}/a; proxy_temp_path {here}/b; fastcgi_temp_path {here}/c;
                 uwsgi_temp_path {here}/d; scgi_temp_path {here}/e;
                 {servers}
             }}",
            log = log.display()
        );
        fs::write(folder.join("nginx.conf"), configuration).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf")).arg("-e").arg(folder.join("error.log"));
        let child = running(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // It writes that once it listens.
        wait_until("nginx answers", || fs::read_to_string(folder.join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
        Self { child, log }
    }

    /// What it has answered: protocol, status and path of each request, and who asked.
    pub fn logged(&self) -> Vec<String> {
        fs::read_to_string(&self.log).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody has.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
