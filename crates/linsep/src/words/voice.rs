//! How a face of the library speaks.

use super::Setting;

/// What a face calls a setting, and what it counts from.
pub trait Voice {
    /// The setting, with a value where one is given; `None` where this face does not have it.
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String>;

    /// The setting with any of some values.
    fn choice(&self, setting: Setting, values: &[String]) -> Option<String> {
        let said: Vec<String> = values.iter().filter_map(|value| self.setting(setting, Some(value))).collect();
        listed(&said)
    }

    /// What the first row and the first column are numbered.
    fn first(&self) -> usize {
        1
    }

    /// Characters of a line of text.
    fn width(&self) -> usize {
        99
    }

    /// That a fit left no model behind, as a sentence, where this face would have written one.
    fn nothing_written(&self) -> Option<&'static str> {
        None
    }
}

/// The library's own voice: settings by their names, rows and columns from 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Voice for Plain {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        Some(match (setting, value) {
            (Setting::Model, Some(value)) => format!("the method {value}"),
            (setting, Some(value)) => format!("{} = {value}", setting.name()),
            (setting, None) => setting.name().to_owned(),
        })
    }

    fn choice(&self, setting: Setting, values: &[String]) -> Option<String> {
        self.setting(setting, Some(&listed(values)?))
    }
}

/// Some words as "a, b or c"; `None` if there are none.
pub fn listed(words: &[String]) -> Option<String> {
    let (last, before) = words.split_last()?;
    Some(if before.is_empty() { last.clone() } else { format!("{} or {last}", before.join(", ")) })
}
