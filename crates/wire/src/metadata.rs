//! The JSON of metadata: an object whose members are in the order in which they were given.

use domain::metadata::Metadata;
use serde::{Serialize, Serializer};

pub struct MetadataJson(pub Metadata);

impl Serialize for MetadataJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.members.iter().map(|(key, value)| (key, value)))
    }
}
