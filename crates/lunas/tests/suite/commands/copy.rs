//! `lunas copy` moves an installation from SQLite to PostgreSQL, completely or not at all.

use std::{fs, sync::Arc};

use domain::{
    language::Language,
    method::Method,
    payment::{Checkout, Customer},
};
use engine::{Attempt, Engine, NoticeSettings, SecretKey, Settings, SignIn, SystemClock, Visit, Whereabouts};
use rusqlite::{Connection, types::ValueRef};
use serde_json::{Map, Value, json};
use store::Store;
use testkit::{Answer, Api, Cluster, Program, Ran, Receiver, Running};

use super::{
    copy_rows::{LETTERS, LOGOS, refunds},
    tables::TABLES,
};
use crate::support::{
    commands::{dev_at_fixed_url, program, secret_key},
    json::id,
    short_ids::{id_of, short},
    wait::until,
};

fn copy(program: &Program, from: &str, to: &str) -> Ran {
    program.run(&["copy", "--from", from, "--to", to, "--json"])
}

fn order(running: &Running, method: &str) -> Value {
    let method = match method {
        "qris" => json!({ "type": "qris" }),
        bank => json!({ "type": "virtual_account", "bank": bank }),
    };
    let project = running.said("project_id");
    json!({ "project_id": project, "reference": "Pesanan é 1", "amount": 15_000, "payment_method": method })
}

/// What was acknowledged in an installation with rows in every table.
pub(super) struct Installation {
    payment: Value,
    link: Value,
}

/// Creates rows in every table through a server, the engine and, for what takes days, SQL.
pub(super) async fn fill_every_table(program: &Program) -> Installation {
    let running = dev_at_fixed_url(program, &[]);
    let (api, database, project) = (running.api(), program.database(), running.said("project_id").to_owned());
    let receiver = Receiver::start().await;
    let lunas = |arguments: &[&str]| program.json(&[&["--json", "--database", &database], arguments].concat());
    lunas(&["project", "update", &project, "--webhook-url", &receiver.url(), "--allow-origin", "https://shop.example"]);
    let second = lunas(&["project", "create", "--name", "Toko \"kedua\"", "--environment", "production"]);
    lunas(&["project", "update", id(&second), "--extra-event", "payment.held"]);
    queue_letter(&lunas);
    let simulate = async |payment: &Value, outcome: &str| {
        let path = format!("/v1/sandbox/payments/{}/simulate", id(payment));
        api.post(&path, &json!({ "outcome": outcome })).await.expect(200)
    };
    let payment = api.pay("first", &order(&running, "qris")).await.expect(201);
    let mut others = Vec::new();
    for number in 0..5 {
        others.push(api.pay(&format!("other-{number}"), &order(&running, "qris")).await.expect(201));
    }
    let paid = simulate(&payment, "paid").await;
    // The second money is unapplied.
    simulate(&payment, "paid").await;
    simulate(&others[0], "processing").await;
    receiver.arrived(1).await;
    receiver.answer(Answer::Status(500));
    simulate(&others[1], "failed").await;
    let spare = lunas(&["key", "create", "--project", &project, "--name", "spare"]);
    lunas(&["key", "revoke", id(&spare)]);
    receiver.arrived(3).await;
    let link = json!({ "project_id": project, "title": "Kopi", "amount": 15_000, "allow_multiple_payments": true });
    let link = api.post("/v1/payment-links", &link).await.expect(201);
    // Attempts are recorded after the receiver has answered.
    let written = || async { attempts(program) == 3 };
    until(written).await;
    assert_eq!(running.terminate(), Some(0));

    check_out(program, &link).await;
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    let by_hand = format!(
        "UPDATE payments SET state = 'expired' WHERE id = {}; \
         UPDATE payments SET state = 'cancelled', ended_at = created_at WHERE id = {}; \
         UPDATE deliveries SET state = 'exhausted', due_at = NULL WHERE event_id = (SELECT id FROM events \
         WHERE kind = 'payment.failed'); \
         INSERT INTO payment_marks SELECT project_id, MIN(id), 1, '', 1 FROM payments GROUP BY project_id; \
         INSERT INTO payment_sums SELECT p.project_id, p.id, p.state, p.method, 1, p.amount, p.fee FROM payments p \
         JOIN payment_marks m ON m.id = p.id; \
         INSERT INTO sessions SELECT x'00ff', 'ses_1', id, created_at, created_at, '127.0.0.1', 'é', 1, 1 FROM users LIMIT 1; \
         INSERT INTO invites SELECT x'ff00', 'inv_1', project_id, 'a@b.id', 'viewer', 1, 2, NULL, NULL, user_id \
         FROM members; \
         INSERT INTO sign_ins VALUES ('account:1', 6, 2000, 2001, 1); \
         INSERT INTO known_addresses SELECT id, 'address:1', 1 FROM users; \
         INSERT INTO forms SELECT id, 'key form', 'key_1', 1 FROM users; \
         INSERT INTO reset_requests VALUES ('a@b.id', 1, '127.0.0.1', 'é', 'id'); \
         INSERT INTO password_resets SELECT x'00fe', id, x'01', 'letter', 1, 2, NULL FROM users LIMIT 1; \
         INSERT INTO sales SELECT p.id, p.project_id, m.user_id, 1 FROM payments p \
         JOIN members m ON m.project_id = p.project_id LIMIT 1; \
         INSERT INTO views SELECT id, project_id, created_at FROM payments LIMIT 1; \
         INSERT INTO volumes SELECT project_id, at / 3600000, COUNT(*), -SUM(amount) FROM entries \
         WHERE account = 'clearing' AND posting_id LIKE 'paid:%' GROUP BY project_id, at / 3600000; \
         INSERT INTO balance_checkpoints SELECT project_id, account, at, posting_id, 1, amount FROM entries \
         WHERE account = 'unapplied'; \
         INSERT INTO key_uses SELECT id, project_id, created_at FROM api_keys WHERE TRUE ON CONFLICT DO NOTHING",
        short(id(&others[2])),
        short(id(&others[3])),
    );
    file.execute_batch(&by_hand).unwrap();
    file.execute_batch(LOGOS).unwrap();
    let account = project.replacen("prj", "bac", 1);
    file.execute_batch(LETTERS).unwrap();
    file.execute_batch(&banks(&account)).unwrap();
    file.execute_batch(&codes(&account)).unwrap();
    file.execute_batch(&refunds(&account)).unwrap();
    Installation { payment: paid, link }
}

/// A letter that waits, sealed with the key.
fn queue_letter(lunas: &impl Fn(&[&str]) -> Value) {
    lunas(&["user", "create", "surat@toko.test"]);
    let mail =
        ["--mail-url", "smtp+plain://127.0.0.1:9", "--mail-from", "toko@toko.test", "--base-url", "http://127.0.0.1:9"];
    lunas(&[&["user", "password", "surat@toko.test"][..], &mail].concat());
}

/// A bank account with a number for one payment, and a bank that asked about it and sent money which fits none.
fn banks(account: &str) -> String {
    format!(
        "INSERT INTO bank_accounts VALUES ('{account}', 'BCA é', 'bca', 1, 1, 1); \
         INSERT INTO bank_settings VALUES ('{account}', 'partner_service_id', '12345'); \
         INSERT INTO bank_credentials VALUES ('crd_1', '{account}', 'bank_key', 'next', NULL, 'a key', NULL, 1); \
         INSERT INTO bank_assignments SELECT id, 'bca', '{account}' FROM projects; \
         INSERT INTO bank_numbers SELECT '{account}', code, project_id, id, created_at, expires_at + 2592000000 \
         FROM payments LIMIT 1; \
         INSERT INTO bank_requests SELECT '{account}', 24, 1, '1', '1', 0, code, id, NULL, 'accepted', 1, NULL \
         FROM payments LIMIT 1; \
         INSERT INTO bank_requests VALUES ('{account}', 25, 1, '2', 'money', 1, '1', NULL, 5000, 'accepted', 1, 'money'); \
         INSERT INTO bank_calls VALUES ('{account}', 'call_1', 1, 25, '2002500', 7, 0, 1); \
         INSERT INTO strays VALUES ('str_1', '{account}', 'money', '1', 5000, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL); \
         INSERT INTO stray_entries VALUES ('str_1', 'received', 'strays', 1, 5000), \
         ('str_1', 'received', 'clearing', 1, -5000)"
    )
}

/// A code that a bank was asked for and that nobody waited for, money that the bank told of, and a day that was compared.
fn codes(account: &str) -> String {
    format!(
        "INSERT INTO openings SELECT 'opn_1', project_id, NULL, '{account}', 'é 1', 5000, 35, 'qris', 'abandoned', NULL, \
         1, 1, 2, 2, 2, 'a' || char(31) || 'é' || char(30), 3, 'https://é.example/' FROM payments LIMIT 1; \
         INSERT INTO opening_attempts VALUES ('opn_1', 'Ibu é', '', '', '', '::1', NULL, NULL, NULL, NULL, NULL, 'v', \
         NULL, '', 'en'); \
         INSERT INTO bank_codes VALUES ('{account}', 'REF1', 'opn_1', 1, 'BANK1', '77', 1); \
         INSERT INTO bank_jobs VALUES ('opn_1', 'void', 1, '{account}', 9, 1, 2, 'timeout'); \
         INSERT INTO bank_sends VALUES ('{account}', 1, 'EXT1', 47, 'opn_1', 1, 1, 'timeout', 2); \
         INSERT INTO bank_money VALUES ('{account}', 'told', 'report', 7000, 1, 1, 'told', NULL, NULL, NULL, NULL, NULL, NULL, 1); \
         INSERT INTO strays VALUES ('str_2', '{account}', 'told', '77', 7000, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL); \
         INSERT INTO stray_entries VALUES ('str_2', 'received', 'strays', 1, 7000), \
         ('str_2', 'received', 'clearing', 1, -7000); \
         INSERT INTO bank_serials VALUES ('{account}', 1, 100); \
         INSERT INTO bank_reconciliations VALUES ('{account}', 1, 'report', 200000000, 200000001, 1, 5, 1, 7, 0, 0, 0, 0, 1, 3); \
         INSERT INTO bank_comparisons VALUES ('{account}', 1, 2); \
         INSERT INTO bank_differences VALUES ('{account}', 'told', 'fee', 1, NULL, 1, 2, 200000000, 200000001, 'é'); \
         INSERT INTO bank_undecided VALUES ('{account}', 'é 2', 'told', '77', 7000, 1, '2022500', 2, 'not_booked', NULL, 1)"
    )
}

fn attempts(program: &Program) -> i64 {
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    file.query_row("SELECT COUNT(*) FROM attempts", [], |row| row.get(0)).unwrap()
}

/// A customer starts a payment on the link's page.
async fn check_out(program: &Program, link: &Value) {
    let store = Store::open_sqlite(&program.data().join("lunas.db")).await.unwrap();
    let key = fs::read_to_string(program.data().join("secret.key")).unwrap();
    let key = SecretKey::from_base64(&key.trim().to_owned().into()).unwrap();
    let engine = Engine::new(store.clone(), Arc::new(SystemClock), Settings::default(), key);
    let customer = Customer { name: "Ibu \\ Sri\n".to_owned(), ..Customer::default() };
    let checkout = Checkout { customer, language: Some(Language::English), ..Checkout::default() };
    engine.attempt_link(id(link).parse().unwrap(), &Attempt::new(Method::Qris, checkout)).await.unwrap();
    add_factor(program, &engine).await;
    store.close().await;
}

/// The owner of the demo project adds a second factor.
async fn add_factor(program: &Program, engine: &Engine) {
    let kept: Value = serde_json::from_str(&fs::read_to_string(program.data().join("dev.json")).unwrap()).unwrap();
    let [email, password] = ["dashboard_email", "dashboard_password"].map(|name| kept[name].as_str().unwrap());
    let signed_in = engine.sign_in(email, password.into(), &Whereabouts::default()).await.unwrap();
    let SignIn::Done(session) = signed_in else { panic!("the password is right, and there is no factor yet") };
    let visit = engine.visit(&session.token, String::new(), true).await.unwrap().unwrap();
    set_notices(engine, &visit, kept["project_id"].as_str().unwrap()).await;
    let secret = engine.new_factor_secret(&visit, "form").await.unwrap();
    engine.add_factor(&visit, "form", &secret.code(engine.now())).await.unwrap();
}

/// The owner sets where notices go, and replaces the secret that signs them.
async fn set_notices(engine: &Engine, visit: &Visit, project: &str) {
    let desk = engine.desk(visit, project.parse().unwrap()).await.unwrap();
    let settings = NoticeSettings {
        url: "https://93.184.216.34/notices".to_owned(),
        language: Language::English,
        sends_receipts: true,
        summary: None,
    };
    desk.set_notice_target(settings).await.unwrap().unwrap();
    desk.rotate_notice_secret(false).await.unwrap();
}

/// Every row of a table of the file, as PostgreSQL would write it in JSON.
fn source_rows(program: &Program, table: &str) -> Vec<Value> {
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    let mut statement = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut columns = file.prepare(&format!("SELECT type = 'TEXT' FROM pragma_table_info('{table}')")).unwrap();
    let are_texts: Vec<bool> = columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let row = |row: &rusqlite::Row<'_>| {
        let value = |index| match row.get_ref(index).unwrap() {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Text(text) => json!(std::str::from_utf8(text).unwrap()),
            ValueRef::Blob(short) if are_texts[index] => json!(id_of(&file, short)),
            ValueRef::Blob(bytes) => {
                json!(format!("\\x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
            }
            ValueRef::Real(number) => panic!("{number}"),
        };
        let members = names.iter().enumerate().filter(|(_, name)| (table, name.as_str()) != ("payments", "number"));
        Ok(Value::Object(members.map(|(index, name)| (name.clone(), value(index))).collect::<Map<_, _>>()))
    };
    sorted(statement.query_map([], row).unwrap().map(Result::unwrap).collect())
}

fn target_rows(cluster: &Cluster, url: &str, table: &str) -> Vec<Value> {
    let lines = cluster.run(url, &format!("SELECT row_to_json(t) FROM {table} t")).unwrap();
    sorted(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(ToString::to_string);
    rows
}

fn is_empty(cluster: &Cluster, url: &str) -> bool {
    TABLES.iter().all(|table| target_rows(cluster, url, table).is_empty())
}

#[tokio::test]
async fn a_copy_has_every_row_and_serves_on_as_if_nothing_had_happened() {
    let (program, cluster) = (program(), Cluster::shared());
    let made = fill_every_table(&program).await;
    let url = cluster.fresh_database();
    let copied = copy(&program, &program.database(), &url).json(0);
    assert_eq!(
        copied["to"],
        format!("postgres://lunas@127.0.0.1:{}/{}", cluster.port(), url.rsplit_once('/').unwrap().1)
    );
    let counted = copied["tables"].as_array().unwrap();
    assert_eq!(counted.len(), TABLES.len());
    for (table, counted) in TABLES.into_iter().zip(counted) {
        let rows = source_rows(&program, table);
        assert_eq!(target_rows(cluster, &url, table), rows, "{table}");
        assert_eq!(*counted, json!({ "table": table, "rows": rows.len() }));
        assert!(!rows.is_empty(), "there is something of everything to copy, but not in {table}");
    }
    let words = |sql: &str| cluster.run(&url, sql).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let states = words("SELECT DISTINCT state FROM payments ORDER BY 1");
    assert_eq!(states, ["cancelled", "expired", "failed", "paid", "pending", "processing"]);
    let states = words("SELECT DISTINCT state FROM deliveries ORDER BY 1");
    assert_eq!(states, ["delivered", "exhausted", "pending"]);
    assert_eq!(program.json(&["verify", "--json", "--database", &url])["ok"], true);

    // The directory still has the secret key, and dev.json fits the new database as it did the old one.
    let running = dev_at_fixed_url(&program, &["--database", &url]);
    let mut replay = order(&running, "qris");
    let again = running.api().pay("first", &replay).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json, made.payment);
    replay["amount"] = json!(15_001);
    running.api().pay("first", &replay).await.refused(409, "IDEMPOTENCY_CONFLICT");
    let link = running.api().get(&format!("/v1/payment-links/{}", id(&made.link))).await.expect(200);
    assert_eq!(link["url"], made.link["url"]);
    let found = running.api().get("/v1/payments?search=pesanan").await.expect(200);
    assert_eq!(found["pagination"]["total_items"], 6);
    running.api().pay("new", &order(&running, "bca")).await.expect(201);
    let project = program.json(&["project", "list", "--json", "--database", &url]);
    assert_eq!(project.as_array().unwrap().len(), 2);
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(program.json(&["verify", "--json", "--database", &url])["ok"], true);

    // The target has data now.
    let ran = copy(&program, &program.database(), &url);
    assert!(ran.failed(1).len() == 1 && ran.stderr.contains("has data already"), "{ran:?}");
}

#[tokio::test]
async fn a_copy_that_fails_leaves_the_target_empty_and_the_source_in_order() {
    let (program, cluster) = (program(), Cluster::shared());
    fill_every_table(&program).await;
    let url = cluster.fresh_database();
    program.json(&["migrate", "--json", "--database", &url]);
    // The very last row of the very last table is refused.
    let refusing = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                    $$ BEGIN RAISE EXCEPTION 'no more room'; END $$; \
                    CREATE TRIGGER refuse AFTER INSERT ON stray_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse()";
    cluster.run(&url, refusing).unwrap();
    let ran = copy(&program, &program.database(), &url);
    let lines = ran.failed(1);
    assert!(lines.len() == 1 && lines[0].contains("stray_entries") && lines[0].contains("no more room"), "{lines:?}");
    assert!(is_empty(cluster, &url));
    // A copy that lost something would not be kept.
    let losing = "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                  $$ BEGIN DELETE FROM attempts WHERE number = 1; RETURN NULL; END $$; \
                  DROP TRIGGER refuse ON stray_entries; \
                  CREATE TRIGGER refuse AFTER INSERT ON attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse()";
    cluster.run(&url, losing).unwrap();
    let ran = copy(&program, &program.database(), &url);
    assert!(ran.failed(1)[0].contains("attempts has 3 rows in the source and 0 in the copy"), "{ran:?}");
    assert!(is_empty(cluster, &url));
    cluster.run(&url, "DROP TRIGGER refuse ON attempts").unwrap();

    // Neither would a copy of a source that breaks an invariant.
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    let state = |state: &str, paid_at: &str| {
        let sql = format!("UPDATE payments SET state = '{state}', paid_at = {paid_at} WHERE reference = 'odd'");
        file.execute_batch(&sql).unwrap();
    };
    file.execute_batch("UPDATE payments SET reference = 'odd' WHERE state = 'processing'").unwrap();
    state("paid", "created_at");
    let ran = copy(&program, &program.database(), &url);
    assert!(ran.failed(1)[0].contains("breaks a rule (I3"), "{ran:?}");
    assert!(is_empty(cluster, &url));
    state("processing", "NULL");
    let text = program.command(&["copy", "--from", &program.database()]).env("LUNAS_DATABASE", &url).output().unwrap();
    let ran = Ran::from(text);
    assert!(
        ran.code == 0 && ran.stdout.contains("LUNAS_SECRET_KEY") && ran.stdout.contains("payment_marks"),
        "{ran:?}"
    );
    assert!(!is_empty(cluster, &url));
}

#[tokio::test]
async fn what_cannot_be_copied_is_refused_and_left_alone() {
    let (program, cluster) = (program(), Cluster::shared());
    assert_eq!(program.dev().terminate(), Some(0));
    let (source, empty, foreign) = (program.database(), cluster.fresh_database(), cluster.fresh_database());
    cluster.run(&foreign, "CREATE TABLE orders (id INT)").unwrap();
    let strange = program.directory.path().join("strange.db");
    Connection::open(&strange).unwrap().execute_batch("CREATE TABLE orders (id INT)").unwrap();
    let blank = program.directory.path().join("blank.db");
    fs::write(&blank, "").unwrap();
    let at = |path: &std::path::Path| format!("sqlite:{}", path.display());
    for (from, to, reason) in [
        (source.as_str(), "sqlite:other.db", "use --from sqlite:PATH --to postgres://"),
        (empty.as_str(), empty.as_str(), "use --from sqlite:PATH --to postgres://"),
        (empty.as_str(), source.as_str(), "use --from sqlite:PATH --to postgres://"),
        ("sqlite:missing.db", empty.as_str(), "no database at missing.db"),
        (&at(&strange), empty.as_str(), "another program"),
        (&at(&blank), empty.as_str(), "no tables of lunas"),
        (source.as_str(), foreign.as_str(), "another program"),
        (source.as_str(), &cluster.url("missing"), "does not exist"),
        (source.as_str(), "postgres://u:quiet@h", "names no database"),
    ] {
        let ran = copy(&program, from, to);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(reason), "{reason}: {lines:?}");
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(cluster.run(&empty, tables).unwrap(), "0", "nothing was made");
    assert_eq!(cluster.run(&foreign, tables).unwrap(), "1");
    assert!(!program.directory.path().join("missing.db").exists());
    program.run(&["copy"]).failed(2);
}

/// A server that went on accepting after the copy lost what it had acknowledged.
#[tokio::test]
async fn beside_a_running_server_a_copy_is_refused_however_the_file_is_named_and_makes_nothing() {
    let (program, cluster, key) = (program(), Cluster::shared(), secret_key());
    let url = cluster.fresh_database();
    let served = program.directory.path().join("served.db");
    let link = program.directory.path().join("link.db");
    let serving = program.serve(&key);
    std::os::unix::fs::symlink(&served, &link).unwrap();
    let dev = program.dev();
    let names = [program.served_database(), format!("sqlite:{}", link.display()), program.database()];
    for from in &names {
        for _ in 0..2 {
            let ran = copy(&program, from, &url);
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains("a server is running on sqlite:"), "{from}: {lines:?}");
        }
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(cluster.run(&url, tables).unwrap(), "0", "nothing was made");
    dev.api().pay("k", &order(&dev, "qris")).await.expect(201);
    // A server that was killed holds no lock.
    serving.kill();
    assert_eq!(dev.terminate(), Some(0));
    for from in &names[1..] {
        copy(&program, from, &cluster.fresh_database()).json(0);
    }
}

#[tokio::test]
async fn while_a_command_writes_to_the_source_a_copy_is_refused() {
    let (program, cluster) = (program(), Cluster::shared());
    let running = program.dev();
    let (key, order) = (running.said("api_key").to_owned(), order(&running, "qris"));
    let payment = running.api().pay("k", &order).await.expect(201);
    assert_eq!(running.terminate(), Some(0));
    let url = cluster.fresh_database();
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = copy(&program, &program.database(), &url);
    assert!(ran.failed(1)[0].contains("is being written by someone else"), "{ran:?}");
    file.execute_batch("ROLLBACK").unwrap();
    copy(&program, &program.database(), &url).json(0);
    let other = dev_at_fixed_url(&program, &["--database", &url]);
    let api = Api::new(other.address(), Some(&key));
    assert_eq!(id(&api.pay("k", &order).await.expect(200)), id(&payment));
}

/// Earlier releases could stamp a payment after its link was cancelled, and `lunas copy` then refused for good.
#[tokio::test]
async fn a_payment_that_an_earlier_release_stamped_late_is_noted_and_copied() {
    let (program, cluster) = (program(), Cluster::shared());
    let running = program.dev();
    let link = json!({ "project_id": running.said("project_id"), "title": "Kopi", "amount": 15_000 });
    let link = running.api().post("/v1/payment-links", &link).await.expect(201);
    assert_eq!(running.terminate(), Some(0));
    check_out(&program, &link).await;
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    file.execute_batch("DELETE FROM link_attempts; UPDATE links SET cancelled_at = created_at - 1").unwrap();
    let late: Vec<u8> = file.query_row("SELECT id FROM payments", [], |row| row.get(0)).unwrap();
    let late = id_of(&file, &late);
    let url = cluster.fresh_database();
    copy(&program, &program.database(), &url).json(0);
    for database in [program.database(), url] {
        let ran = program.run(&["verify", "--database", &database]);
        let note = ran.stdout.lines().next().unwrap();
        assert!(note.starts_with("note: I15 ") && note.ends_with(&format!(": {late}")), "{ran:?}");
        assert!(ran.code == 0 && ran.stdout.contains("invariants checked: ok"), "{ran:?}");
        let verified = program.json(&["verify", "--json", "--database", &database]);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
        assert_eq!(verified["notes"][0]["row"], late);
    }
}
