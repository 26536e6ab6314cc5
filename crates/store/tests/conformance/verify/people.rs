//! Invariants about members, sessions and what belongs to them.

use super::{History, Row};

const MEMBERS: &str = "I13 every member and invitation belongs to an existing project and user";
const SESSIONS: &str = "I13 every session belongs to an existing user";
const OWNER: &str = "I13 a project that has members has an owner";
const LOGO: &str = "I13 a project names the logo that is stored for it";
const SEEN: &str = "I13 a view and the use of a key belong to a payment and a key of their project";

pub(super) fn people_rows(history: &History) -> Vec<Row> {
    let (owner, project) = (history.owner.id, history.due.terms.project_id.to_string());
    let member = format!("{project}:{owner}");
    let (invite, session) = (history.invite.id.to_string(), history.session.id.to_string());
    let (due, key, elsewhere) = (history.due.id.to_string(), history.live_key.id.to_string(), history.other.id);
    vec![
        (MEMBERS, format!("DELETE FROM users WHERE id = '{owner}'"), member),
        (
            MEMBERS,
            format!("UPDATE members SET project_id = 'prj_none' WHERE user_id = '{owner}'"),
            format!("prj_none:{owner}"),
        ),
        (MEMBERS, format!("UPDATE invites SET project_id = 'prj_none' WHERE id = '{invite}'"), invite.clone()),
        (MEMBERS, format!("UPDATE invites SET used_by = 'usr_none' WHERE id = '{invite}'"), invite),
        (SESSIONS, format!("UPDATE sessions SET user_id = 'usr_none' WHERE id = '{session}'"), session),
        (LOGO, format!("UPDATE projects SET logo_hash = 'ab' WHERE id = '{project}'"), project.clone()),
        (
            LOGO,
            format!("INSERT INTO logos SELECT id, 'ab', webhook_secret FROM projects WHERE id = '{project}'"),
            project.clone(),
        ),
        (OWNER, format!("UPDATE members SET role = 'viewer' WHERE user_id = '{owner}'"), project),
        (SEEN, format!("UPDATE views SET project_id = '{elsewhere}'"), due),
        (SEEN, format!("UPDATE key_uses SET project_id = '{elsewhere}'"), key),
    ]
}
