//! `lunas mail`: tries whether letters arrive, and shows the letters in the queue.

use clap::{Args, Subcommand, value_parser};
use domain::{
    id::{LetterId, ProjectId},
    language::Language,
    letter::LetterKind,
    letter_queue::{LetterState, SendOutcome},
    visible::escape_hidden,
};
use engine::{Clock, Engine, LetterFilter, Mail, Settings, ShownLetter, SystemClock, Window};
use gateway::StepReport;
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    mail_options::MailOptions,
    options::{GlobalOptions, PublicUrl},
    output::{Output, fields, table},
};

/// What letters of a test are said to be from where no address is set.
const NOWHERE: &str = "https://localhost";

#[derive(Subcommand)]
pub(crate) enum MailCommand {
    /// Send a test letter at once, and say how each step went.
    Test(Box<TestOptions>),
    /// List letters, newest first: who, what, when, and what the relay said last.
    List(ListOptions),
    /// Show a letter and what has become of it.
    Show {
        /// The letter's id, ltr_….
        id: String,
    },
    /// Queue a letter again that has ended.
    Again {
        /// The letter's id, ltr_….
        id: String,
    },
}

#[derive(Args)]
pub(crate) struct TestOptions {
    /// The address to send to.
    address: String,
    /// Write it in English.
    #[arg(long)]
    english: bool,
    #[command(flatten)]
    public_url: PublicUrl,
    #[command(flatten)]
    mail: MailOptions,
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// Only letters about this project, prj_….
    #[arg(long, value_name = "ID")]
    project: Option<ProjectId>,
    /// Only letters in this state: waiting, sent, given_up or dropped.
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<&'static str>,
    /// Only letters of this kind, such as receipt.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<LetterKind>,
    /// How many letters to show.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

fn state(text: &str) -> Result<&'static str, String> {
    let known = LetterState::WORDS.into_iter().find(|word| *word == text);
    known.ok_or_else(|| format!("the states are {}", LetterState::WORDS.join(", ")))
}

fn kind(text: &str) -> Result<LetterKind, String> {
    let words: Vec<&str> = LetterKind::ALL.iter().map(|kind| kind.word()).collect();
    LetterKind::parse(text).ok_or_else(|| format!("the kinds are {}", words.join(", ")))
}

#[derive(Serialize)]
struct StepLine {
    step: &'static str,
    ok: bool,
    answer: String,
}

#[derive(Serialize)]
struct Tried {
    relay: String,
    taken: bool,
    steps: Vec<StepLine>,
}

#[derive(Serialize)]
struct LetterLine {
    id: String,
    kind: &'static str,
    /// `mail`, or `notice` where it goes to a URL.
    channel: &'static str,
    /// None where it cannot be opened.
    address: Option<String>,
    project_id: Option<String>,
    state: &'static str,
    queued_at: String,
    /// When it is tried next, or when it ended.
    at: String,
    attempts: u32,
    answer: Option<String>,
}

impl LetterLine {
    fn of(shown: ShownLetter) -> LetterLine {
        let ShownLetter { letter, address, .. } = shown;
        LetterLine {
            id: letter.id.to_string(),
            kind: letter.kind.word(),
            channel: letter.channel.word(),
            address,
            project_id: letter.project_id.map(|id| id.to_string()),
            state: letter.state.word(),
            queued_at: letter.queued_at.to_string(),
            at: letter.state.at().to_string(),
            attempts: letter.attempts,
            answer: letter.answer,
        }
    }

    fn shown_answer(&self) -> String {
        escape_hidden(self.answer.as_deref().unwrap_or_default())
    }

    fn shown_address(&self) -> String {
        escape_hidden(self.address.as_deref().unwrap_or("sealed with another key"))
    }
}

pub(crate) async fn run(command: MailCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let output = global.output();
    if let MailCommand::Test(options) = command {
        return test(&options, output).await;
    }
    let installation = Installation::existing(global, Settings::default()).await?;
    let engine = &installation.engine;
    let answer = match command {
        MailCommand::Test(_) => Ok(()),
        MailCommand::List(options) => list(options, engine, output).await,
        MailCommand::Show { id } => show(&id, engine, output).await,
        MailCommand::Again { id } => again(&id, engine, output).await,
    };
    installation.close().await;
    answer
}

async fn test(options: &TestOptions, output: Output) -> Result<(), CliError> {
    let not_set = || CliError::new("mail is not set up; set LUNAS_MAIL_URL and LUNAS_MAIL_FROM");
    let mailer = options.mail.mailer()?.ok_or_else(not_set)?;
    let pages_url = options.public_url.checked(true)?.unwrap_or_else(|| NOWHERE.to_owned());
    let relay = mailer.to_string();
    let language = if options.english { Language::English } else { Language::Indonesian };
    let mut steps = Vec::new();
    let mut report = |StepReport { step, outcome }: StepReport| {
        let (ok, answer) = match outcome {
            Ok(answer) => (true, answer),
            Err(answer) => (false, answer),
        };
        steps.push(StepLine { step: step.word(), ok, answer });
    };
    let mail = Mail { mailer, pages_url };
    let outcome = mail.send_test(&options.address, language, SystemClock.now(), &mut report).await;
    let tried = Tried { relay, taken: matches!(outcome, SendOutcome::Taken(_)), steps };
    output.show(&tried, |tried| {
        let row = |line: &StepLine| {
            [if line.ok { "ok" } else { "FAILED" }.to_owned(), line.step.to_owned(), escape_hidden(&line.answer)]
        };
        let rows: Vec<_> = tried.steps.iter().map(row).collect();
        format!("{}\n\n{}", tried.relay, table(["OUTCOME", "STEP", "ANSWER"], &rows))
    })?;
    match outcome {
        SendOutcome::Taken(_) => Ok(()),
        other => Err(CliError::new(format!("the letter was not taken: {}", escape_hidden(other.answer())))),
    }
}

async fn list(options: ListOptions, engine: &Engine, output: Output) -> Result<(), CliError> {
    let ListOptions { project: project_id, state, kind, limit } = options;
    let filter = LetterFilter { project_id, state, kind };
    let listed = engine.letters(&filter, Window { offset: 0, limit }).await?;
    let lines: Vec<LetterLine> = listed.items.into_iter().map(LetterLine::of).collect();
    output.show(&lines, |lines| {
        let row = |line: &LetterLine| {
            [
                line.id.clone(),
                line.kind.to_owned(),
                line.shown_address(),
                line.state.to_owned(),
                line.at.clone(),
                line.shown_answer(),
            ]
        };
        let rows: Vec<_> = lines.iter().map(row).collect();
        table(["ID", "KIND", "TO", "STATE", "AT", "ANSWER"], &rows)
    })
}

async fn show(id: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let line = LetterLine::of(engine.shown_letter(parsed(id)?).await?);
    output.show(&line, |line| {
        fields(&[
            ("id", line.id.clone()),
            ("kind", line.kind.to_owned()),
            ("channel", line.channel.to_owned()),
            ("to", line.shown_address()),
            ("project", line.project_id.clone().unwrap_or_default()),
            ("state", line.state.to_owned()),
            ("queued at", line.queued_at.clone()),
            ("at", line.at.clone()),
            ("attempts", line.attempts.to_string()),
            ("answer", line.shown_answer()),
        ])
    })
}

async fn again(id: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let id = parsed(id)?;
    engine.send_letter_again(id).await?;
    let line = LetterLine::of(engine.shown_letter(id).await?);
    output.show(&line, |line| format!("{} is queued again", line.id))
}

fn parsed(id: &str) -> Result<LetterId, CliError> {
    id.parse().map_err(|_| CliError::new(format!("there is no letter {}", id.escape_debug())))
}
