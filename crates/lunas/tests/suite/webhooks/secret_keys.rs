//! While the secret key is rotated, webhook secrets can be read and replaced as always.

use std::sync::Arc;

use engine::{Engine, Error, Rotation, SecretKey, SecretKeys, Settings};
use secrecy::ExposeSecret;
use testkit::{Kit, on_every_database};

on_every_database![
    replacing_a_webhook_secret_while_the_key_is_rotated_succeeds on 2 threads,
    of_two_who_replace_a_webhook_secret_at_once_one_learns_of_the_other,
];

/// An engine of the same installation that encrypts with `current` and decrypts with `other` too.
fn engine(kit: &Kit, current: &SecretKey, other: &SecretKey) -> Engine {
    let keys = SecretKeys { current: current.clone(), others: vec![other.clone()] };
    Engine::new(kit.store.clone(), kit.clock.clone(), Settings::default(), keys)
}

async fn replacing_a_webhook_secret_while_the_key_is_rotated_succeeds(kit: Arc<Kit>) {
    let project = kit.sandbox().await.id;
    let next = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
    let (before, after) = (engine(&kit, &kit.secret_key, &next), engine(&kit, &next, &kit.secret_key));
    let mut secret = kit.engine.webhook_secret(project).await.unwrap();
    for _ in 0..20 {
        let (replaced, rotated) = tokio::join!(before.rotate_webhook_secret(project, true), after.rotate_secrets());
        secret = replaced.unwrap().0;
        assert!(!matches!(rotated.unwrap(), Rotation::Unopened(_)));
        assert_eq!(after.webhook_secret(project).await.unwrap().expose_secret(), secret.expose_secret());
    }
    assert!(matches!(after.rotate_secrets().await.unwrap(), Rotation::Done { total: 2, .. }));
    let alone = Engine::new(kit.store.clone(), kit.clock.clone(), Settings::default(), next);
    assert_eq!(alone.webhook_secret(project).await.unwrap().expose_secret(), secret.expose_secret());
    assert_eq!(alone.examine_secrets().await.unwrap().current, 2);
    assert!(kit.engine.webhook_secret(project).await.is_err(), "the old key opens nothing any more");
}

async fn of_two_who_replace_a_webhook_secret_at_once_one_learns_of_the_other(kit: Arc<Kit>) {
    let project = kit.sandbox().await.id;
    let both = tokio::join!(
        kit.engine.rotate_webhook_secret(project, false),
        kit.engine.rotate_webhook_secret(project, false)
    );
    let ((Ok(kept), Err(error)) | (Err(error), Ok(kept))) = both else { panic!("one of them succeeds") };
    assert!(matches!(error, Error::StillRotating { .. }), "{error}");
    assert_eq!(kit.engine.webhook_secret(project).await.unwrap().expose_secret(), kept.0.expose_secret());
}
