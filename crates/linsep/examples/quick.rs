//! quick
use linsep::{design::*, stats::*, table::*, watch::Watch};
use std::time::Instant;
fn main() {
    for (n, d) in [(1_000_000usize, 50usize), (200_000, 100), (581_000, 54)] {
        let mut s = 1u64;
        let mut next = || {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            (s >> 11) as f64 / (1u64 << 53) as f64
        };
        let x: Vec<f64> = (0..n * d).map(|_| next()).collect();
        let y: Vec<Class> = (0..n).map(|_| Class((next() * 5.0) as u32)).collect();
        let x = DenseMatrix::new(x, d).unwrap();
        let y = Labels::new(y, (0..5).map(|i| i.to_string()).collect());
        for _ in 0..4 {
            let t = Instant::now();
            let m = ClassMoments::of(&x, &y, None, &Watch::default()).unwrap();
            let a = t.elapsed();
            let t = Instant::now();
            let sm = summarise(&x, None, &Watch::default()).unwrap();
            println!("{n}x{d}: moments {:?} summary {:?} {} {}", a, t.elapsed(), m.scatter().get(3, 2), sm.mean[0]);
        }
    }
}
