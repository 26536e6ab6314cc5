//! Puts a server together from all surfaces: home page and documentation, checkout, dashboard, doors for banks and API, and in a
//! rehearsal the bank's screens. It handles no request.

use std::io;

use engine::Engine;
use web::{Server, ServerConfig, Surfaces};

use crate::rehearsal::{self, Screens};

/// Binds a server with all surfaces. It does not accept connections yet.
pub async fn bind(engine: Engine, config: ServerConfig) -> io::Result<Server> {
    bind_with(engine, config, None).await
}

/// The same, with the screens of a rehearsal's banks.
pub(crate) async fn bind_with(engine: Engine, config: ServerConfig, screens: Option<Screens>) -> io::Result<Server> {
    let surfaces = |app: &web::App| {
        let site = site::surface(app, api::openapi_document);
        let mut with_folders = vec![site, checkout::surface(app), dashboard::surface(app), snap::surface(app)];
        with_folders.extend(screens.map(|screens| rehearsal::surface(app, screens)));
        Surfaces::new(with_folders, api::surface(app))
    };
    Server::bind(engine, config, surfaces).await
}
