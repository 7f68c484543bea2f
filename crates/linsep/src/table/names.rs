//! Many names looked up among many: once in order, then by halving.

/// Names with their places, in the order of the names.
///
/// ```
/// use linsep::table::NameIndex;
/// let index = NameIndex::new(["b", "a", "c"]);
/// assert_eq!(index.place("c"), Some(2));
/// assert_eq!(index.place("d"), None);
/// ```
#[derive(Debug, Clone)]
pub struct NameIndex<'a> {
    sorted: Vec<(&'a str, usize)>,
}

impl<'a> NameIndex<'a> {
    /// An index of names by their places from 0.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> NameIndex<'a> {
        let mut sorted: Vec<(&str, usize)> = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        sorted.sort_unstable();
        NameIndex { sorted }
    }

    /// The first place of a name.
    pub fn place(&self, name: &str) -> Option<usize> {
        let at = self.sorted.partition_point(|(other, _)| *other < name);
        self.sorted.get(at).filter(|(found, _)| *found == name).map(|(_, place)| *place)
    }

    /// Whether the name is among them.
    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }
}
