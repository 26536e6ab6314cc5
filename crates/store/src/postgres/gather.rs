//! Takes what waits in a queue together, for the tasks that send it as one query.

use tokio::{sync::mpsc, task::yield_now};

/// How often other tasks go first. In trials, three turns brought more than one, and eight no more than three.
const TURNS: usize = 3;

/// Waits for the next items, at most `most`; false where there will be none. Tasks that are ready go first: the callers
/// that the last batch has answered all send what they want next, and that joins this batch. Nobody waits for a timer.
pub(super) async fn gather<T>(queue: &mut mpsc::Receiver<T>, items: &mut Vec<T>, most: usize) -> bool {
    if queue.recv_many(items, most).await == 0 {
        return false;
    }
    for _ in 0..TURNS {
        if items.len() >= most {
            break;
        }
        yield_now().await;
        while items.len() < most
            && let Ok(item) = queue.try_recv()
        {
            items.push(item);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_ready_tasks_send_joins_the_batch_up_to_its_limit() {
        let (sender, mut queue) = mpsc::channel(16);
        tokio::spawn(async move {
            for number in 0..4 {
                sender.send(number).await.unwrap();
                yield_now().await;
            }
        });
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        assert!(gather(&mut queue, &mut first, 2).await);
        assert_eq!(first, [0, 1]);
        assert!(gather(&mut queue, &mut rest, 16).await);
        assert_eq!(rest, [2, 3]);
        assert!(!gather(&mut queue, &mut rest, 16).await);
    }
}
