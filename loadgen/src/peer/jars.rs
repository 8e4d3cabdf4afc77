//! Kafka's jars, by Maven.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{HostError, make_dir, write_text};

/// The pom of the project's checks: one place says which Kafka.
const POM: &str = include_str!("../../../tests/kafka/pom.xml");

/// The version that the pom names.
pub const KAFKA_VERSION: &str = "4.4.0";

/// Oldest Java that Kafka 4 runs on.
const JAVA_MIN: u32 = 17;

/// The directory of jars, brought into `target/kafka/libs` if they aren't there yet. `RINGLOG_KAFKA_LIBS` names
/// another.
///
/// # Errors
/// No Java 17, no Maven, or Maven can't bring them.
pub fn jars() -> Result<PathBuf, HostError> {
    check_java()?;
    let named = std::env::var_os("RINGLOG_KAFKA_LIBS").map(PathBuf::from);
    if let Some(libs) = named {
        if holds_kafka(&libs) {
            return Ok(libs);
        }
        let why = format!("RINGLOG_KAFKA_LIBS={} holds no Kafka {KAFKA_VERSION}", libs.display());
        return Err(HostError::Missing(why));
    }
    let dir = target_dir()?.join("kafka");
    let libs = dir.join("libs");
    if !holds_kafka(&libs) {
        bring(&dir, &libs)?;
    }
    Ok(libs)
}

pub(super) fn holds_kafka(libs: &Path) -> bool {
    ["kafka_2.13", "kafka-clients", "kafka-tools"]
        .iter()
        .all(|jar| libs.join(format!("{jar}-{KAFKA_VERSION}.jar")).exists())
}

fn bring(dir: &Path, libs: &Path) -> Result<(), HostError> {
    make_dir(libs)?;
    let pom = dir.join("pom.xml");
    write_text(&pom, POM)?;
    eprintln!("bringing Kafka {KAFKA_VERSION} by Maven into {}", libs.display());
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "-f"]).arg(&pom).args(["dependency:copy-dependencies", "-DincludeScope=runtime"]);
    maven.arg(format!("-DoutputDirectory={}", libs.display()));
    let output = maven.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| HostError::Missing(format!("Kafka's jars come by Maven: mvn: {error}")))?;
    if output.status.success() && holds_kafka(libs) {
        return Ok(());
    }
    let log_tail = String::from_utf8_lossy(&output.stdout).into_owned();
    Err(HostError::Program { what: "Maven could not bring Kafka's jars".into(), log_tail })
}

fn check_java() -> Result<(), HostError> {
    let output = Command::new("java").arg("-version").stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| HostError::Missing(format!("Kafka needs Java {JAVA_MIN}: java: {error}")))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    match java_version(&text) {
        Some(version) if version >= JAVA_MIN => Ok(()),
        _ => Err(HostError::Missing(format!("Kafka needs Java {JAVA_MIN}, and this is: {}", text.trim()))),
    }
}

/// The first number in what `java -version` prints: `openjdk version "17.0.9" 2023-10-17`.
pub(super) fn java_version(text: &str) -> Option<u32> {
    let quoted = text.split_once("version \"")?.1;
    quoted.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Cargo's target directory if this program lies in one, else `target` below the current directory.
///
/// # Errors
/// The system doesn't tell where we are.
pub fn target_dir() -> Result<PathBuf, HostError> {
    let own = std::env::current_exe().map_err(|error| HostError::io("finding this program's file", error))?;
    // Cargo marks the directory so for backup programs.
    if let Some(dir) = own.ancestors().skip(1).find(|dir| dir.join("CACHEDIR.TAG").exists()) {
        return Ok(dir.to_owned());
    }
    let current =
        std::env::current_dir().map_err(|error| HostError::io("finding the current directory", error))?;
    Ok(current.join("target"))
}
