//! What must not be passed over with a warning: the operator would get another broker than the one that was asked for.

use super::error::ConfigError;
use super::value;
use super::values::BrokerValues;

/// Faults of a configuration that counts on an authorizer, or on other nodes, which this node would serve without.
pub(super) fn unsafe_to_serve(values: &BrokerValues, node_id: i32) -> Vec<ConfigError> {
    let checks = [authorizer(values), roles(values), voters(values, node_id), bootstrap_servers(values)];
    checks.into_iter().filter_map(Result::err).collect()
}

fn authorizer(values: &BrokerValues) -> Result<(), ConfigError> {
    let (name, class) = ("authorizer.class.name", values.text("authorizer.class.name"));
    if class.trim().is_empty() {
        return Ok(());
    }
    Err(ConfigError::invalid(name, class, "requests aren't authorized yet: every client could do everything"))
}

fn roles(values: &BrokerValues) -> Result<(), ConfigError> {
    let (name, text) = ("process.roles", values.text("process.roles"));
    let roles = value::list(text);
    if ["broker", "controller"].iter().all(|role| roles.contains(role)) {
        return Ok(());
    }
    let why =
        "a node is broker and controller at once so far: in another role it would be a cluster of its own";
    Err(ConfigError::invalid(name, text, why))
}

fn voters(values: &BrokerValues, node_id: i32) -> Result<(), ConfigError> {
    let (name, text) = ("controller.quorum.voters", values.text("controller.quorum.voters"));
    for voter in value::list(text) {
        let id = voter.split_once('@').and_then(|(id, _)| id.trim().parse::<i32>().ok());
        let why = match id {
            Some(id) if id == node_id => continue,
            Some(id) => format!(
                "the metadata quorum is this node alone so far: without node {id} it would be a cluster of its own"
            ),
            None => format!("{voter} is no ID@HOST:PORT"),
        };
        return Err(ConfigError::invalid(name, text, why));
    }
    Ok(())
}

fn bootstrap_servers(values: &BrokerValues) -> Result<(), ConfigError> {
    let name = "controller.quorum.bootstrap.servers";
    let text = values.text(name);
    if value::list(text).len() <= 1 {
        return Ok(());
    }
    let why = "the metadata quorum is this node alone so far: it would be a cluster of its own";
    Err(ConfigError::invalid(name, text, why))
}
