//! Quotas and their windows.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "quota.window.num" Int = "11", min(1), ReadOnly, QUOTAS, "Windows of client quotas.";
    "quota.window.size.seconds" Int = "1", min(1), ReadOnly, QUOTAS, "Length of a window of client quotas, in s.";
    "replication.quota.window.num" Int = "11", min(1), ReadOnly, QUOTAS, "Windows of replication quotas.";
    "replication.quota.window.size.seconds" Int = "1", min(1), ReadOnly, QUOTAS,
        "Length of a window of the replication quota, in s.";
    "alter.log.dirs.replication.quota.window.num" Int = "11", min(1), ReadOnly, QUOTAS,
        "Windows of the quota of moves between directories.";
    "alter.log.dirs.replication.quota.window.size.seconds" Int = "1", min(1), ReadOnly, QUOTAS,
        "Length of a window of the quota for moves between directories, in s.";
    "controller.quota.window.num" Int = "11", min(1), ReadOnly, QUOTAS, "Windows of the controller's quota.";
    "controller.quota.window.size.seconds" Int = "1", min(1), ReadOnly, QUOTAS,
        "Length of a window of the quota for changes of topics, in s.";
    "client.quota.callback.class" Class, ANY, ReadOnly, JAVA, "Class that decides quotas.";
};
