//! Every link of the home page and the documentation leads somewhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use testkit::on_sqlite;
use url::Url;

use crate::support::customer::Customer;

/// More pages than there are.
const PAGES_MOST: usize = 500;

/// The targets of a page's links.
fn links(html: &str) -> Vec<String> {
    let targets = html.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.map(|target| target.replace("&#38;", "&").replace("&amp;", "&")).collect()
}

/// The ids of a page's elements.
fn ids(html: &str) -> BTreeSet<String> {
    html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_link_from_the_home_page_on_leads_to_a_page_and_a_heading_that_are_there() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        let home = Url::parse(&format!("http://{}/", kit.address)).unwrap();
        let mut waiting = VecDeque::from([(home.clone(), "the start".to_owned())]);
        let mut pages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut broken = Vec::new();
        while let Some((url, from)) = waiting.pop_front() {
            assert!(pages.len() < PAGES_MOST, "the documentation does not end");
            let path = url.path().to_owned();
            if !pages.contains_key(&path) {
                let page = customer.open(&path).await;
                let is_ours = path == "/" || path.starts_with("/docs");
                // Other pages may ask to sign in.
                let is_there = if is_ours { page.status == 200 } else { page.status != 404 };
                broken.extend((!is_there).then(|| format!("{from} leads to {path}, which is {}", page.status)));
                for target in links(&page.text).into_iter().filter(|_| is_ours && page.status == 200) {
                    let target = url.join(&target).unwrap();
                    if target.origin() == home.origin() {
                        waiting.push_back((target, path.clone()));
                    }
                }
                pages.insert(path.clone(), ids(&page.text));
            }
            let lacks = |id: &&str| path.starts_with("/docs") && !pages[&path].contains(*id);
            if let Some(id) = url.fragment().filter(lacks) {
                broken.push(format!("{from} leads to {path}#{id}, which is not there"));
            }
        }
        assert!(pages.len() > 15, "{:?}", pages.keys());
        broken.sort();
        broken.dedup();
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    })
    .await;
}
