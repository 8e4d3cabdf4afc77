//! Addresses to listen on and to tell clients.

use std::fmt;

use super::error::ConfigError;
use super::value;

/// `NAME://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Name, upper case.
    pub name: String,
    /// Host name or address, without brackets; empty for all addresses.
    pub host: String,
    /// Port; 0 lets the system choose.
    pub port: u16,
}

impl Listener {
    /// Whether the host is empty or an address that means all of them, which no client can connect to.
    pub fn is_wildcard(&self) -> bool {
        matches!(self.host.as_str(), "" | "0.0.0.0" | "::")
    }

    /// Parses one address.
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("{text} is no NAME://HOST:PORT");
        let (name, address) = text.split_once("://").ok_or_else(bad)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(bad)?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let host_ok = host.chars().all(|c| c.is_ascii_alphanumeric() || "-%._:".contains(c));
        let name_ok = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if !host_ok || !name_ok {
            return Err(bad());
        }
        let port = port.parse().map_err(|_| format!("the port of {text} isn't between 0 and 65535"))?;
        Ok(Self { name: name.to_ascii_uppercase(), host: host.into(), port })
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{}://{open}{}{close}:{}", self.name, self.host, self.port)
    }
}

/// The texts that decide about listeners.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListenerTexts<'a> {
    pub(super) listeners: &'a str,
    pub(super) advertised: Option<&'a str>,
    pub(super) protocol_map: &'a str,
    pub(super) controller_names: &'a str,
    /// Name of this machine, told to clients where a listener names no host.
    pub(super) host_name: &'a str,
}

/// What to open and what to advertise, in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listeners {
    pub(super) open: Vec<Listener>,
    pub(super) advertised: Vec<Listener>,
}

impl ListenerTexts<'_> {
    /// Listeners of clients; those of the controller are left out.
    pub(super) fn resolve(&self) -> Result<Listeners, ConfigError> {
        let open = self.clients_of("listeners", self.listeners)?;
        if open.is_empty() {
            let why = "at least one listener that isn't the controller's is needed";
            return Err(ConfigError::invalid("listeners", self.listeners, why));
        }
        self.check_protocols(&open)?;
        let advertised = match self.advertised {
            Some(text) => self.clients_of("advertised.listeners", text)?,
            None => Vec::new(),
        };
        if let Some(extra) = advertised.iter().find(|a| open.iter().all(|l| l.name != a.name)) {
            let why = format!("{} is none of the listeners", extra.name);
            return Err(ConfigError::invalid("advertised.listeners", extra, why));
        }
        let advertised =
            open.iter().map(|listener| self.advertise(listener, &advertised)).collect::<Result<_, _>>()?;
        Ok(Listeners { open, advertised })
    }

    fn clients_of(&self, config: &str, text: &str) -> Result<Vec<Listener>, ConfigError> {
        let invalid = |why: String| ConfigError::invalid(config, text, why);
        let mut found: Vec<Listener> = Vec::new();
        for element in value::list(text) {
            let listener = Listener::parse(element).map_err(invalid)?;
            if found.iter().any(|other| other.name == listener.name) {
                return Err(invalid(format!(
                    "each listener must have a different name, {} is there twice",
                    listener.name
                )));
            }
            let same_place = |other: &Listener| other.port == listener.port && other.host == listener.host;
            if config == "listeners" && listener.port != 0 && found.iter().any(same_place) {
                return Err(invalid(format!(
                    "each listener must have a different port, {} is there twice",
                    listener.port
                )));
            }
            found.push(listener);
        }
        let controllers = value::list(self.controller_names);
        found.retain(|listener| !controllers.iter().any(|name| name.eq_ignore_ascii_case(&listener.name)));
        Ok(found)
    }

    /// An encrypted or authenticated listener must not be served in the clear.
    fn check_protocols(&self, open: &[Listener]) -> Result<(), ConfigError> {
        for listener in open {
            let pairs = value::list(self.protocol_map);
            let mut protocols = pairs.iter().filter_map(|pair| pair.split_once(':'));
            let protocol = protocols.find(|(name, _)| name.trim().eq_ignore_ascii_case(&listener.name));
            match protocol.map(|(_, protocol)| protocol.trim()) {
                Some(protocol) if protocol.eq_ignore_ascii_case("PLAINTEXT") => {}
                Some(protocol) => {
                    let why = format!("only PLAINTEXT is served so far, {} is {protocol}", listener.name);
                    return Err(ConfigError::invalid("listeners", listener, why));
                }
                None => {
                    let why = format!("listener.security.protocol.map doesn't name {}", listener.name);
                    return Err(ConfigError::invalid("listeners", listener, why));
                }
            }
        }
        Ok(())
    }

    fn advertise(&self, listener: &Listener, given: &[Listener]) -> Result<Listener, ConfigError> {
        let given = given.iter().find(|advertised| advertised.name == listener.name);
        let mut advertised = given.unwrap_or(listener).clone();
        if advertised.host.is_empty() {
            advertised.host = self.host_name.into();
        }
        if advertised.is_wildcard() {
            let why = "clients can't connect to an address that means all of them: set advertised.listeners";
            return Err(ConfigError::invalid("advertised.listeners", advertised, why));
        }
        Ok(advertised)
    }
}
