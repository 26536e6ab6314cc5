//! Guessing at the second factor with the right password: few guesses are judged, and they keep nobody out.

use std::{sync::Arc, time::Duration};

use domain::audit::Deed;
use futures_util::future::join_all;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::audited,
    people::{PASSWORD, Person, sign_in},
    second_factor::{STEP, add_factor, give_code, give_password},
};

on_every_database![of_fifty_guesses_at_once_five_are_judged on 2 threads];

on_sqlite_alone![
    ten_thousand_guesses_are_hardly_ever_judged_and_keep_the_user_out_of_nothing on 2 threads,
    a_code_that_cannot_be_one_is_not_counted,
];

async fn of_fifty_guesses_at_once_five_are_judged(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let (browser, wrong) = (give_password(&kit, &siti).await, app.wrong_code(&kit));
    let replies = join_all((0..50).map(|_| give_code(&browser, &wrong))).await;
    let judged = replies.iter().filter(|reply| reply.status == 401).count();
    let waiting = replies.iter().filter(|reply| reply.status == 429 && reply.header("retry-after").is_some()).count();
    assert_eq!((judged, waiting), (5, 45));
    assert_eq!(audited(&kit, Deed::SignInRefused).await.len(), 5);
}

/// In the 250 seconds of this test twelve guesses are judged; the next one would be after 255.
async fn ten_thousand_guesses_are_hardly_ever_judged_and_keep_the_user_out_of_nothing(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, codes) = add_factor(&kit, &siti).await;
    let mut judged = 0;
    let browser = give_password(&kit, &siti).await;
    for _ in 0..250 {
        let wrong = app.wrong_code(&kit);
        let replies = join_all((0..40).map(|_| give_code(&browser, &wrong))).await;
        judged += replies.iter().filter(|reply| reply.status == 401).count();
        assert!(replies.iter().all(|reply| [401, 429].contains(&reply.status.as_u16())));
        kit.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(judged, 12);
    // In a browser that the guesser does not have the right code counts at once, and so does a recovery code anywhere.
    siti.post("/dashboard/sign-out", &[]).await;
    sign_in(&siti.browser, "siti@example.com", PASSWORD).await;
    kit.clock.advance(STEP);
    assert_eq!(give_code(&siti.browser, &app.code(&kit)).await.status, 303);
    assert_eq!(give_code(&give_password(&kit, &siti).await, &codes[0]).await.status, 303);
    // Elsewhere they wait a quarter of an hour at most.
    kit.clock.advance(Duration::from_mins(15));
    assert_eq!(give_code(&give_password(&kit, &siti).await, &app.next_code(&kit)).await.status, 303);
}

async fn a_code_that_cannot_be_one_is_not_counted(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let browser = give_password(&kit, &siti).await;
    for _ in 0..20 {
        is_page("five digits", &give_code(&browser, "12345").await, 401);
    }
    assert_eq!(give_code(&browser, &app.next_code(&kit)).await.status, 303);
}
