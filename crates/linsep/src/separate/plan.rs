//! Which methods are tried for a verdict, by the size of the table: every threshold is here.
//!
//! | table | ways, in this order |
//! |---|---|
//! | up to 2,000 columns | the columns (from 60,000 rows on, first on a part of them) |
//! | more columns | a plane found through the rows; what single columns leave open, from 2,000 constraints on; then the columns if they are fewer than the rows, or the products of up to 2,000 rows |
//! | whatever is undecided then | whole numbers, within a limit of work: the columns, or the relations among up to 5,000 rows |
//!
//! So a verdict can be missing for tables of more than 2,000 columns and 2,000 rows whose columns are not fewer than the rows
//! (or are more than 5,000): where they overlap in more rows than single columns leave manageable, and whole numbers would
//! take too long.

/// How a verdict was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By Newton's method in the space of the columns.
    Columns,
    /// The same, begun on a part of the rows.
    PartOfRows,
    /// A plane found through the rows, checked as it is.
    Planes,
    /// By what single columns leave open.
    SingleColumns,
    /// By Newton's method in the space of the rows.
    RowProducts,
    /// By the simplex method in whole numbers.
    WholeNumbers,
    /// By the linear relations among the rows, in whole numbers.
    RowRelations,
    /// The direction in which a fit ran away, checked as it is.
    Fit,
}

impl Route {
    /// One word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Route::Columns => "columns",
            Route::PartOfRows => "part_of_rows",
            Route::Planes => "planes",
            Route::SingleColumns => "single_columns",
            Route::RowProducts => "row_products",
            Route::WholeNumbers => "whole_numbers",
            Route::RowRelations => "row_relations",
            Route::Fit => "fit",
        }
    }

    /// The same for people.
    pub fn describe(self) -> &'static str {
        match self {
            Route::Columns => "Newton's method on the columns",
            Route::PartOfRows => "Newton's method on the columns, begun on a part of the rows",
            Route::Planes => "a search for a plane through the rows",
            Route::SingleColumns => "single columns, then what they leave open",
            Route::RowProducts => "Newton's method on the products of rows",
            Route::WholeNumbers => "the simplex method in whole numbers",
            Route::RowRelations => "the linear relations among the rows, in whole numbers",
            Route::Fit => "the direction in which the fit ran away",
        }
    }
}

/// With more columns the system is solved through its rows: a Gram matrix of 2,000² doubles takes 32 MB. Chosen
/// (bench/constants.md).
pub(super) const MOST_COLUMNS: usize = 2_000;
/// From so many rows on, the search starts on a part of them. Chosen (bench/constants.md): only the time depends on it.
const MANY_ROWS: usize = 60_000;
/// Rows of that part. Chosen, out of reach of bench/constants.md.
const PART_ROWS: usize = 20_000;
/// With more rows their products, 2,000² doubles or 32 MB, are not formed. Chosen (bench/constants.md).
const MOST_ROWS: usize = 2_000;
/// Columns or constraints of which all products are formed where nothing else decides: 200 MB, and seconds for each step.
const MOST_GRAM: usize = 5_000;
/// With more rows their relations are not asked for: a direction is found by all products of rows, as above.
pub(super) const MOST_RELATED: usize = MOST_GRAM;
/// Nor with more entries: they are held by column, 48 bytes each, 200 MB in all.
pub(super) const MOST_RELATED_ENTRIES: usize = 4_000_000;
/// Weights of a machine, a gigabyte of them, that are held twice.
const MOST_WEIGHTS: usize = 1 << 27;
/// Entries that coordinate descent may read thousands of times, which takes some seconds. Chosen (bench/constants.md).
const QUICK_ENTRIES: usize = 1_000_000;
/// Entries that the active set method may read some hundred times: 20news (7.7 million) takes 450 products of 2.1 ms on
/// part of its rows, 1.4 s in all (bench/README.md). The limit itself was not measured.
const MOST_ENTRIES: usize = 30_000_000;
/// Bits of a table that is converted to integers: as `BigInt`s, of some 64 bytes each, about a hundred megabytes.
pub(super) const MOST_BITS: usize = 100_000_000;
/// With more unknowns (5,000 and an intercept) the Gram matrix of a verified solve takes more than 200 MB.
pub(super) const MOST_VERIFIED: usize = 5_001;
/// Unknowns for which elimination in integers is tried, within what `Effort` allows. Chosen, not measured.
pub(super) const MOST_EXACT: usize = 400;
/// With more unknowns the support of a common point is not reduced: a basis takes their square, and a pivot for each
/// row. Chosen, not measured: only the number of rows shown depends on it.
pub(super) const MOST_REDUCED: usize = 600;
/// Then the rows are given as they are, unless there are more than this. Chosen, not measured: a longer list helps nobody.
pub(super) const MOST_UNREDUCED: usize = 10_000;
/// Up to so many unknowns weights are made integers without being asked, in less than a second. Chosen, not measured.
pub(super) const MOST_WHOLE: usize = 40;
/// The size of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuestionSize {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) classes: usize,
}

impl QuestionSize {
    /// Unknowns, intercepts aside.
    fn unknowns(self) -> usize {
        self.columns * (self.classes - 1)
    }

    fn constraints(self) -> usize {
        self.rows * (self.classes - 1)
    }

    /// The methods to try until one decides; exact integer arithmetic may decide what none of them does.
    pub(super) fn routes(self) -> Vec<Route> {
        if self.columns <= MOST_COLUMNS {
            return vec![self.by_columns()];
        }
        let mut routes = vec![Route::Planes];
        if self.constraints() > MOST_ROWS {
            routes.push(Route::SingleColumns);
        }
        if self.rows > MOST_ROWS {
            if self.unknowns() < self.rows.min(MOST_GRAM) {
                routes.push(self.by_columns());
            }
        } else if self.constraints() <= MOST_GRAM {
            routes.push(Route::RowProducts);
        }
        routes
    }

    /// Newton's method on the columns, warm-started from a part of the rows where there are many.
    pub(super) fn by_columns(self) -> Route {
        if self.rows < MANY_ROWS { Route::Columns } else { Route::PartOfRows }
    }

    /// The stride of the rows of the part.
    pub(super) fn step_of_part(self) -> usize {
        self.rows / PART_ROWS
    }

    /// Whether a machine of so many weights can be assembled from single columns.
    pub(super) fn fits_machine(self) -> bool {
        self.classes * (self.columns + 1) <= MOST_WEIGHTS
    }

    /// How the constraints that single columns leave open are decided, if they are few enough.
    pub(super) fn route_of_core(self) -> Option<Route> {
        let (of_columns, of_rows) = (self.unknowns(), self.constraints());
        if of_columns <= MOST_COLUMNS || (of_columns <= MOST_GRAM && of_columns <= of_rows) {
            Some(Route::Columns)
        } else if self.rows <= MOST_ROWS && of_rows <= MOST_GRAM {
            Some(Route::RowProducts)
        } else {
            None
        }
    }
}

/// Whether the widest plane is affordable for rows of so many stored entries, where the caller gives no margin tolerance.
pub(super) fn affords_margin(entries: usize) -> bool {
    entries <= MOST_ENTRIES
}

/// Whether a search that reads the rows thousands of times is affordable as well.
pub(super) fn affords_patience(entries: usize) -> bool {
    entries <= QUICK_ENTRIES
}

#[cfg(test)]
mod tests {
    use super::Route::{Columns, PartOfRows, Planes, RowProducts, SingleColumns};
    use super::{QuestionSize, Route};

    #[test]
    fn routes_by_size() {
        let table: [(usize, usize, usize, &[Route]); 14] = [
            (10, 2, 2, &[Columns]),
            (59_999, 2_000, 2, &[Columns]),
            (60_000, 2_000, 2, &[PartOfRows]),
            (1_000_000, 50, 7, &[PartOfRows]),
            (10, 2_001, 2, &[Planes, RowProducts]),
            (2_000, 2_001, 2, &[Planes, RowProducts]),
            (2_001, 2_001, 2, &[Planes, SingleColumns]),
            (2_002, 2_001, 2, &[Planes, SingleColumns, Columns]),
            (70_000, 3_000, 2, &[Planes, SingleColumns, PartOfRows]),
            (70_000, 5_000, 2, &[Planes, SingleColumns]),
            (1_500, 1_000_000, 3, &[Planes, SingleColumns, RowProducts]),
            (2_000, 1_000_000, 4, &[Planes, SingleColumns]),
            (18_846, 1_664_447, 2, &[Planes, SingleColumns]),
            (6_000, 2_400, 3, &[Planes, SingleColumns, Columns]),
        ];
        for (rows, columns, classes, expected) in table {
            let found = QuestionSize { rows, columns, classes }.routes();
            assert_eq!(found, expected, "{rows} rows, {columns} columns, {classes} classes");
        }
    }

    #[test]
    fn cores_by_size() {
        let core = |rows, columns, classes| QuestionSize { rows, columns, classes }.route_of_core();
        assert_eq!(core(1, 2_000, 2), Some(Columns));
        assert_eq!(core(4_999, 5_000, 2), None);
        assert_eq!(core(5_000, 5_000, 2), Some(Columns));
        assert_eq!(core(2_000, 100_000, 2), Some(RowProducts));
        assert_eq!(core(2_001, 100_000, 2), None);
        assert_eq!(core(2_000, 100_000, 4), None);
    }
}
