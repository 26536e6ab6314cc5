//! `lunas bank` sets up accounts at banks and decides about strays, and `lunas doctor` examines them.

/// Makes two tests of each function in the list, as the test kit's macro of the same name does for running servers.
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(super::Site::on_sqlite()).await;
                }
            )*
        }

        mod on_postgres {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(super::Site::on_postgres()).await;
                }
            )*
        }
    };
}

mod examined;
mod reconcile;
mod refusals;
mod road;
mod site;
mod strays;
mod test;
