//! Reading a request's body: it must have the expected media type, fit the size limit and arrive in time. It does not parse it.

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, header},
};
use http_body_util::BodyExt;

use crate::{App, Failure};

const BYTES_MOST: usize = 64 * 1024;
/// A body over the limit is still read up to here before the error is sent: many clients read the answer only after they
/// have sent the whole body.
const DISCARDED_BYTES_MOST: usize = 4 * 1024 * 1024;

/// The whole body, if its `Content-Type` is `media_type`.
pub async fn read_as(request: Request, app: &App, media_type: &'static str) -> Result<Bytes, Failure> {
    let is_of_type = is_of_type(request.headers(), media_type);
    let bytes = read_any(request, app).await?;
    if is_of_type { Ok(bytes) } else { Err(Failure::UnsupportedMediaType(media_type)) }
}

/// The whole body, of any media type.
pub async fn read_any(request: Request, app: &App) -> Result<Bytes, Failure> {
    match read_beginning(request, app, BYTES_MOST, DISCARDED_BYTES_MOST).await? {
        (bytes, true) => Ok(bytes),
        (_, false) => Err(Failure::BodyTooLarge { bytes_most: BYTES_MOST }),
    }
}

/// The body up to `most` bytes, and whether that is all of it. What is longer is read up to `discarded_most` bytes.
pub(crate) async fn read_beginning(
    request: Request,
    app: &App,
    most: usize,
    discarded_most: usize,
) -> Result<(Bytes, bool), Failure> {
    let read = read(request.into_body(), most, discarded_most);
    tokio::time::timeout(app.settings.body_timeout, read).await.map_err(|_| Failure::BodyTimeout)?
}

fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    given.trim().eq_ignore_ascii_case(media_type)
}

async fn read(mut body: Body, most: usize, discarded_most: usize) -> Result<(Bytes, bool), Failure> {
    let mut bytes = Vec::new();
    let mut received = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Failure::BodyBroken)?.into_data() else { continue };
        received += data.len();
        let room = most - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if received > discarded_most {
            break;
        }
    }
    Ok((bytes.into(), received <= most))
}
