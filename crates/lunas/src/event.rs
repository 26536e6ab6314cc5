//! `lunas event`: shows events with their webhook deliveries, and sends events again.

use clap::{Args, Subcommand, value_parser};
use domain::{
    delivery::{Attempt, Delivery, DeliveryState},
    event::{Event, EventKind},
    id::EventId,
    time::Timestamp,
};
use engine::{Engine, EventFilter, Settings, Window};
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    project,
};

#[derive(Subcommand)]
pub(crate) enum EventCommand {
    /// List a project's events, newest first, with the state of their deliveries.
    List(ListOptions),
    /// Show an event with every attempt to deliver it, and the receiver's answers.
    Show {
        /// The event's id, evt_….
        id: String,
    },
    /// Send an event again with the same id, whether or not it was delivered.
    Resend {
        /// The event's id, evt_….
        id: String,
    },
    /// Send again all events since a given time that could not be delivered.
    Recover {
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
        /// Events from this time on, such as 2026-11-15T09:30:00+07:00.
        #[arg(long, value_name = "TIME", value_parser = time)]
        since: Timestamp,
    },
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// The project's id, prj_…. Not needed where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Only events of this type, such as payment.paid.
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<EventKind>,
    /// How many events to show.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|_| "it must be a time such as 2026-11-15T09:30:00+07:00".to_owned())
}

fn kind(text: &str) -> Result<EventKind, String> {
    EventKind::parse(text).ok_or_else(|| format!("the types are {}", EventKind::ALL.map(EventKind::word).join(", ")))
}

#[derive(Serialize)]
struct EventLine {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    subject: String,
    created_at: String,
    /// `none` where the project had no webhook URL.
    delivery: &'static str,
    attempts: u32,
    next_attempt_at: Option<String>,
}

impl EventLine {
    fn of(event: &Event, delivery: Option<Delivery>) -> EventLine {
        let due_at = match delivery.map(|delivery| delivery.state) {
            Some(DeliveryState::Pending { due_at }) => Some(due_at),
            _ => None,
        };
        EventLine {
            id: event.id.to_string(),
            kind: event.kind().word(),
            subject: event.subject(),
            created_at: event.created_at.to_string(),
            delivery: delivery.map_or("none", |delivery| delivery.state.word()),
            attempts: delivery.map_or(0, |delivery| delivery.attempts),
            next_attempt_at: due_at.map(|at| at.to_string()),
        }
    }
}

#[derive(Serialize)]
struct AttemptLine {
    at: String,
    latency_ms: u128,
    status: Option<u16>,
    failure: Option<&'static str>,
    detail: Option<String>,
    answer: String,
}

impl From<Attempt> for AttemptLine {
    fn from(Attempt { at, outcome }: Attempt) -> AttemptLine {
        let (failure, detail) = outcome.failure.map(|failure| (failure.class.word(), failure.detail)).unzip();
        AttemptLine {
            at: at.to_string(),
            latency_ms: outcome.latency.as_millis(),
            status: outcome.status,
            failure,
            detail,
            answer: outcome.answer,
        }
    }
}

#[derive(Serialize)]
struct EventShown {
    #[serde(flatten)]
    line: EventLine,
    project_id: String,
    tries: Vec<AttemptLine>,
}

#[derive(Serialize)]
struct Requeued {
    requeued: i64,
}

pub(crate) async fn run(command: EventCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = Installation::existing(global, Settings::default()).await?;
    let (engine, output) = (&installation.engine, global.output());
    let answer = match command {
        EventCommand::List(options) => list(options, engine, output).await,
        EventCommand::Show { id } => show(&id, engine, output).await,
        EventCommand::Resend { id } => resend(&id, engine, output).await,
        EventCommand::Recover { project, since } => recover(&project, since, engine, output).await,
    };
    installation.close().await;
    answer
}

async fn find(engine: &Engine, id: &str) -> Result<Event, CliError> {
    let unknown = || {
        let id = id.escape_debug();
        CliError::new(format!("there is no event {id} in this database; `lunas event list` shows them"))
    };
    let parsed: EventId = id.parse().map_err(|_| unknown())?;
    match engine.event_of_any(parsed).await {
        Err(engine::Error::NotFound(_)) => Err(unknown()),
        found => Ok(found?),
    }
}

async fn list(options: ListOptions, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = project::chosen(engine, options.project.as_deref()).await?;
    let window = Window { offset: 0, limit: options.limit };
    let mut lines = Vec::new();
    let filter = EventFilter { kind: options.kind, ..EventFilter::default() };
    for listed in engine.events(project.id, filter, window).await?.items {
        let delivery = engine.delivery_state(listed.event.id).await?;
        lines.push(EventLine::of(&listed.event, delivery));
    }
    output.show(lines.as_slice(), |lines| {
        let row = |line: &EventLine| {
            [
                line.id.clone(),
                line.kind.to_owned(),
                line.subject.clone(),
                line.created_at.clone(),
                line.delivery.to_owned(),
                line.attempts.to_string(),
                line.next_attempt_at.clone().unwrap_or_default(),
            ]
        };
        let rows: Vec<_> = lines.iter().map(row).collect();
        table(["ID", "TYPE", "SUBJECT", "CREATED", "DELIVERY", "ATTEMPTS", "NEXT ATTEMPT"], &rows)
    })
}

async fn show(id: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let event = find(engine, id).await?;
    let (delivery, attempts) = engine.delivery(event.id).await?.unzip();
    let shown = EventShown {
        line: EventLine::of(&event, delivery),
        project_id: event.project_id.to_string(),
        tries: attempts.unwrap_or_default().into_iter().map(AttemptLine::from).collect(),
    };
    output.show(&shown, |EventShown { line, project_id, tries }| {
        let fields = fields(&[
            ("id", line.id.clone()),
            ("type", line.kind.to_owned()),
            ("subject", line.subject.clone()),
            ("project", project_id.clone()),
            ("created", line.created_at.clone()),
            ("delivery", line.delivery.to_owned()),
            ("next attempt", line.next_attempt_at.clone().unwrap_or_else(|| "none".to_owned())),
        ]);
        let rows: Vec<_> = tries.iter().map(attempt_row).collect();
        let attempts = match rows.is_empty() {
            true => "No attempt was made.".to_owned(),
            false => table(["AT", "TOOK", "STATUS", "FAILURE", "ANSWER"], &rows),
        };
        format!("{fields}\n\n{attempts}")
    })
}

fn attempt_row(attempt: &AttemptLine) -> [String; 5] {
    const ANSWER_CHARACTERS: usize = 60;
    // A receiver's answer is escaped and cut, so that it cannot control the terminal or fill the screen.
    let answer: String = attempt.answer.escape_debug().take(ANSWER_CHARACTERS).collect();
    [
        attempt.at.clone(),
        format!("{} ms", attempt.latency_ms),
        attempt.status.map(|status| status.to_string()).unwrap_or_default(),
        attempt.detail.clone().unwrap_or_default(),
        answer,
    ]
}

async fn resend(id: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let event = find(engine, id).await?;
    engine.resend(event.project_id, event.id).await.map_err(without_url)?;
    let delivery = engine.delivery_state(event.id).await?;
    output.show(&EventLine::of(&event, delivery), |line| format!("{} will be sent again", line.id))
}

async fn recover(project: &str, since: Timestamp, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = project::find(engine, project).await?;
    let requeued = engine.recover(project.id, since).await.map_err(without_url)?;
    output.show(&Requeued { requeued }, |done| match done.requeued {
        1 => "1 event will be sent again".to_owned(),
        many => format!("{many} events will be sent again"),
    })
}

fn without_url(error: engine::Error) -> CliError {
    match error {
        engine::Error::NoWebhookUrl => {
            let what_to_do = "set one with `lunas project update ID --webhook-url URL`";
            CliError::new(format!("the project has no webhook URL; {what_to_do}"))
        }
        other => other.into(),
    }
}
