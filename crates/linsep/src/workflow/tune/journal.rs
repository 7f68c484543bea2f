//! What a search has found so far, kept by the caller so that one which was killed can go on.

use super::choose::FoldLoss;
use crate::error::Result;

/// A candidate in a fold of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrialPlace {
    /// 0 for the search itself, then the searches without each outer fold.
    pub search: usize,
    /// Place among the candidates.
    pub candidate: usize,
    /// The fold, numbered on over repetitions.
    pub fold: usize,
}

/// Losses of folds by place. What is found is taken as it is, so that a search which goes on gives what one without a pause does.
pub trait TrialJournal: Sync {
    /// Loss and weight of a fold under every size of a candidate's penalty, where they are known.
    fn find(&self, place: TrialPlace) -> Option<Vec<(f64, f64)>>;

    /// Keeps them; called from worker threads.
    ///
    /// # Errors
    /// Whatever keeps them cannot: the search ends.
    fn keep(&self, place: TrialPlace, losses: &[(f64, f64)]) -> Result<()>;
}

/// The journal of one search, where there is one.
#[derive(Clone, Copy, Default)]
pub(in crate::workflow) struct JournalPart<'j> {
    pub(super) journal: Option<&'j dyn TrialJournal>,
    pub(super) search: usize,
}

impl JournalPart<'_> {
    /// The losses that are known, if there are as many as sizes, or those that `work` finds, which are kept.
    pub(super) fn or_else(
        &self,
        (candidate, fold, sizes): (usize, usize, usize),
        work: impl FnOnce() -> Result<Vec<FoldLoss>>,
    ) -> Result<Vec<FoldLoss>> {
        let Some(journal) = self.journal else { return work() };
        let place = TrialPlace { search: self.search, candidate, fold };
        if let Some(known) = journal.find(place).filter(|known| known.len() == sizes) {
            return Ok(known.into_iter().map(|(loss, weight)| FoldLoss { loss, weight }).collect());
        }
        let found = work()?;
        journal.keep(place, &found.iter().map(|f| (f.loss, f.weight)).collect::<Vec<(f64, f64)>>())?;
        Ok(found)
    }
}
