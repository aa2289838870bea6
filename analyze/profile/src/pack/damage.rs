//! Whatever a file is: a report or a sentence, never a panic. Seeds are archives that were written, and then harmed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::{Options, run};
use crate::archive::{Archive, Index};
use crate::merge::Module;
use crate::module::ModuleKey;
use crate::opened::{Opened, Selection};
use crate::symbolize::Portable;
use crate::testing::sample;

/// An archive of a profile, and of what is known of this very program.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let here = tempfile::tempdir().unwrap();
    let profile = here.path().join("a.diyt");
    fs::write(&profile, sample()).unwrap();
    let output = here.path().join("a.diya");
    run(&Options { profiles: vec![profile], output: output.clone(), symbols: true }).unwrap();
    fs::read(output).unwrap()
});

/// Reads all that an archive of these bytes has; whether it could be.
fn read(bytes: &[u8]) -> Result<(), String> {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("b.diya");
    fs::write(&path, bytes).unwrap();
    read_at(&path)
}

fn read_at(path: &Path) -> Result<(), String> {
    let archive = Archive::open(path).map_err(|error| error.to_string())?;
    for number in 0..archive.len() {
        archive.profile(number).map_err(|error| error.to_string())?;
    }
    for key in archive.modules() {
        archive.symbols::<Portable>(key).map_err(|error| error.to_string())?;
    }
    let selection = Selection { profiles: vec![PathBuf::from(path)], ..Selection::default() };
    let opened = Opened::open(&selection).map_err(|error| error.to_string())?;
    assert!(opened.merged.modules.iter().map(Module::path).all(|path| !path.is_empty()));
    Ok(())
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(read(&WHOLE), Ok(()));
}

/// A file of one entry that is nothing but zeros, and says that it has `claimed` of them.
fn zeros(bytes: usize, claimed: Option<u32>) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let (stored, deflated) = (zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated);
    zip.start_file("diytrace-archive", options.compression_method(stored)).unwrap();
    std::io::Write::write_all(&mut zip, b"version 1\n").unwrap();
    zip.start_file("index", options.compression_method(deflated)).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), bytes as u64), &mut zip).unwrap();
    let mut file = zip.finish().unwrap().into_inner();
    if let Some(claimed) = claimed {
        let honest = (bytes as u32).to_le_bytes();
        for at in 0..file.len() - 4 {
            if file[at..at + 4] == honest {
                file[at..at + 4].copy_from_slice(&claimed.to_le_bytes());
            }
        }
    }
    file
}

#[test]
fn what_would_fill_the_memory_is_refused_before_it_does() {
    let many = 80 << 20;
    let said = read(&zeros(many, None)).unwrap_err();
    assert!(said.contains("b.diya would unpack from ") && said.contains(" to 80.0 MiB, as no archive"), "{said}");
    // More than it says that it is.
    let said = read(&zeros(many, Some(1000))).unwrap_err();
    assert!(said.contains("is a damaged archive (") && said.contains("larger than its declared"), "{said}");
}

#[test]
fn what_is_no_archive_is_told_so() {
    let mut newer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut foreign = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    newer.start_file("diytrace-archive", options).unwrap();
    std::io::Write::write_all(&mut newer, b"version 99\n").unwrap();
    foreign.start_file("else", options).unwrap();
    for (bytes, expected) in [
        (newer.finish().unwrap().into_inner(), "version 99 of the archive format"),
        (foreign.finish().unwrap().into_inner(), "is no diytrace archive"),
        (WHOLE[..WHOLE.len() - 1].to_vec(), "is a damaged archive"),
        (WHOLE[..100].to_vec(), "is a damaged archive"),
        (b"PK\x03\x04".to_vec(), "is a damaged archive"),
    ] {
        let said = read(&bytes).unwrap_err();
        assert!(said.contains(expected) && !said.contains('\n'), "{said}");
    }
}

proptest! {
    #[test]
    fn flipped_bits_do_no_harm(flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..8)) {
        let mut bytes = WHOLE.clone();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn cuts_are_told(end in any::<prop::sample::Index>()) {
        prop_assert!(read(&WHOLE[..end.index(WHOLE.len())]).is_err());
    }

    #[test]
    fn entries_that_somebody_made_up_do_no_harm(
        index in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..60),
        symbols in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..200),
        profile in prop::collection::vec(any::<u8>(), 0..300),
        is_sound in any::<bool>(),
    ) {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let kept = Index { modules: vec![ModuleKey::BuildId(vec![1])], ..Default::default() };
        let index = if is_sound { postcard::to_stdvec(&kept).unwrap() } else { index };
        let entries: [(&str, &[u8]); 4] =
            [("diytrace-archive", b"version 1\n"), ("profiles/0/", &profile), ("symbols/0", &symbols), ("index", &index)];
        for (name, bytes) in entries {
            zip.start_file(name, zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Deflated)).unwrap();
            std::io::Write::write_all(&mut zip, bytes).unwrap();
        }
        let _ = read(&zip.finish().unwrap().into_inner());
    }
}
