//! Rows of kernel values that were used lately, within a number of bytes.

use crate::kernel::{Kernel, KernelRows, Real, TargetRows, kernel_rows};
use rayon::prelude::*;

/// Marks a row that is in no slot, and a slot without a row: no table has so many rows.
const NONE: u32 = u32::MAX;
/// Kernel rows computed by one task at most: fours, as the matrix product takes them. Chosen (bench/constants.md).
const TASK: usize = 16;

/// Kernel rows of some of the active rows, all against all active rows. The least recently used give way.
pub(super) struct RowCache<T> {
    values: Vec<T>,
    stride: usize,
    slots: usize,
    bytes: usize,
    /// Slot of an active row.
    slot_of: Vec<u32>,
    /// Active row of a slot.
    owner: Vec<u32>,
    /// When a slot was last used.
    used: Vec<u64>,
    clock: u64,
    /// Kernel rows computed so far.
    pub(super) computed: usize,
}

impl<T: Real> RowCache<T> {
    /// Room for rows of `stride` values within so many bytes.
    pub(super) fn new(bytes: usize, active: usize, stride: usize) -> RowCache<T> {
        let slots = slots::<T>(bytes, active, stride);
        RowCache {
            values: vec![T::ZERO; slots * stride],
            stride,
            slots,
            bytes,
            slot_of: vec![NONE; active],
            owner: Vec::new(),
            used: Vec::new(),
            clock: 0,
            computed: 0,
        }
    }

    /// Rows that fit.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Bytes that rows may take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The kernel row of an active row that is here.
    pub(super) fn row(&self, active: usize) -> &[T] {
        let at = self.slot_of[active] as usize * self.stride;
        &self.values[at..at + self.stride]
    }

    /// Computes those of some rows that are not here; at most as many as fit.
    pub(super) fn ensure(
        &mut self,
        wanted: &[usize],
        (kernel, rows, ids): (&Kernel, &KernelRows, &[usize]),
        targets: &TargetRows<T>,
    ) {
        self.clock += 1;
        for w in wanted.iter().filter(|w| self.slot_of[**w] != NONE) {
            self.used[self.slot_of[*w] as usize] = self.clock;
        }
        let missing: Vec<usize> = wanted.iter().copied().filter(|w| self.slot_of[*w] == NONE).collect();
        let mut places = self.places(missing.len());
        places.sort_unstable();
        for (row, slot) in missing.iter().zip(&places) {
            self.slot_of[*row] = *slot as u32;
            self.owner[*slot] = *row as u32;
            self.used[*slot] = self.clock;
        }
        let mut out: Vec<&mut [T]> = Vec::with_capacity(missing.len());
        let mut next = places.iter().peekable();
        for (slot, values) in self.values.chunks_exact_mut(self.stride.max(1)).enumerate() {
            match next.peek() {
                None => break,
                Some(place) if **place == slot => {
                    next.next();
                    out.push(values);
                }
                _ => {}
            }
        }
        let task = missing.len().div_ceil(4 * rayon::current_num_threads()).div_ceil(4).max(1) * 4;
        let task = task.min(TASK);
        missing.par_chunks(task).zip(out.par_chunks_mut(task)).for_each(|(missing, out)| {
            let global: Vec<usize> = missing.iter().map(|m| ids[*m]).collect();
            kernel_rows(kernel, rows, &global, targets, out);
        });
        self.computed += missing.len();
    }

    /// Slots for new rows: unused ones, then those of the least recently used rows.
    fn places(&mut self, count: usize) -> Vec<usize> {
        let fresh = count.min(self.slots - self.owner.len());
        let mut places: Vec<usize> = (self.owner.len()..self.owner.len() + fresh).collect();
        self.owner.resize(self.owner.len() + fresh, NONE);
        self.used.resize(self.owner.len(), self.clock);
        let needed = count - fresh;
        if needed > 0 {
            let mut old: Vec<(u64, usize)> =
                self.used.iter().enumerate().filter(|(_, u)| **u < self.clock).map(|(s, u)| (*u, s)).collect();
            if needed < old.len() {
                old.select_nth_unstable(needed);
            }
            for (_, slot) in old.into_iter().take(needed) {
                if self.owner[slot] != NONE {
                    self.slot_of[self.owner[slot] as usize] = NONE;
                }
                places.push(slot);
            }
        }
        places
    }

    /// Keeps the active rows `kept` (rising), which become 0, 1, …; the others leave their columns and rows.
    pub(super) fn shrink(&mut self, kept: &[usize], stride: usize) {
        let (old, mut slot_of, mut free) = (self.stride, vec![NONE; kept.len()], 0);
        let mut new_place = vec![NONE; self.slot_of.len()];
        kept.iter().enumerate().for_each(|(new, old)| new_place[*old] = new as u32);
        let (mut owner, mut used) = (Vec::new(), Vec::new());
        for slot in 0..self.owner.len() {
            let active = self.owner[slot];
            if active == NONE || new_place[active as usize] == NONE {
                continue;
            }
            // New places are never behind old ones, so nothing is overwritten before it is read.
            for (new, column) in kept.iter().enumerate() {
                self.values[free * stride + new] = self.values[slot * old + column];
            }
            slot_of[new_place[active as usize] as usize] = free as u32;
            owner.push(new_place[active as usize]);
            used.push(self.used[slot]);
            free += 1;
        }
        self.slots = slots::<T>(self.bytes, kept.len(), stride).min(self.values.len() / stride.max(1));
        (self.stride, self.slot_of, self.owner, self.used) = (stride, slot_of, owner, used);
    }

    /// Appends columns for new active rows to the rows that are here, as many as still fit.
    pub(super) fn extend(
        &mut self,
        (kernel, rows, ids): (&Kernel, &KernelRows, &[usize]),
        added: &TargetRows<T>,
        stride: usize,
    ) {
        let before = self.slot_of.len();
        let mut wider = RowCache::<T>::new(self.bytes, ids.len(), stride);
        (wider.clock, wider.computed) = (self.clock, self.computed);
        let mut order: Vec<usize> = (0..self.owner.len()).filter(|s| self.owner[*s] != NONE).collect();
        order.sort_unstable_by_key(|s| (std::cmp::Reverse(self.used[*s]), *s));
        order.truncate(wider.slots);
        let (old, values) = (self.stride, &self.values);
        let owners: Vec<usize> = order.iter().map(|s| self.owner[*s] as usize).collect();
        let parts = wider.values.par_chunks_mut(TASK * stride).zip(order.par_chunks(TASK)).zip(owners.par_chunks(TASK));
        parts.for_each(|((out, slots), owners)| {
            let global: Vec<usize> = owners.iter().map(|o| ids[*o]).collect();
            let mut fresh = vec![T::ZERO; slots.len() * added.padded()];
            let mut pieces: Vec<&mut [T]> = fresh.chunks_exact_mut(added.padded()).collect();
            kernel_rows(kernel, rows, &global, added, &mut pieces);
            for ((slot, out), fresh) in slots.iter().zip(out.chunks_exact_mut(stride)).zip(pieces) {
                out[..before].copy_from_slice(&values[slot * old..slot * old + before]);
                out[before..before + added.len()].copy_from_slice(&fresh[..added.len()]);
            }
        });
        wider.used = order.iter().map(|s| self.used[*s]).collect();
        wider.owner = owners.iter().map(|o| *o as u32).collect();
        owners.iter().enumerate().for_each(|(slot, o)| wider.slot_of[*o] = slot as u32);
        *self = wider;
    }
}

/// Rows of so many values within so many bytes.
fn slots<T>(bytes: usize, active: usize, stride: usize) -> usize {
    (bytes / (stride.max(1) * std::mem::size_of::<T>())).min(active)
}
