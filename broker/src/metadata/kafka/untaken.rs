//! What a Kafka cluster has and this program doesn't, so that the operator is told.

use std::collections::BTreeSet;

use bytes::Bytes;
use protocol::types::{Str, Uuid};
use protocol::wire::{DecodeError, Reader};

/// Settings that are left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Untaken {
    /// Ids of access control entries.
    pub acls: BTreeSet<Uuid>,
    /// Users with SCRAM credentials, by name and mechanism.
    pub users: BTreeSet<(Str, i8)>,
    /// Client quotas: entity and key, as bytes.
    pub quotas: BTreeSet<Bytes>,
    /// Whether delegation tokens were given out.
    pub tokens: bool,
    /// Features finalised above 0 that aren't served here.
    pub features: BTreeSet<Str>,
}

/// Types of records, as Kafka numbers them.
const DELEGATION_TOKEN: u32 = 10;
const USER_SCRAM_CREDENTIAL: u32 = 11;
const CLIENT_QUOTA: u32 = 14;
const ACCESS_CONTROL_ENTRY: u32 = 18;
const REMOVE_ACCESS_CONTROL_ENTRY: u32 = 19;
const REMOVE_USER_SCRAM_CREDENTIAL: u32 = 22;
/// What follows the part of a quota's record that tells which one it is: value f64, whether it goes, no tags.
const QUOTA_TAIL_BYTES: usize = 10;

impl Untaken {
    /// Takes in a record of that type, `r` standing behind its version. False if it is none of these.
    pub(super) fn apply(&mut self, key: u32, r: &mut Reader) -> Result<bool, DecodeError> {
        match key {
            ACCESS_CONTROL_ENTRY => drop(self.acls.insert(Uuid(r.array()?))),
            REMOVE_ACCESS_CONTROL_ENTRY => drop(self.acls.remove(&Uuid(r.array()?))),
            USER_SCRAM_CREDENTIAL => drop(self.users.insert(user(r)?)),
            REMOVE_USER_SCRAM_CREDENTIAL => drop(self.users.remove(&user(r)?)),
            CLIENT_QUOTA => {
                let rest = r.take_rest();
                let at = rest.len().saturating_sub(QUOTA_TAIL_BYTES);
                let (quota, is_removed) = (rest.slice(..at), rest.get(at + 8) == Some(&1));
                if is_removed {
                    self.quotas.remove(&quota)
                } else {
                    self.quotas.insert(quota)
                };
            }
            DELEGATION_TOKEN => self.tokens = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn user(r: &mut Reader) -> Result<(Str, i8), DecodeError> {
    let name = r.opt_string(true)?.ok_or_else(|| r.null())?;
    Ok((name.detached(), r.i8()?))
}
