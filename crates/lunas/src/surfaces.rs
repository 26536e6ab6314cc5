//! Puts a server together from all surfaces: checkout, dashboard and API. It handles no request.

use std::io;

use engine::Engine;
use web::{Server, ServerConfig, Surfaces};

/// Binds a server with all surfaces. It does not accept connections yet.
pub async fn bind(engine: Engine, config: ServerConfig) -> io::Result<Server> {
    let surfaces =
        |app: &web::App| Surfaces::new(vec![checkout::surface(app), dashboard::surface(app)], api::surface(app));
    Server::bind(engine, config, surfaces).await
}
