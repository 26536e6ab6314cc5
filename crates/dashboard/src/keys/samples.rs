//! The pages about API keys, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{CreatedKey, KeyFields, KeyRow, Keys, RevokeKey, RightChoice};
use crate::samples::{badge, hostile, now, shell, text};

const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";

pub(crate) fn key_row(language: Language) -> KeyRow {
    KeyRow {
        id: text("key_1"),
        name: hostile(),
        shown: text("sk_test_…abcd"),
        rights: text("Pembayaran"),
        networks: text("203.0.113.0/24, 2001:db8::/32"),
        created: now(language),
        used: Some(now(language)),
        badge: badge("active"),
        ends: Some(now(language)),
        is_unused: true,
        rotate_url: Some(format!("{BASE}/keys/key_1/rotate")),
        revoke_url: Some(format!("{BASE}/keys/key_1/revoke")),
    }
}

fn keys(language: Language, rows: Vec<KeyRow>, created: Option<CreatedKey>) -> String {
    let mistake = created.is_none().then(|| text("Nama sudah dipakai"));
    let view = Keys {
        shell: shell(language),
        base: text(BASE),
        attempt: text("0"),
        rows,
        may_manage: true,
        notice: mistake.clone(),
        new: KeyFields {
            name: hostile(),
            name_mistake: mistake.clone(),
            rights: vec![RightChoice {
                field: text("right-payments"),
                name: hostile(),
                hint: hostile(),
                checked: true,
            }],
            owners_give_more: created.is_none(),
            networks: hostile(),
            networks_mistake: mistake,
        },
        old_until: created.is_some().then(|| now(language)),
        created,
    };
    view.render().unwrap()
}

fn revoke_key(language: Language, is_revoked: bool) -> String {
    let (keys_url, action) = (format!("{BASE}/keys"), format!("{BASE}/keys/key_1/revoke"));
    RevokeKey { shell: shell(language), keys_url, action, key: key_row(language), is_revoked }.render().unwrap()
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let created = CreatedKey {
        id: text("key_1"),
        title: text("Jadi"),
        secret: text("rahasia"),
        rights: text("Hanya membaca"),
        example: hostile(),
        example_text: text("Coba"),
    };
    vec![
        ("keys", keys(language, vec![key_row(language)], None)),
        ("created key", keys(language, Vec::new(), Some(created))),
        ("revoke key", revoke_key(language, false)),
        ("revoked key", revoke_key(language, true)),
    ]
}
