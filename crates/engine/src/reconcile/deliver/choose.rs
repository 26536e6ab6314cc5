//! Which of the due deliveries are leased now: urgent ones first, and so that no project takes the place of another.

use std::collections::{HashMap, HashSet};

use domain::{
    delivery::Delivery,
    id::{EventId, ProjectId},
};

/// The leases of urgent deliveries and those of all others: 3,072 together, so that memory and open files are limited
/// however many receivers hang.
const URGENT_LEASES: LeaseLimits = LeaseLimits { most: 384, shared_most: 288 };
const OTHER_LEASES: LeaseLimits = LeaseLimits { most: 2_688, shared_most: 2_016 };
pub(super) const LEASES_MOST: usize = URGENT_LEASES.most + OTHER_LEASES.most;

/// How many deliveries of one kind, urgent or not, may be leased at once.
#[derive(Clone, Copy)]
struct LeaseLimits {
    /// In all.
    most: usize,
    /// From this number on, only projects that have less than their share of it get a lease. So projects whose
    /// receivers hang cannot use up the rest, whatever limit each project has.
    shared_most: usize,
}

/// Chooses the deliveries to lease now: the urgent ones and then the others, each within limits of their own. `limit`
/// tells how many leases a delivery's project may have, of its kind.
pub(super) fn chosen(due: &[Delivery], in_flight: &[Delivery], limit: &dyn Fn(&Delivery) -> usize) -> Vec<Delivery> {
    let is_urgent = |delivery: &Delivery| delivery.urgent;
    let (urgent, others): (Vec<Delivery>, Vec<Delivery>) = due.iter().copied().partition(is_urgent);
    let (urgent_in_flight, others_in_flight): (Vec<Delivery>, Vec<Delivery>) =
        in_flight.iter().copied().partition(is_urgent);
    let mut chosen = chosen_within(URGENT_LEASES, urgent, &urgent_in_flight, limit);
    chosen.extend(chosen_within(OTHER_LEASES, others, &others_in_flight, limit));
    chosen
}

/// Chooses deliveries of one kind. The first delivery of every project comes before the second of any, so that
/// projects with many due deliveries, or with a receiver that hangs, leave room for others. Among equals, the longest
/// due comes first.
fn chosen_within(
    limits: LeaseLimits,
    due: Vec<Delivery>,
    in_flight: &[Delivery],
    limit: &dyn Fn(&Delivery) -> usize,
) -> Vec<Delivery> {
    // A delivery that is being sent is due again if somebody asked to send it again meanwhile, or if the clock jumped;
    // skip it now.
    let sending: HashSet<EventId> = in_flight.iter().map(|delivery| delivery.event_id).collect();
    let mut of_project: HashMap<ProjectId, usize> = HashMap::new();
    let mut number = |delivery: &Delivery| {
        let count = of_project.entry(delivery.project_id).or_default();
        *count += 1;
        *count
    };
    for delivery in in_flight {
        number(delivery);
    }
    let waiting = due.into_iter().filter(|delivery| !sending.contains(&delivery.event_id));
    let mut numbered: Vec<(usize, Delivery)> = waiting.map(|delivery| (number(&delivery), delivery)).collect();
    numbered.retain(|(number, delivery)| *number <= limit(delivery));
    numbered.sort_by_key(|(number, _)| *number);
    let share = (limits.shared_most / of_project.len().max(1)).max(1);
    let mut total = in_flight.len();
    let fits = |(number, _): &(usize, Delivery)| {
        let fits = total < if *number <= share { limits.most } else { limits.shared_most };
        total += usize::from(fits);
        fits
    };
    numbered.into_iter().filter(fits).map(|(_, delivery)| delivery).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::samples, *};

    /// `count` deliveries of one project, longest due first.
    fn due(project: usize, count: usize) -> Vec<Delivery> {
        (0..count).map(|number| samples::due(project, number, false)).collect()
    }

    fn due_of(projects: std::ops::Range<usize>, count: usize) -> Vec<Delivery> {
        projects.flat_map(|project| due(project, count)).collect()
    }

    /// Chooses with the same limit for every project.
    fn chosen(due: impl AsRef<[Delivery]>, in_flight: &[Delivery], per_project: usize) -> Vec<Delivery> {
        super::chosen(due.as_ref(), in_flight, &|_| per_project)
    }

    #[test]
    fn a_project_has_at_most_its_limit_of_attempts() {
        assert_eq!(chosen(due(1, 9), &[], 4), due(1, 4));
        assert_eq!(chosen(due(1, 9), &due(1, 9)[6..], 4), due(1, 1));
        assert_eq!(chosen(due(1, 9), &due(1, 14)[10..], 4), []);
    }

    #[test]
    fn a_delivery_that_is_being_sent_is_not_sent_a_second_time() {
        let all = due(1, 5);
        assert_eq!(chosen(all.clone(), &all[..3], 4), all[3..4]);
    }

    #[test]
    fn every_projects_first_goes_before_any_projects_second() {
        let first = |project: usize| due(project, 1)[0];
        let picked = chosen(due_of(1..4, 3), &[first(2)], 4);
        assert_eq!(picked[..2], [first(1), first(3)]);
        assert_eq!(picked.len(), 8);
    }

    #[test]
    fn however_many_receivers_hang_there_is_room_for_the_share_of_another_project() {
        for (projects, count, newcomers) in [(1..301, 12, 6), (1..2, 3_000, 672)] {
            let hanging = due_of(projects, count);
            let on_the_way = chosen(hanging.clone(), &[], count);
            assert_eq!(on_the_way.len(), OTHER_LEASES.shared_most);
            assert_eq!(chosen(hanging.clone(), &on_the_way, count), []);
            let newcomer = due(999, 1_000);
            let all = [hanging, newcomer.clone()].concat();
            assert_eq!(chosen(all, &on_the_way, count), newcomer[..newcomers], "{count} of each");
        }
        assert_eq!(chosen(due_of(1..4_000, 4), &[], 4).len(), OTHER_LEASES.most, "and there is a limit in all");
    }

    #[test]
    fn urgent_deliveries_go_first_and_take_no_room_of_others_nor_others_theirs() {
        let as_urgent = |delivery: Delivery| Delivery { urgent: true, ..delivery };
        let urgent = |project, count| due(project, count).into_iter().map(as_urgent).collect::<Vec<_>>();
        let (revoked, paid) = (urgent(2, 3), due(1, 9));
        assert_eq!(chosen([paid.clone(), revoked.clone()].concat(), &[], 4), [&revoked[..], &paid[..4]].concat());
        let hanging: Vec<Delivery> = due_of(1..4_000, 4).into_iter().take(OTHER_LEASES.most).collect();
        let of_a_hanging_project = due(1, 5).pop().map(as_urgent).unwrap();
        assert_eq!(chosen(vec![of_a_hanging_project], &hanging, 4), [of_a_hanging_project]);
        let urgent_hanging: Vec<Delivery> = (1..4_000).flat_map(|project| urgent(project, 1)).collect();
        let on_the_way = chosen(urgent_hanging, &[], 4);
        assert_eq!(on_the_way.len(), URGENT_LEASES.most);
        assert_eq!(chosen(due(9_999, 2), &on_the_way, 4).len(), 2);
        assert_eq!(URGENT_LEASES.most + OTHER_LEASES.most, 3_072, "as many as files may be open for");
    }
}
