//! The routes of the API, by its OpenAPI document, and keys that open none of them.

use serde_json::Value;

/// Every route that needs a key, by the OpenAPI document, as `GET /v1/payments/{paymentID}`, sorted.
pub(crate) fn routes() -> Vec<String> {
    let document: Value = serde_json::from_str(&api::openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut routes: Vec<String> = paths
        .iter()
        .filter(|(path, _)| path.starts_with("/v1/"))
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys().filter(|key| key.as_str() != "parameters");
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    routes.sort();
    assert!(routes.len() >= 15, "the document names every route: {routes:?}");
    routes
}

/// A route's method, and its path with `id` where the route takes one.
pub(crate) fn method_and_path(route: &str, id: &str) -> (reqwest::Method, String) {
    let (method, template) = route.split_once(' ').unwrap();
    let path: Vec<&str> =
        template.split('/').map(|segment| if segment.starts_with('{') { id } else { segment }).collect();
    (method.parse().unwrap(), path.join("/"))
}

/// The key with its last check character changed, so that its checksum is wrong.
pub(crate) fn altered(key: &str) -> String {
    let (start, last) = key.split_at(key.len() - 1);
    format!("{start}{}", if last == "0" { "1" } else { "0" })
}
