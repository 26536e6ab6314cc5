//! What a server offers: every surface there is, each under its own paths.

use std::io;

use engine::Engine;
use web::{Server, ServerConfig, Surfaces};

/// Binds a server with all surfaces. It does not serve yet.
pub async fn bind(engine: Engine, config: ServerConfig) -> io::Result<Server> {
    let surfaces =
        |app: &web::App| Surfaces::new(vec![checkout::surface(app), dashboard::surface(app)], api::surface(app));
    Server::bind(engine, config, surfaces).await
}
