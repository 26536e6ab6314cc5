//! Summaries: what a project has taken in a day or a week, to each member who has chosen that and to the project's URL, in the morning. What is due is computed
//! from the clock alone, so a restart skips none; and each is queued for a cause of its own, so two nodes queue one.

use std::time::Duration;

use domain::{
    access::{Act, Role},
    letter::SummaryPeriod,
    project::{Environment, Project},
    time::{DAY, DAY_MILLIS, HOUR, Timestamp, WIB, midnight},
    user::User,
};
use letters::{Letter, Summary};
use store::{Change, NoticeTarget};

use super::queue::Envelope;
use crate::{Engine, Error};

/// When summaries come, after midnight in western Indonesia.
const MORNING: Duration = HOUR.saturating_mul(7);
const WEEK: Duration = DAY.saturating_mul(7);
/// 1 January 1970 was a Thursday; from so many days later on weeks begin on a Monday.
const FIRST_MONDAY: i64 = 4;

/// The time that a summary is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: Timestamp,
    until: Timestamp,
}

impl Span {
    /// The latest whole day or week whose summary is due.
    fn due(period: SummaryPeriod, now: Timestamp) -> Span {
        let today = midnight(now.minus(MORNING));
        let until = match period {
            SummaryPeriod::Daily => today,
            SummaryPeriod::Weekly => {
                let day = today.plus(WIB).as_millis() / DAY_MILLIS;
                let since_monday = (day - FIRST_MONDAY).rem_euclid(7);
                today.minus(DAY * u32::try_from(since_monday).unwrap_or_default())
            }
        };
        let length = match period {
            SummaryPeriod::Daily => DAY,
            SummaryPeriod::Weekly => WEEK,
        };
        Span { from: until.minus(length), until }
    }

    /// The one before, of the same length.
    fn before(self) -> Span {
        Span { from: self.from.minus(self.from.until(self.until)), until: self.from }
    }
}

impl Engine {
    /// Queues the summaries that are due.
    pub(crate) async fn queue_summaries(&self) -> Result<usize, Error> {
        self.queue_notice_summaries().await?;
        if !self.has_mail() {
            return Ok(0);
        }
        for choices in self.store.summary_choices().await? {
            let Some(period) = choices.summary else { continue };
            let user = self.store.user(choices.user_id).await?;
            let Some(user) = user.filter(User::is_active) else { continue };
            let span = Span::due(period, self.now());
            for (project, role) in self.store.memberships(user.id).await? {
                self.queue_summary(&user, &project, role, (period, span)).await?;
            }
        }
        Ok(0)
    }

    async fn queue_summary(
        &self,
        user: &User,
        project: &Project,
        role: Role,
        (period, span): (SummaryPeriod, Span),
    ) -> Result<(), Error> {
        let cause = format!("summary {} {} {}", project.id, period.word(), span.from.as_millis());
        let envelope = Envelope::to_user(user).about(project.id).once_for(&cause);
        let is_new = project.created_at < span.until && role.may(Act::Look);
        let queued = match &envelope.cause {
            Some(cause) => self.store.has_letter_for(cause).await?,
            None => false,
        };
        if queued || !is_new {
            return Ok(());
        }
        let letter = self.summary(project, period, span).await?;
        Ok(self.store.commit(Change::default().with_all(self.letter(envelope, &letter)?)).await?)
    }

    /// The same for projects that want summaries at their URL.
    async fn queue_notice_summaries(&self) -> Result<(), Error> {
        if self.notices().is_none() {
            return Ok(());
        }
        for NoticeTarget { project_id, summary, .. } in self.store.notice_summaries().await? {
            let Some(period) = summary else { continue };
            let span = Span::due(period, self.now());
            let cause = format!("summary {project_id} {} {}", period.word(), span.from.as_millis());
            let project = self.project(project_id).await?;
            if project.created_at >= span.until || self.store.has_letter_for(&format!("notice {cause}")).await? {
                continue;
            }
            let letter = self.summary(&project, period, span).await?;
            let queued = self.project_notice(project_id, &letter, Some(cause)).await?;
            self.store.commit(Change::default().with_all(queued)).await?;
        }
        Ok(())
    }

    async fn summary(&self, project: &Project, period: SummaryPeriod, span: Span) -> Result<Letter, Error> {
        let (paid, before) = (span, span.before());
        let paid = self.store.paid_between(project.id, paid.from, paid.until).await?;
        let before = self.store.paid_between(project.id, before.from, before.until).await?;
        Ok(Letter::Summary(Summary {
            project: project.name.clone(),
            period,
            from: span.from,
            until: span.until,
            paid_count: paid.payments.unsigned_abs(),
            paid_sum: paid.amount,
            paid_sum_before: before.amount,
            held_count: self.store.held_sum(project.id).await?.receipts.unsigned_abs(),
            page_url: self.page_url(&format!("/dashboard/{}", project.id)),
            is_sandbox: project.environment == Environment::Sandbox,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_day_is_due_at_seven_of_the_next_morning_and_a_week_on_monday() {
        let (daily, weekly) = (SummaryPeriod::Daily, SummaryPeriod::Weekly);
        for (period, now, from, until) in [
            (daily, "2026-11-19T06:59:59+07:00", "2026-11-17T00:00:00+07:00", "2026-11-18T00:00:00+07:00"),
            (daily, "2026-11-19T07:00:00+07:00", "2026-11-18T00:00:00+07:00", "2026-11-19T00:00:00+07:00"),
            (daily, "2026-11-20T06:59:59+07:00", "2026-11-18T00:00:00+07:00", "2026-11-19T00:00:00+07:00"),
            // The 16th is a Monday.
            (weekly, "2026-11-16T06:59:59+07:00", "2026-11-02T00:00:00+07:00", "2026-11-09T00:00:00+07:00"),
            (weekly, "2026-11-16T07:00:00+07:00", "2026-11-09T00:00:00+07:00", "2026-11-16T00:00:00+07:00"),
            (weekly, "2026-11-22T23:00:00+07:00", "2026-11-09T00:00:00+07:00", "2026-11-16T00:00:00+07:00"),
        ] {
            assert_eq!(Span::due(period, at(now)), Span { from: at(from), until: at(until) }, "{now}");
        }
        let week = Span::due(weekly, at("2026-11-19T12:00:00+07:00"));
        assert_eq!(week.before(), Span { from: at("2026-11-02T00:00:00+07:00"), until: week.from });
    }
}
