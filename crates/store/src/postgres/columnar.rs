//! Rewrites a statement for one row of parameters into a statement for many rows, which PostgreSQL gets as one array
//! per column. So requests that run the same statement at the same time share one round trip.

use tokio_postgres::types::Type;

/// A statement that does for every row of parameters what `sql` does for one; none if the text of `sql` does not allow
/// it. `$1`, `$2`, … become columns of a table `v`, and an UPDATE or SELECT returns for which of its rows it found
/// anything.
pub(super) fn for_many(sql: &str, types: &[Type]) -> Option<String> {
    numbered_from(1, sql, types, None)
}

/// One statement of a plan.
pub(super) struct Part {
    pub(super) sql: &'static str,
    pub(super) types: Vec<Type>,
    /// Whether it must change at least one row for each of its rows of parameters.
    pub(super) guarded: bool,
}

/// One statement that runs all `parts`, each for many rows, and fails as a whole if a guarded part has changed too few
/// rows. None if a part cannot be run for many rows, or if two parts update the same table, since only one update would
/// take effect.
pub(super) fn together(parts: &[Part]) -> Option<String> {
    let (statements, guards) = with_guards(parts, None, "")?;
    Some(format!("WITH {statements} SELECT 1 / {guards}"))
}

/// One statement for plans of which only the first part can fail: it runs the others for those rows of parameters for
/// which the first has changed a row, and returns which these were. So a plan whose guard does not hold does not undo
/// the others. None for other plans.
pub(super) fn each_by_itself(parts: &[Part]) -> Option<String> {
    let (first, others) = parts.split_first().filter(|(first, _)| first.guarded)?;
    if first.sql.starts_with("INSERT ") {
        return unless_taken(first, parts);
    }
    if !first.sql.starts_with("UPDATE ") || others.iter().any(|part| part.guarded) {
        return None;
    }
    let done = |number| (number > 0).then_some("v.place = ANY (ARRAY(SELECT s0.place FROM s0))");
    let many = many_of(parts, done)?.into_iter().map(|many| many.sql).enumerate();
    let statements: Vec<String> = many.map(|(number, sql)| format!("s{number} AS ({sql})")).collect();
    Some(format!("WITH {} SELECT s0.place FROM s0", statements.join(", ")))
}

/// The same for plans whose first part inserts a row by a key, unless that is taken. Should another guard not hold, or
/// somebody else take a key at the same time, the whole statement fails.
fn unless_taken(first: &Part, parts: &[Part]) -> Option<String> {
    const FREE: &str = "v.place <> ALL (ARRAY(SELECT taken.place FROM taken))";
    let taken = taken(first)?;
    let (statements, guards) = with_guards(parts, Some(FREE), " - (SELECT COUNT(*) FROM taken)")?;
    let places = rows(1, first.types.get(..1)?)?;
    Some(format!("WITH taken AS ({taken}), {statements} SELECT v.place / {guards} FROM {places} WHERE {FREE}"))
}

/// A SELECT of those rows of parameters whose key is taken, for an INSERT that names the columns of the key.
fn taken(insert: &Part) -> Option<String> {
    let (head, tail) = insert.sql.strip_prefix("INSERT INTO ")?.split_once(") VALUES (")?;
    let (table, names) = head.split_once(" (")?;
    let (values, conflict) = tail.split_once(") ON CONFLICT (")?;
    let of_key = conflict.strip_suffix(") DO NOTHING")?.split(", ").map(|column| {
        let index = names.split(", ").position(|name| name == column)?;
        Some(format!("t.{column} = {}", columns(values.split(", ").nth(index)?)))
    });
    let of_key = of_key.collect::<Option<Vec<_>>>()?.join(" AND ");
    Some(format!("SELECT v.place FROM {table} t, {} WHERE {of_key}", rows(1, &insert.types)?))
}

/// All parts for many rows that meet `condition`, and a divisor that is zero if a guarded part has changed too few rows:
/// a statement can only roll itself back with an error. `but` is subtracted from the number of rows.
fn with_guards(parts: &[Part], condition: Option<&'static str>, but: &str) -> Option<(String, String)> {
    let (mut statements, mut guards) = (Vec::new(), Vec::new());
    for (number, many) in many_of(parts, |_| condition)?.into_iter().enumerate() {
        let returning = if many.sql.contains(" RETURNING ") { "" } else { " RETURNING 1" };
        statements.push(format!("s{number} AS ({}{returning})", many.sql));
        if parts[number].guarded {
            guards.push(format!("(SELECT COUNT(*) FROM s{number}) = CARDINALITY(${}){but}", many.first));
        }
    }
    let guards = if guards.is_empty() { "TRUE".to_owned() } else { guards.join(" AND ") };
    Some((statements.join(", "), format!("CASE WHEN {guards} THEN 1 ELSE 0 END")))
}

/// A part for many rows, and the number of its first parameter.
struct Many {
    sql: String,
    first: usize,
}

/// All parts for many rows; `condition` gives one that the rows of a part must meet besides its own.
fn many_of(parts: &[Part], condition: impl Fn(usize) -> Option<&'static str>) -> Option<Vec<Many>> {
    let (mut many, mut changed, mut next) = (Vec::with_capacity(parts.len()), Vec::new(), 1);
    for (number, Part { sql, types, .. }) in parts.iter().enumerate() {
        if let Some(table) = sql.strip_prefix("UPDATE ").and_then(|rest| rest.split(' ').next()) {
            if changed.contains(&table) {
                return None;
            }
            changed.push(table);
        }
        many.push(Many { sql: numbered_from(next, sql, types, condition(number))?, first: next });
        next += types.len();
    }
    Some(many)
}

/// The same with parameters numbered from `first` on, for those rows that meet `condition` too.
fn numbered_from(first: usize, sql: &str, types: &[Type], condition: Option<&str>) -> Option<String> {
    let rows = rows(first, types)?;
    let (head, tail) = parts(sql)?;
    if condition.is_some() && tail.contains(" OR ") {
        return None;
    }
    let and = condition.map(|condition| format!(" AND {condition}")).unwrap_or_default();
    if head.starts_with("UPDATE ") {
        Some(format!("{} FROM {rows} WHERE {}{and} RETURNING v.place", columns(head), columns(tail)))
    } else if head.starts_with("DELETE FROM ") {
        Some(format!("{head} USING {rows} WHERE {}{and}", columns(tail)))
    } else if let Some(head) = head.strip_prefix("SELECT ") {
        let of_one_row = [" LIMIT ", " ORDER BY ", " GROUP BY "].iter().all(|word| !tail.contains(word));
        of_one_row.then(|| format!("SELECT v.place, {}, {rows} WHERE {}{and}", columns(head), columns(tail)))
    } else if head.contains(" SELECT ") {
        // What follows a conflict may have conditions of its own.
        (and.is_empty() || !tail.contains(" ON CONFLICT "))
            .then(|| format!("{}, {rows} WHERE {}{and}", columns(head), columns(tail)))
    } else {
        // What follows the values may name columns in parentheses.
        let end = tail.find(") ON CONFLICT ").or_else(|| tail.rfind(')'))?;
        let (values, conflict) = tail.split_at(end);
        let conflict = conflict.strip_prefix(')')?;
        let only = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
        (!conflict.contains('$')).then(|| format!("{head} SELECT {} FROM {rows}{only}{conflict}", columns(values)))
    }
}

/// Splits a statement where the table of parameters goes: at its own WHERE, or at the list of VALUES.
fn parts(sql: &str) -> Option<(&str, &str)> {
    if sql.starts_with("INSERT ") && sql.contains(" VALUES (") {
        return sql.split_once(" VALUES (");
    }
    // A WHERE within parentheses belongs to a subquery.
    let is_own = |at: &usize| sql[..*at].matches('(').count() == sql[..*at].matches(')').count();
    let at = sql.match_indices(" WHERE ").map(|(at, _)| at).find(is_own)?;
    Some((&sql[..at], &sql[at + " WHERE ".len()..]))
}

/// The table of parameters.
fn rows(first: usize, types: &[Type]) -> Option<String> {
    let arrays = types.iter().enumerate().map(|(index, column)| {
        let name = match *column {
            Type::TEXT => "text",
            Type::INT8 => "bigint",
            Type::BYTEA => "bytea",
            _ => return None,
        };
        Some(format!("${}::{name}[]", first + index))
    });
    let arrays = arrays.collect::<Option<Vec<_>>>().filter(|arrays| !arrays.is_empty())?.join(", ");
    let names: Vec<String> = (1..=types.len()).map(|number| format!("c{number}")).collect();
    Some(format!("UNNEST({arrays}) WITH ORDINALITY AS v ({}, place)", names.join(", ")))
}

fn columns(sql: &str) -> String {
    sql.replace('$', "v.c")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Type; 2] = [Type::TEXT, Type::INT8];
    const ROWS: &str = "UNNEST($1::text[], $2::bigint[]) WITH ORDINALITY AS v (c1, c2, place)";

    #[test]
    fn every_kind_of_statement_is_rewritten_for_many_rows() {
        for (one, many) in [
            (
                "INSERT INTO t (a, b, d) VALUES ($1, $2, 'x') ON CONFLICT DO NOTHING",
                format!("INSERT INTO t (a, b, d) SELECT v.c1, v.c2, 'x' FROM {ROWS} ON CONFLICT DO NOTHING"),
            ),
            (
                "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE (t.b) < 1",
                format!(
                    "INSERT INTO t (a, b) SELECT v.c1, v.c2 FROM {ROWS} ON CONFLICT (a) DO UPDATE SET b = excluded.b \
                     WHERE (t.b) < 1"
                ),
            ),
            ("INSERT INTO t (a, b) VALUES ($1, $2)", format!("INSERT INTO t (a, b) SELECT v.c1, v.c2 FROM {ROWS}")),
            (
                "INSERT INTO t (a, b) SELECT $1, p.b FROM p WHERE p.id = $2",
                format!("INSERT INTO t (a, b) SELECT v.c1, p.b FROM p, {ROWS} WHERE p.id = v.c2"),
            ),
            (
                "SELECT a, (SELECT p.b FROM p WHERE p.id = t.a) FROM t WHERE a = $1 AND b = $2",
                format!(
                    "SELECT v.place, a, (SELECT p.b FROM p WHERE p.id = t.a) FROM t, {ROWS} WHERE a = v.c1 AND b = v.c2"
                ),
            ),
            (
                "UPDATE t SET a = $1 WHERE b = $2 AND c = $2 - 1",
                format!("UPDATE t SET a = v.c1 FROM {ROWS} WHERE b = v.c2 AND c = v.c2 - 1 RETURNING v.place"),
            ),
            (
                "DELETE FROM t WHERE a = $1 AND b > $2",
                format!("DELETE FROM t USING {ROWS} WHERE a = v.c1 AND b > v.c2"),
            ),
        ] {
            assert_eq!(for_many(one, &TWO).as_deref(), Some(many.as_str()));
        }
    }

    #[test]
    fn the_parts_of_a_plan_are_one_statement_that_fails_when_a_guard_does() {
        let part = |sql, guarded| Part { sql, types: TWO.to_vec(), guarded };
        let insert = part("INSERT INTO t (a, b) VALUES ($1, $2)", true);
        let update = part("UPDATE u SET a = $1 WHERE b = $2", false);
        let rows = ROWS.replace("$1", "$3").replace("$2", "$4");
        assert_eq!(
            together(&[insert, update]).unwrap(),
            format!(
                "WITH s0 AS (INSERT INTO t (a, b) SELECT v.c1, v.c2 FROM {ROWS} RETURNING 1), \
                 s1 AS (UPDATE u SET a = v.c1 FROM {rows} WHERE b = v.c2 RETURNING v.place) \
                 SELECT 1 / CASE WHEN (SELECT COUNT(*) FROM s0) = CARDINALITY($1) THEN 1 ELSE 0 END"
            )
        );
        let again = || part("UPDATE u SET a = $1 WHERE b = $2", false);
        assert_eq!(together(&[again(), again()]), None);
    }

    #[test]
    fn a_plan_whose_first_update_is_its_only_guard_fails_by_itself() {
        let part = |sql, guarded| Part { sql, types: TWO.to_vec(), guarded };
        let update = |guarded| part("UPDATE u SET a = $1 WHERE b = $2", guarded);
        let insert = |guarded| part("INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT DO NOTHING", guarded);
        let chosen = || part("INSERT INTO t (a, b) SELECT $1, p.b FROM p WHERE p.id = $2 OR TRUE", false);
        let rows = |first: usize| ROWS.replace("$2", &format!("${}", first + 1)).replace("$1", &format!("${first}"));
        let done = "v.place = ANY (ARRAY(SELECT s0.place FROM s0))";
        assert_eq!(
            each_by_itself(&[update(true), insert(false)]).unwrap(),
            format!(
                "WITH s0 AS (UPDATE u SET a = v.c1 FROM {} WHERE b = v.c2 RETURNING v.place), \
                 s1 AS (INSERT INTO t (a, b) SELECT v.c1, v.c2 FROM {} WHERE {done} ON CONFLICT DO NOTHING) \
                 SELECT s0.place FROM s0",
                rows(1),
                rows(3)
            )
        );
        for parts in [
            &[update(false), insert(false)][..],
            &[update(true), insert(true)],
            &[insert(true), update(false)],
            &[update(true), update(false)],
            &[update(true), chosen()],
        ] {
            assert_eq!(each_by_itself(parts), None);
        }
    }

    #[test]
    fn a_plan_whose_first_insert_finds_its_key_taken_fails_by_itself() {
        let part = |sql, guarded| Part { sql, types: TWO.to_vec(), guarded };
        let bind = || part("INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (b) DO NOTHING", true);
        let update = |guarded| part("UPDATE u SET a = $1 WHERE b = $2", guarded);
        let rows = ROWS.replace("$1", "$3").replace("$2", "$4");
        let free = "v.place <> ALL (ARRAY(SELECT taken.place FROM taken))";
        assert_eq!(
            each_by_itself(&[bind(), update(true)]).unwrap(),
            format!(
                "WITH taken AS (SELECT v.place FROM t t, {ROWS} WHERE t.b = v.c2), \
                 s0 AS (INSERT INTO t (a, b) SELECT v.c1, v.c2 FROM {ROWS} WHERE {free} ON CONFLICT (b) DO NOTHING RETURNING 1), \
                 s1 AS (UPDATE u SET a = v.c1 FROM {rows} WHERE b = v.c2 AND {free} RETURNING v.place) \
                 SELECT v.place / CASE WHEN (SELECT COUNT(*) FROM s0) = CARDINALITY($1) - (SELECT COUNT(*) FROM taken) \
                 AND (SELECT COUNT(*) FROM s1) = CARDINALITY($3) - (SELECT COUNT(*) FROM taken) THEN 1 ELSE 0 END \
                 FROM UNNEST($1::text[]) WITH ORDINALITY AS v (c1, place) WHERE {free}"
            )
        );
        let any = part("INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT DO NOTHING", true);
        assert_eq!(each_by_itself(&[any, update(false)]), None);
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for sql in [
            "SELECT 1 FROM t WHERE a = $1 LIMIT 1",
            "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = $2",
            "UPDATE t SET a = $1",
        ] {
            assert_eq!(for_many(sql, &TWO), None, "{sql}");
        }
        assert_eq!(for_many("DELETE FROM t WHERE a = $1", &[Type::INT4]), None);
        assert_eq!(for_many("DELETE FROM t WHERE TRUE", &[]), None);
    }
}
