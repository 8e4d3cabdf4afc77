//! Which protocol a group speaks.

use std::collections::BTreeMap;

use protocol::types::Str;

use super::group::{ClassicGroup, GroupState};
use super::member::Protocols;

impl ClassicGroup {
    /// Whether a member that offers this could be in the group: same type, and a protocol in common with all members.
    pub fn supports(&self, protocol_type: &str, protocols: &Protocols) -> bool {
        if self.state == GroupState::Empty {
            return !protocol_type.is_empty() && !protocols.is_empty();
        }
        self.protocol_type.as_deref() == Some(protocol_type)
            && protocols
                .iter()
                .any(|(name, _)| self.supported.get(name).copied().unwrap_or(0) == self.members.len())
    }

    /// The protocol with the most votes: each member votes for the first of its own that all members offer. Equal votes go to the name that sorts
    /// first, so that every replay chooses alike. None only without members.
    pub fn select_protocol(&self) -> Option<Str> {
        self.elect(|_, protocols| protocols)
    }

    /// As [`ClassicGroup::select_protocol`], were `member_id` to offer `instead`.
    pub fn select_protocol_with(&self, member_id: &str, instead: &Protocols) -> Option<Str> {
        self.elect(|id, protocols| if id == member_id { instead } else { protocols })
    }

    /// Counts votes in O(members x protocols).
    fn elect<'a>(&'a self, offers: impl Fn(&str, &'a Protocols) -> &'a Protocols) -> Option<Str> {
        let mut offered: BTreeMap<&Str, usize> = BTreeMap::new();
        for (id, member) in &self.members {
            for (name, _) in offers(id, &member.protocols) {
                *offered.entry(name).or_default() += 1;
            }
        }
        let everywhere = self.members.len();
        let mut votes: BTreeMap<&Str, usize> = BTreeMap::new();
        for (id, member) in &self.members {
            let mut own = offers(id, &member.protocols).iter();
            if let Some((name, _)) = own.find(|(name, _)| offered.get(name) == Some(&everywhere)) {
                *votes.entry(name).or_default() += 1;
            }
        }
        let most = votes.values().copied().max()?;
        votes.into_iter().find(|(_, count)| *count == most).map(|(name, _)| name.clone())
    }
}
