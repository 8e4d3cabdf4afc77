//! Schema files to Rust: `schema/api` becomes the API table and all messages, `schema/internal` the records.

// The model serves the tests too, which use other parts of it.
#[allow(dead_code)]
#[path = "build/schema.rs"]
mod schema;

#[path = "build/api_keys.rs"]
mod api_keys;
#[path = "build/decode.rs"]
mod decode;
#[path = "build/encode.rs"]
mod encode;
#[path = "build/error_codes.rs"]
mod error_codes;
#[path = "build/names.rs"]
mod names;
#[path = "build/parse.rs"]
mod parse;
#[path = "build/structs.rs"]
mod structs;

use std::path::Path;

use schema::{Kind, Message};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() {
    // One clear line instead of a panic's trace: whoever edits a schema reads this.
    if let Err(error) = generate() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

// A build script runs before there is a runtime.
#[allow(clippy::disallowed_methods)]
fn generate() -> Outcome<()> {
    println!("cargo::rerun-if-changed=schema");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR")?;
    let api = load(Path::new("schema/api"))?;
    let internal = load(Path::new("schema/internal"))?;
    std::fs::write(Path::new(&out).join("api_keys.rs"), api_keys::emit(&api)?)?;
    let messages: Vec<&Message> = api.iter().filter(|m| m.kind != Kind::Removed).collect();
    let text = structs::emit(&messages) + &api_keys::emit_traits(&messages)? + &error_codes::emit(&messages);
    std::fs::write(Path::new(&out).join("messages.rs"), text)?;
    let records: Vec<&Message> = internal.iter().collect();
    let text = structs::emit(&records) + &structs::emit_for_each(&records);
    std::fs::write(Path::new(&out).join("internal.rs"), text)?;
    Ok(())
}

/// All messages of a folder, by file name.
fn load(dir: &Path) -> Outcome<Vec<Message>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let file = format!("protocol/{}", path.display());
        all.extend(parse::parse(&file, &text).map_err(|e| e.to_string())?);
    }
    Ok(all)
}
