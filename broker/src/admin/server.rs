//! The thread's loop: accept, serve one request a connection, close.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use super::limits::{
    ACCEPT_PAUSE, CONNECTION_WITHIN, CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_WITHIN, HEADERS_MAX,
};
use super::routes::Routes;

/// Serves for ever, on the thread that calls it.
///
/// # Errors
/// The listener can't be waited for.
#[allow(clippy::disallowed_types, reason = "a plain thread, not a shard's")]
pub(super) fn run(listener: std::net::TcpListener, routes: Routes) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        listener.set_nonblocking(true)?;
        accept(TcpListener::from_std(listener)?, Rc::new(routes)).await
    })
}

async fn accept(listener: TcpListener, routes: Rc<Routes>) -> std::io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        match listener.accept().await {
            Ok((stream, _)) => {
                let routes = Rc::clone(&routes);
                tokio::task::spawn_local(async move {
                    serve(stream, routes).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the admin endpoint can't accept");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// One request. Whoever asks again connects again: so nobody holds a place for longer than a request takes.
async fn serve(stream: TcpStream, routes: Rc<Routes>) {
    let service = service_fn(|request: Request<Incoming>| {
        let routes = Rc::clone(&routes);
        async move {
            let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
            let answer: Response<_> = routes.answer(request.method(), path, query, request.headers()).await;
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    match tokio::time::timeout(CONNECTION_WITHIN, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection to the admin endpoint ended"),
        Err(_) => tracing::debug!("a connection to the admin endpoint took too long"),
    }
}
