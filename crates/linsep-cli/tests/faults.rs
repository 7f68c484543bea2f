//! What goes wrong around the command: signals, full disks, modes and links of files, and inputs that ask for too much.
#![cfg(unix)]

mod common;

use common::running::{LONG, send, wait_until};
use common::{Ran, Scratch, words};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(scratch: &Scratch, line: &str) -> Child {
    let mut command = scratch.command();
    command.args(words(line)).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

fn parts(scratch: &Scratch) -> Vec<String> {
    scratch.names().into_iter().filter(|name| name.ends_with(".part")).collect()
}

/// A command line under a limit of the shell's `ulimit`.
fn limited(scratch: &Scratch, limit: &str, line: &str) -> Ran {
    let mut command = Command::new("sh");
    command.current_dir(scratch.path()).env("LINSEP_NUM_THREADS", "2").stdin(Stdio::null());
    command.args(["-c", &format!("ulimit {limit}; exec {} {line}", env!("CARGO_BIN_EXE_linsep"))]);
    Ran::of(command.output().expect("the shell starts"))
}

/// Writes for far longer than a test needs to send a signal, and yet ends by itself, after some gigabytes, where the signal is
/// not heard.
const ENDLESS: &str = "simulate gaussian --rows 100000000 -o endless.csv";

#[test]
fn signals_in_the_middle_of_writing_leave_nothing_behind() {
    for (signal, code, word) in
        [("-TERM", 143, "terminated"), ("-INT", 130, "interrupted"), ("-HUP", 129, "terminated")]
    {
        let scratch = Scratch::new();
        scratch.write("endless.csv", "what was there before\n");
        let child = start(&scratch, ENDLESS);
        wait_until("writing", || !parts(&scratch).is_empty());
        send(signal, &child);
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, ran.stderr.as_str()), (code, &*format!("{word}: nothing was written\n")), "{signal}");
        assert_eq!(scratch.names(), ["endless.csv"], "{signal}");
        assert_eq!(scratch.read("endless.csv"), b"what was there before\n");
    }
}

#[test]
fn a_killed_command_leaves_the_old_file_whole() {
    let scratch = Scratch::new();
    scratch.write("endless.csv", "what was there before\n");
    let mut child = start(&scratch, ENDLESS);
    wait_until("writing", || !parts(&scratch).is_empty());
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert_eq!(scratch.read("endless.csv"), b"what was there before\n");
    // Nothing of a run that was killed is in the way of the next.
    scratch.done("simulate gaussian --rows 10 -o endless.csv");
}

/// Predictions of a pipe that nobody reads: the command waits in the middle of writing them, long after the last row was
/// scored.
#[test]
fn a_late_interrupt_of_predict_is_heard() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species -o model.json");
    let penguins = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let (header, rows) = penguins.split_once('\n').expect("a header");
    scratch.write("many.csv", format!("{header}\n{}", rows.repeat(400)));
    let mut child = start(&scratch, "predict model.json many.csv --proba");
    // One byte of output means that writing has begun; the rest does not fit into the pipe.
    let mut first = [0];
    let mut out = child.stdout.take().expect("a pipe");
    std::io::Read::read_exact(&mut out, &mut first).expect("output");
    send("-INT", &child);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("its state is known") {
            break status;
        }
        assert!(begun.elapsed() < LONG, "the interrupt was ignored");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    let line = format!("trap '' HUP; exec {} {ENDLESS}", env!("CARGO_BIN_EXE_linsep"));
    let child = command.current_dir(scratch.path()).args(["-c", &line]).stderr(Stdio::piped()).spawn();
    let child = child.expect("the shell starts");
    wait_until("writing", || !parts(&scratch).is_empty());
    send("-HUP", &child);
    // It goes on writing.
    let size = || parts(&scratch).first().map_or(0, |name| scratch.file(name).metadata().map_or(0, |m| m.len()));
    let before = size();
    wait_until("more writing", || size() > before);
    send("-TERM", &child);
    assert_eq!(Ran::of(child.wait_with_output().expect("it ends")).code, 143);
}

#[test]
fn a_full_disk_is_an_error_that_says_so_and_keeps_the_old_file() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species -o model.json");
    let model = scratch.read("model.json");
    let lines = [
        "fit penguins.csv --target species -o model.json",
        "predict model.json penguins.csv --proba -o model.csv",
        "simulate gaussian --rows 100000 -o rows.csv",
    ];
    scratch.write("model.csv", "before\n");
    for line in lines {
        // A file may grow to a block of 512 bytes; the system reports it as it reports a full disk.
        let ran = limited(&scratch, "-f 1", line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.contains("there is no room to write it"), "{line}: {}", ran.stderr);
        assert_eq!(parts(&scratch), Vec::<String>::new(), "{line}");
    }
    assert_eq!(scratch.read("model.json"), model);
    assert_eq!(scratch.read("model.csv"), b"before\n");
    assert!(!scratch.file("rows.csv").exists());
    if Path::new("/dev/full").exists() {
        for line in [
            "fit penguins.csv --target species -o /dev/full",
            "predict model.json penguins.csv -o /dev/full",
            "predict model.json penguins.csv > /dev/full",
        ] {
            let ran = limited(&scratch, "-c 0", line);
            assert_eq!(ran.code, 2, "{line}");
            assert!(ran.stderr.contains("there is no room to write it"), "{line}: {}", ran.stderr);
        }
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode_and_a_new_one_has_that_of_the_umask() {
    let scratch = Scratch::with_examples();
    for kept in [0o600, 0o640, 0o664] {
        scratch.write("model.json", "old");
        let permissions = std::fs::Permissions::from_mode(kept);
        std::fs::set_permissions(scratch.file("model.json"), permissions).expect("its mode can be set");
        scratch.done("fit penguins.csv --target species -o model.json");
        assert_eq!(mode(&scratch.file("model.json")), kept);
    }
    let ran = Command::new("sh")
        .current_dir(scratch.path())
        .args(["-c", &format!("umask 027; exec {} simulate gaussian -o new.csv", env!("CARGO_BIN_EXE_linsep"))])
        .output();
    assert!(ran.expect("the shell starts").status.success());
    assert_eq!(mode(&scratch.file("new.csv")), 0o640);
}

#[test]
fn links_are_written_through() {
    let scratch = Scratch::with_examples();
    std::fs::create_dir(scratch.file("kept")).expect("a directory");
    scratch.write("kept/old.json", "old");
    symlink("kept/old.json", scratch.file("to-old.json")).expect("a link");
    symlink("kept/new.json", scratch.file("to-new.json")).expect("a dangling link");
    symlink("to-new.json", scratch.file("to-link.json")).expect("a link to a link");
    symlink("nowhere/new.json", scratch.file("to-nowhere.json")).expect("a link into no directory");
    symlink("circle.json", scratch.file("circle.json")).expect("a link to itself");
    for name in ["to-old.json", "to-new.json", "to-link.json"] {
        scratch.done(&format!("fit penguins.csv --target species -o {name}"));
        assert!(scratch.file(name).is_symlink(), "{name}");
        scratch.done(&format!("verify {name} penguins.csv"));
    }
    for name in ["to-nowhere.json", "circle.json"] {
        let ran = scratch.run(&format!("fit penguins.csv --target species -o {name}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}");
        assert!(ran.stderr.contains(name) && scratch.file(name).is_symlink(), "{name}: {}", ran.stderr);
    }
    let mut inside: Vec<_> = std::fs::read_dir(scratch.file("kept")).expect("a directory").flatten().collect();
    inside.sort_by_key(std::fs::DirEntry::file_name);
    let names: Vec<_> = inside.iter().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["new.json", "old.json"]);
}

#[test]
fn an_output_that_is_an_input_is_refused_under_every_name() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species -o model.json");
    scratch.done("simulate gaussian --rows 20 -o drawn.csv --truth truth.json");
    symlink("model.json", scratch.file("link.json")).expect("a link");
    std::fs::hard_link(scratch.file("model.json"), scratch.file("hard.json")).expect("a hard link");
    symlink("penguins.csv", scratch.file("link.csv")).expect("a link");
    let before: Vec<(String, Vec<u8>)> = scratch.names().into_iter().map(|n| (n.clone(), scratch.read(&n))).collect();
    for line in [
        "predict model.json penguins.csv -o model.json",
        "predict model.json penguins.csv -o ./model.json",
        "predict model.json penguins.csv -o link.json",
        "predict link.json penguins.csv -o model.json",
        "predict model.json penguins.csv -o hard.json",
        "predict model.json penguins.csv -o link.csv",
        "predict model.json - -o penguins.csv < penguins.csv",
        "predict - penguins.csv -o model.json < model.json",
        "geometry model.json penguins.csv -o model.json",
        "geometry model.json penguins.csv -o penguins.csv",
        "fit penguins.csv --target species --init model.json -o model.json",
        "fit penguins.csv --target species -o link.csv",
        "path penguins.csv --target sex --penalty lasso -o penguins.csv",
        "simulate --from model.json -o model.json",
        "simulate --from model.json -o new.csv --truth hard.json",
        "simulate --parameters truth.json -o truth.json",
    ] {
        let ran = limited(&scratch, "-c 0", line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.contains("it would be overwritten"), "{line}: {}", ran.stderr);
    }
    let after: Vec<(String, Vec<u8>)> = scratch.names().into_iter().map(|n| (n.clone(), scratch.read(&n))).collect();
    assert!(before == after, "a file changed");
}

/// Bytes that compress to almost nothing.
fn packed(scratch: &Scratch, name: &str, head: &str, again: &[u8], times: usize, tail: &str) {
    let file = std::fs::File::create(scratch.file(name)).expect("a scratch file");
    let mut encoder = zstd::stream::write::Encoder::new(file, 3).expect("zstandard");
    encoder.write_all(head.as_bytes()).expect("it can be written");
    let block = again.repeat((1 << 20) / again.len());
    for _ in 0..(times * again.len()).div_ceil(block.len()) {
        encoder.write_all(&block).expect("it can be written");
    }
    encoder.write_all(tail.as_bytes()).expect("it can be written");
    encoder.finish().expect("it can be written");
    assert!(std::fs::metadata(scratch.file(name)).expect("it is there").len() < 700_000, "{name}");
}

/// 4 GB of address space: a quarter of it is the threads and the program.
const MEMORY: &str = "-v 4000000";

#[test]
fn models_that_fill_the_memory_are_refused() {
    let scratch = Scratch::with_examples();
    packed(&scratch, "zeros.json.zst", "{\"format\":\"linsep-model\",\"model\":[", b"0,", 1 << 30, "0]}");
    packed(&scratch, "objects.json.zst", "{\"format\":\"linsep-model\",\"model\":[", b"{\"\":0},", 30 << 20, "0]}");
    packed(&scratch, "deep.json.zst", "", b"[", 200 << 20, "");
    for name in ["zeros.json.zst", "objects.json.zst", "deep.json.zst"] {
        for line in [format!("inspect {name}"), format!("predict {name} penguins.csv")] {
            let ran = limited(&scratch, MEMORY, &line);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(&format!("error: {name}: ")), "{line}: {}", ran.stderr);
        }
    }
}

#[test]
fn tables_that_fill_the_memory_are_refused() {
    let scratch = Scratch::new();
    let wide: String = (0..8000).map(|j| format!("c{j},")).collect();
    packed(&scratch, "rows.csv.zst", "x,y\n", b"0,1\n", 1 << 29, "");
    packed(&scratch, "cell.csv.zst", "x,y\n1,\"", b"a", 1 << 31, "\"\n");
    packed(&scratch, "header.csv.zst", "x", b"x", 1 << 31, "\n");
    packed(&scratch, "blank.csv.zst", &format!("{wide}y\n"), b"\n", 200 << 20, "");
    packed(&scratch, "rows.svm.zst", "", b"1 1:1\n", 1 << 29, "");
    packed(&scratch, "rows.ndjson.zst", "", b"{\"x\":1,\"y\":0}\n", 1 << 28, "");
    let keys: String = (0..30_000).map(|j| format!("{{\"k{j}\":0.5}}\n")).collect();
    scratch.write("keys.ndjson", keys);
    scratch.write("blank.csv", format!("{wide}y\n{}", "\n".repeat(250_000)));
    for name in [
        "rows.csv.zst",
        "cell.csv.zst",
        "header.csv.zst",
        "blank.csv.zst",
        "rows.svm.zst",
        "rows.ndjson.zst",
        "keys.ndjson",
        "blank.csv",
    ] {
        let ran = limited(&scratch, MEMORY, &format!("fit {name} --target y"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("error: {name}")), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_table_that_compresses_well_is_still_read() {
    let scratch = Scratch::new();
    let row = format!("{}1,p\n{}0,q\n", "0,".repeat(499), "0,".repeat(499));
    let header: String = (0..500).map(|j| format!("c{j},")).collect();
    packed(&scratch, "indicators.csv.zst", &format!("{header}y\n"), row.as_bytes(), 30_000, "");
    let ran = limited(&scratch, MEMORY, "fit indicators.csv.zst --target y --model lda");
    // Every row of a class is the same, so that the method says no; what matters is that it came so far.
    assert!(!ran.stderr.contains("indicators.csv.zst"), "{}", ran.stderr);
}

#[test]
fn the_time_limit_counts_while_a_table_is_read() {
    let scratch = Scratch::new();
    let pipe = scratch.file("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
    let child = start(&scratch, "fit pipe.csv --target y --time-limit 0.2");
    let mut out = std::fs::OpenOptions::new().write(true).open(&pipe).expect("it reads");
    let begun = Instant::now();
    let row = b"1,2,p\n2,1,q\n".repeat(1000);
    out.write_all(b"a,b,y\n").expect("it reads");
    // Whoever has closed the pipe wants no more.
    while begun.elapsed() < LONG && out.write_all(&row).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(out);
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("the time limit passed"), "{}", ran.stderr);
}

/// Under a limit of processor time, which a busy machine does not use up: reading 100,000 columns alone took more than
/// a minute of it where the time grew with their square, and now everything takes a few seconds.
#[test]
fn many_columns_take_time_in_proportion_to_their_number() {
    const COLUMNS: usize = 100_000;
    let scratch = Scratch::new();
    let mut text: String = (0..COLUMNS).map(|j| format!("column{j},")).collect();
    text.push_str("y\n");
    for i in 0..4 {
        (0..COLUMNS).for_each(|j| text.push_str(&format!("{}.5,", (i * 7 + j * 3 + i * j) % 11)));
        text.push_str(if i % 2 == 0 { "p\n" } else { "q\n" });
    }
    scratch.write("wide.csv", text);
    for line in
        ["fit wide.csv --target y --model naive-bayes -o model.json", "predict model.json wide.csv -o predicted.csv"]
    {
        let ran = limited(&scratch, "-t 20", line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
    }
}

#[test]
fn a_damaged_parquet_file_is_an_error_without_a_panic_on_the_screen() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let columns: [(&str, ArrayRef); 2] = [
        ("x", Arc::new(Float64Array::from_iter_values((0..50).map(f64::from)))),
        ("y", Arc::new(StringArray::from_iter_values((0..50).map(|i| if i % 2 == 0 { "p" } else { "q" })))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut whole = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut whole, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("it can be written");
    writer.close().expect("it can be written");
    let scratch = Scratch::new();
    let mut damaged = 0;
    for at in (4..whole.len() - 8).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        scratch.write("data.parquet", bytes);
        let ran = scratch.run("fit data.parquet --target y --model spherical");
        assert!(!ran.stderr.contains("panicked"), "byte {at}: {}", ran.stderr);
        if ran.code == 2 {
            damaged += 1;
            assert!(ran.stderr.starts_with("error: "), "byte {at}: {}", ran.stderr);
        }
    }
    assert!(damaged > 10, "only {damaged} damaged files were refused");
}

#[test]
fn a_hundred_thousand_threads_are_not_started() {
    let scratch = Scratch::with_examples();
    let line = "fit penguins.csv --target species --json";
    let ran = limited(&scratch, MEMORY, &format!("{line} --threads 100000"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, scratch.done(&format!("{line} --threads 1")));
}

#[test]
fn columns_beyond_the_squares_of_doubles_are_named_and_never_written_as_null() {
    let scratch = Scratch::new();
    let methods = [
        "logistic",
        "logistic --standardize no",
        "lda",
        "naive-bayes",
        "least-squares --standardize no",
        "svm --kernel linear",
        "perceptron",
    ];
    for scale in [1e-300, 1e-161, 1e-155, 1e155, 1e300] {
        let row = |i: i32| {
            let (x, z) = (f64::from(i * 7 % 11 - 3) * scale, f64::from(i * 5 % 13));
            format!("{x:e},{z},{}\n", if i % 3 == 0 { "p" } else { "q" })
        };
        scratch.write("t.csv", format!("odd,z,y\n{}", (0..40).map(row).collect::<String>()));
        for method in methods {
            let ran = scratch.run(&format!("fit t.csv --target y -o m.json --model {method}"));
            assert_eq!(ran.code, 2, "{method} at {scale:e}: {}", ran.stdout);
            assert!(ran.stderr.contains("column `odd`"), "{method} at {scale:e}: {}", ran.stderr);
            assert!(ran.stderr.contains("rescale the column"), "{method} at {scale:e}: {}", ran.stderr);
            assert!(!scratch.file("m.json").exists());
        }
    }
    for scale in [1e-150, 1e-120, 1e120] {
        let row = |i: i32| {
            let (x, z) = (f64::from(i * 7 % 11 - 3) * scale, f64::from(i * 5 % 13));
            format!("{x:e},{z},{}\n", if i % 3 == 0 { "p" } else { "q" })
        };
        scratch.write("t.csv", format!("odd,z,y\n{}", (0..40).map(row).collect::<String>()));
        for method in ["logistic", "lda", "naive-bayes", "svm --kernel linear"] {
            scratch.done(&format!("fit t.csv --target y -o m.json --model {method}"));
            scratch.done("inspect m.json");
        }
    }
}
