//! Rows for a copy that no command makes quickly.

/// Logos of projects, as their pages show them.
pub(super) const LOGOS: &str = "INSERT INTO logos SELECT id, 'ab12', x'89504e47' FROM projects; UPDATE projects SET logo_hash = 'ab12', \
    logo_width = 1, logo_height = 1, face_colour = '#0b57d0', contact_whatsapp = '62812'";

/// What people have chosen about letters.
pub(super) const LETTERS: &str = "INSERT INTO letter_choices SELECT id, 'en', 'daily' FROM users; \
    INSERT INTO letter_refusals SELECT id, 'money_held' FROM users; \
    INSERT INTO receipt_letters SELECT id FROM projects; \
    INSERT INTO letter_alerts VALUES ('bank é', 1)";
