//! Projects and their allowed origins.

use domain::{
    bank::Bank,
    face::{Contacts, Face, LogoMark},
    fee::FeeOverrides,
    id::mint,
    method::Method,
    money::Rupiah,
    project::{Environment, MerchantProfile, Project, SuccessWord},
};
use store::{Change, Guard, KeyWrite, LogoFile, ProjectWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, entropy, kept_key, kept_project},
};

on_every_database![
    a_project_is_read_back_as_it_was_committed,
    a_changed_project_keeps_its_identity_and_secret,
    projects_are_listed_in_the_order_of_their_making,
    a_project_that_was_not_kept_leaves_nothing_to_the_next,
    allowed_origins_are_those_of_the_last_change,
    a_preflight_counts_active_projects_only,
    a_logo_is_read_by_its_hash_until_its_project_has_another,
];

/// A project without optional settings.
fn bare_project() -> Project {
    Project {
        environment: Environment::Production,
        active: false,
        approved: false,
        success_word: SuccessWord::Paid,
        webhook_url: None,
        face: Face::default(),
        fees: FeeOverrides::default(),
        banks: Vec::new(),
        default_methods: Vec::new(),
        frame_origins: Vec::new(),
        refunds: domain::refund_settings::RefundSettings::default(),
        version: 41,
        ..samples::project()
    }
}

async fn a_project_is_read_back_as_it_was_committed(database: Database) {
    let store = database.open().await;
    let every_bank = Project {
        banks: Bank::ALL.to_vec(),
        default_methods: Bank::ALL.into_iter().map(Method::VirtualAccount).collect(),
        fees: FeeOverrides { qris_basis_points: Some(0), virtual_account: Some(Rupiah::ZERO) },
        ..samples::project()
    };
    for (project, secret) in
        [(samples::project(), vec![0, 255, 7]), (bare_project(), Vec::new()), (every_bank, vec![b'\'', 0])]
    {
        let write = ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: secret.clone() };
        keep(&store, write).await;
        assert_eq!(store.project(project.id).await.unwrap(), Some(project.clone()));
        assert_eq!(sealed_secret(&store, &project).await, secret);
    }
    let nobody = mint(NOW, entropy());
    assert_eq!(store.project(nobody).await.unwrap(), None);
    assert!(store.webhook_target(nobody).await.unwrap().is_none());
}

async fn sealed_secret(store: &Store, project: &Project) -> Vec<u8> {
    let secrets = store.webhook_target(project.id).await.unwrap().unwrap().secrets;
    assert!(secrets.previous.is_none());
    secrets.current
}

async fn a_changed_project_keeps_its_identity_and_secret(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let changed = Project {
        id: project.id,
        name: "Another".to_owned(),
        environment: project.environment,
        merchant: MerchantProfile {
            name: "ANOTHER".to_owned(),
            city: "MEDAN".to_owned(),
            postal_code: "20111".to_owned(),
        },
        created_at: project.created_at,
        version: 1,
        ..bare_project()
    };
    assert_eq!(commit(&store, ProjectWrite::Changed { project: changed.clone() }).await, Outcome::Kept);
    let expected = Project { version: 2, ..changed.clone() };
    assert_eq!(store.project(project.id).await.unwrap(), Some(expected));
    assert_eq!(sealed_secret(&store, &project).await, [1, 2, 3]);
    assert_eq!(store.project(other.id).await.unwrap(), Some(other));
    let stale = commit(&store, ProjectWrite::Changed { project: changed }).await;
    assert_eq!(stale, Outcome::Conflict(Guard::ProjectVersion));
}

async fn projects_are_listed_in_the_order_of_their_making(database: Database) {
    let store = database.open().await;
    assert_eq!(store.projects().await.unwrap(), []);
    let early = samples::project();
    let late = Project { id: mint(after(1), entropy()), created_at: after(1), ..samples::project() };
    for project in [&late, &early] {
        keep(&store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: Vec::new() }).await;
    }
    assert_eq!(store.projects().await.unwrap(), [early, late]);
}

/// On SQLite the next project gets the number of one that was rolled back.
async fn a_project_that_was_not_kept_leaves_nothing_to_the_next(database: Database) {
    let store = database.open().await;
    let (lost, next) = (samples::project(), samples::project());
    let key = |name| {
        let key = samples::key(&lost, name);
        KeyWrite::Created { hash: samples::key_hash(&key), key }
    };
    let created = ProjectWrite::Created { project: lost.clone(), sealed_webhook_secret: Vec::new() };
    let twice = Change::from(created).with(key("server")).with(key("server"));
    assert_eq!(commit(&store, twice).await, Outcome::Conflict(Guard::KeyName));
    keep(&store, ProjectWrite::Created { project: next.clone(), sealed_webhook_secret: Vec::new() }).await;
    assert_eq!(commit(&store, key("server")).await, Outcome::Unexpected);
    assert_eq!(store.project(lost.id).await.unwrap(), None);
    assert_eq!(store.keys(next.id).await.unwrap(), []);
    kept_key(&store, &next, "server").await;
    assert_eq!((store.keys(next.id).await.unwrap().len(), store.keys(lost.id).await.unwrap()), (1, Vec::new()));
}

async fn allowed_origins_are_those_of_the_last_change(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let allow = |project: &Project, origins: &[&str]| {
        let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        ProjectWrite::AllowedOrigins { project_id: project.id, origins }
    };
    keep(&store, allow(&other, &["https://b.example"])).await;
    for (given, kept) in [
        (
            &["https://b.example", "https://a.example", "https://b.example"][..],
            &["https://a.example", "https://b.example"][..],
        ),
        (&["http://c.example:8080"], &["http://c.example:8080"]),
        (&[], &[]),
    ] {
        keep(&store, allow(&project, given)).await;
        assert_eq!(store.allowed_origins(project.id).await.unwrap(), kept);
        for origin in ["https://a.example", "https://b.example", "http://c.example:8080", "https://A.example"] {
            let allowed = store.allows_origin(project.id, origin).await.unwrap();
            assert_eq!(allowed, kept.contains(&origin), "{origin}");
        }
        assert_eq!(store.allowed_origins(other.id).await.unwrap(), ["https://b.example"]);
    }
}

async fn a_preflight_counts_active_projects_only(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let origin = "https://a.example";
    assert!(!store.anyone_allows_origin(origin).await.unwrap());
    keep(&store, ProjectWrite::AllowedOrigins { project_id: project.id, origins: vec![origin.to_owned()] }).await;
    assert!(store.anyone_allows_origin(origin).await.unwrap());
    assert!(!store.anyone_allows_origin("https://b.example").await.unwrap());
    keep(&store, ProjectWrite::Changed { project: Project { active: false, ..project } }).await;
    assert!(!store.anyone_allows_origin(origin).await.unwrap());
}

async fn a_logo_is_read_by_its_hash_until_its_project_has_another(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let contacts = Contacts {
        whatsapp: Some("62812".to_owned()),
        phone: Some("+6221".to_owned()),
        email: Some("a@b.id".to_owned()),
        site: Some("https://toko.example/é".to_owned()),
    };
    for (version, logo) in (1..).zip([Some("first"), Some("second"), None]) {
        let mark = logo.map(|hash| LogoMark { hash: hash.to_owned(), width: 480, height: 160 });
        let face = Face { logo: mark, colour: None, contacts: contacts.clone() };
        let changed = Project { face, version, ..project.clone() };
        let file = logo.map(|hash| LogoFile { hash: hash.to_owned(), png: hash.as_bytes().to_vec() });
        let write = ProjectWrite::Logo { project_id: project.id, logo: file };
        keep(&store, Change::from(ProjectWrite::Changed { project: changed.clone() }).with(write)).await;
        let expected = Project { version: version + 1, ..changed };
        assert_eq!(store.project(project.id).await.unwrap(), Some(expected));
        for hash in ["first", "second"] {
            let stored = store.logo(hash).await.unwrap();
            assert_eq!(stored.as_deref(), (logo == Some(hash)).then_some(hash.as_bytes()), "{version} {hash}");
        }
        assert_eq!(store.breaches().await.unwrap(), []);
    }
    assert_eq!(store.project(other.id).await.unwrap(), Some(other));
}
