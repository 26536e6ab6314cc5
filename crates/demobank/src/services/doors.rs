//! The bank's listener: it can be closed and opened again at the same address, and it closes connections in place of answers
//! that are lost.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{Router, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::{Mutex, Semaphore},
    task::{JoinHandle, JoinSet},
};
use tower::ServiceExt;

use super::{bank::BankServices, door::Lost};

const CONNECTIONS_MOST: usize = 4_096;

/// The doors of a bank at an address of this machine.
pub struct Doors {
    bank: Arc<BankServices>,
    address: SocketAddr,
    serving: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Doors {
    /// The address without a path and without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the listener and all connections: from now on, connections are refused.
    pub async fn close(&self) {
        if let Some(serving) = self.serving.lock().await.take() {
            serving.abort();
            // The task is gone, and with it the listener, once this returns.
            let _aborted = serving.await;
        }
    }

    /// Listens at the same address again.
    pub async fn reopen(&self) -> io::Result<()> {
        self.close().await;
        let listener = TcpListener::bind(self.address).await?;
        *self.serving.lock().await = Some(self.bank.serve_on(listener));
        Ok(())
    }
}

impl BankServices {
    /// Opens the doors at a free port of this machine, at a loopback address of their own: while they are closed, nothing else of
    /// this machine takes their port.
    pub async fn open(self: &Arc<BankServices>) -> io::Result<Doors> {
        let [second, third, fourth] = rand::random::<[u8; 3]>();
        let host = Ipv4Addr::new(127, second, third, fourth.clamp(2, 254));
        let listener = TcpListener::bind((host, 0)).await?;
        let address = listener.local_addr()?;
        let serving = Mutex::new(Some(self.serve_on(listener)));
        Ok(Doors { bank: Arc::clone(self), address, serving })
    }

    /// Serves the doors until the task is aborted or the listener fails. Aborting it ends its connections too.
    pub fn serve_on(self: &Arc<BankServices>, listener: TcpListener) -> JoinHandle<io::Result<()>> {
        tokio::spawn(serve(listener, self.router()))
    }
}

async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MOST));
    let mut connections = JoinSet::new();
    loop {
        let slot = Arc::clone(&slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        let router = router.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| answer_or_close(router.clone(), request));
            // A connection that ends in an error is what a lost answer looks like.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            drop(slot);
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Answers, or fails, upon which the server closes the connection.
async fn answer_or_close(router: Router, request: hyper::Request<Incoming>) -> Result<Response, io::Error> {
    let request = request.map(axum::body::Body::new);
    let response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if response.extensions().get::<Lost>().is_some() {
        return Err(io::Error::other("the answer is lost"));
    }
    Ok(response)
}
