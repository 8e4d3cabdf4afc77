//! From a name to a socket.

use std::io;
use std::net::ToSocketAddrs;
use std::time::Duration;

use rt::net::Conn;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to `host:port`, trying all addresses of the name.
pub(super) async fn dial(address: &str) -> io::Result<Conn> {
    let addresses = match address.parse() {
        Ok(address) => vec![address],
        Err(_) => {
            let name = address.to_owned();
            rt::blocking(move || name.to_socket_addrs().map(Vec::from_iter)).await?
        }
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match rt::timeout(CONNECT_TIMEOUT, rt::net::connect(address)).await {
            Ok(Ok(conn)) => return Ok(conn),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
