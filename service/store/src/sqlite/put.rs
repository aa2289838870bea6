//! Puts frames in, many in one transaction.

use rusqlite::TransactionBehavior;

use super::file::Sqlite;
use crate::engine::{Put, Taken};
use crate::{Error, Frame, Received};

/// Puts frames in, in this order, in one transaction. Of one that is refused nothing is in but what its paths stand for; those before
/// it are.
pub fn frames(store: &mut Sqlite, frames: &[Frame]) -> Result<Vec<Put>, Error> {
    let name = store.path.display().to_string();
    let Sqlite { connection, dictionaries, sessions, .. } = store;
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if !sessions.are_of(&transaction).map_err(failed)? {
        dictionaries.clear(); // somebody may have deleted what they are of
    }
    dictionaries.begin();
    let put: Result<Vec<Put>, Error> =
        frames.iter().map(|one| sessions.put_any(&transaction, dictionaries, &name, one)).collect();
    let stays = matches!(put, Ok(_) | Err(Error::Overlap { .. } | Error::Full { .. }));
    let ended = if stays { transaction.commit() } else { transaction.rollback() };
    if !stays || ended.is_err() {
        dictionaries.clear(); // what was numbered is not there
        sessions.forget();
    }
    sessions.forget_builds(&dictionaries.make_room());
    put.and_then(|put| ended.map(|()| put).map_err(failed))
}

/// The same of frames as they were sent: of each what became of it, and one more than the number of its recording's last frame. One
/// that is refused keeps no other out.
pub fn received(store: &mut Sqlite, frames: &[Received]) -> Result<Vec<Taken>, Error> {
    let name = store.path.display().to_string();
    let Sqlite { connection, dictionaries, sessions, .. } = store;
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if !sessions.are_of(&transaction).map_err(failed)? {
        dictionaries.clear(); // somebody may have deleted what they are of
    }
    dictionaries.begin();
    let mut put = Vec::with_capacity(frames.len());
    for frame in frames {
        match sessions.put(&transaction, dictionaries, &name, frame) {
            one @ (Ok(_) | Err(Error::Overlap { .. } | Error::Full { .. })) => put.push(one),
            Err(error) => {
                dictionaries.clear(); // what was numbered is not there
                sessions.forget();
                return Err(error);
            }
        }
    }
    transaction.commit().map_err(|source| {
        dictionaries.clear();
        sessions.forget();
        failed(source)
    })?;
    sessions.forget_builds(&dictionaries.make_room());
    Ok(put)
}
