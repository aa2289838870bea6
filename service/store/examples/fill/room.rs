//! The room that a store takes, and the memory of who asks it.

use std::error::Error;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use diytrace_store::{Address, Stored, open};

/// Tells what a row takes on the disk, and of ClickHouse how well its sums are compressed: once it has merged what came.
pub fn tell(address: &Address, rows: usize) -> Result<(), Box<dyn Error>> {
    let bytes = match address {
        Address::Sqlite(file) => fs::metadata(file)?.len() as f64,
        Address::ClickHouse(_) => {
            let store = open(address, false)?;
            let merges = "SELECT count() FROM system.merges WHERE database = currentDatabase()";
            for _ in 0..120 {
                if number(&store, merges)? == 0.0 {
                    break;
                }
                sleep(Duration::from_secs(1));
            }
            let of =
                |what: &str| format!("SELECT {what} FROM system.parts WHERE active AND database = currentDatabase()");
            let packed = "sum(data_uncompressed_bytes) / sum(data_compressed_bytes)";
            let compression = number(&store, &format!("{} AND table = 'path_sum'", of(packed)))?;
            println!("compression\t{compression:.1}\t\t");
            println!("parts\t{}\t\t", number(&store, &of("count()"))?);
            number(&store, &of("sum(bytes_on_disk)"))?
        }
    };
    println!("bytes_per_row\t{:.2}\t\t", bytes / rows as f64);
    Ok(())
}

/// The one number that a query answers.
fn number(store: &Stored, query: &str) -> Result<f64, Box<dyn Error>> {
    let mut answer = String::new();
    store.sql(query, &mut |row| {
        answer = row[0].text();
        true
    })?;
    Ok(answer.parse()?)
}

/// The most memory that this process had since it began.
pub fn peak_mb() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(peak.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}
