//! Bytes between a socket that others read and write, and a crate that wants to do that itself.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Both ends: what has come and was not read, and what was written and is not sent.
#[derive(Clone, Debug, Default)]
pub struct Pipe(Arc<Mutex<Bytes>>);

#[derive(Debug, Default)]
struct Bytes {
    come: Vec<u8>,
    read: usize,
    written: Vec<u8>,
    is_closed: bool,
}

impl Pipe {
    /// These have come.
    pub fn take(&self, bytes: &[u8]) {
        let mut inside = self.inside();
        if inside.read == inside.come.len() {
            (inside.read, _) = (0, inside.come.clear());
        }
        inside.come.extend_from_slice(bytes);
    }

    /// No more will come.
    pub fn close(&self) {
        self.inside().is_closed = true;
    }

    /// Hands over what is to be sent.
    pub fn give(&self, out: &mut Vec<u8>) {
        out.append(&mut self.inside().written);
    }

    /// One thread has both ends: nobody ever waits here.
    fn inside(&self) -> MutexGuard<'_, Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut inside = self.inside();
        let there = &inside.come[inside.read..];
        if there.is_empty() && !inside.is_closed {
            // Whoever brings more asks again.
            return Poll::Pending;
        }
        let taken = there.len().min(buffer.remaining());
        buffer.put_slice(&there[..taken]);
        inside.read += taken;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inside().written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
