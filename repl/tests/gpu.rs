//! Exact counts of what the programs of `bench/nesl` cost on a GPU, simulated behind the driver's
//! interface: launches of either side, waits, reads, the memory traffic and the instructions of
//! kernels, and the kernels that the CPU executed instead.

mod benchmarks;
mod simulator;

use benchmarks::{PROGRAMS, assert_same, definitions, enter, on_cpu, session};
use expect_test::expect;
use nesl_engine::{Event, Session, Stats};
use nesl_runtime::runtime::{Options, Refusal};
use nesl_sim::client::{Client, Session as Simulator};
use simulator::gpu;
use std::fmt::Display;
use std::path::Path;

/// The size of a memory sector, in bytes.
const SECTOR_BYTES: u64 = 32;

/// The columns of the table: launches on the device (of kernels, and of the entries they consist of) and
/// on the CPU; waits and reads; KiB of sectors loaded and stored; thousands of instructions of
/// threads; kernels refused.
const COLUMNS: [&str; 9] = [
    "kernels",
    "entries",
    "on cpu",
    "drains",
    "reads",
    "load KiB",
    "store KiB",
    "k instr",
    "refused",
];

/// The costs of programs: a table, and the kernels that were refused.
struct Costs {
    table: String,
    refused: String,
}

impl Costs {
    /// No costs yet; `of` is the title of the names.
    fn new(of: &str) -> Costs {
        Costs { table: row(of, COLUMNS), refused: String::new() }
    }

    /// Adds what the session has done since `before`, and the simulator since it was cleared.
    fn add(&mut self, name: &str, before: &Stats, session: &mut Session, simulator: &Simulator) {
        let (after, counters) = (session.stats(), simulator.counters());
        let launches = |side: usize| {
            let of = |stats: &Stats| stats.shares.get(side).map_or(0, |it| it.counters.launches);
            of(&after) - of(before)
        };
        let kernels = newly_refused(&before.refusals, &after.refusals);
        let counts = [
            launches(0),
            counters.launches,
            launches(1),
            after.counters.drains - before.counters.drains,
            after.counters.reads - before.counters.reads,
            counters.load_sectors * SECTOR_BYTES / 1024,
            counters.store_sectors * SECTOR_BYTES / 1024,
            counters.thread_instructions / 1000,
            kernels.len() as u64,
        ];
        self.table += &row(name, counts);
        for Refusal { kernel, reason, .. } in kernels {
            self.refused += &format!("{name}: {kernel}: {reason}\n");
        }
    }
}

/// Makes a session whose programs run on the simulated device.
fn on_device() -> Session {
    let mut session = session();
    let interrupt = session.interrupt_handle();
    let options = Options { interrupt, threads: 1, ..Options::default() };
    session.set_runtime(Some(gpu(options)));
    session
}

#[test]
fn programs_of_the_benchmarks() {
    let simulator = Client::load().expect("the simulator was built").exclusive();
    let mut costs = Costs::new("program");
    for program in &PROGRAMS {
        let text = definitions(program);
        let expected = on_cpu(program, &text);
        let mut session = on_device();
        enter(&mut session, &text);
        let form = format!("r = {};", program.form);
        // The first run compiles.
        enter(&mut session, &form);
        let before = session.stats();
        simulator.clear();
        enter(&mut session, &form);
        costs.add(program.name, &before, &mut session, &simulator);
        assert_same(&enter(&mut session, "check(r);"), &expected, program.name);
    }
    let Costs { table, refused } = costs;
    let table = format!("{table}\n{refused}");
    // `cargo xtask simulate` takes the table from here.
    println!("\n{table}");
    expect![[r#"
        program              kernels   entries    on cpu    drains     reads  load KiB store KiB   k instr   refused
        dot                        1         1         0         1         1      1628         8      8670         0
        black-scholes              1         1         0         1         0      2441      1562     28010         0
        sort                       1         9         0         1         0      4576      4339     48627         0
        sum-rows                   1         1         0         1         0       797        15      1757         0
        sum-columns                3         3         0         2         1      4809         4      1835         0
        spmv                       1         1         0         1         0      2411        43      3349         0
        mandelbrot                 1         2         0         2         0       128       384      2238         0
        pagerank                  40        40         0         1         0    103195      3125     42221         0
        kmeans-3                  16        20         0         7         5     28792     12455    128103         0
        kmeans-30                 16        20         0         7         5    168067     16703    202331         0
        primes                    24        24         0        10         9       453      2540     17293         0
        hotspot                   40        40         0         1         0     44378      6437     77999         0
        bfs                       90       110         0        34        33     15235      4425     28454         0
        word-count                 5         6         0         3         2      6231      4798     37261         0
        quicksort                307       307         1        61        64     24743     19938    161677         1
        quickhull                 87        87         1        29        39     18179      3705    105253         1
        barnes-hut                25        33         1         8        12    201954       808     84330         1
        barnes-hut-squares       209       223         5        66        71    215112    146748   1633557         1
        batcher                  853       853        11       192       234     39584     34852    147063         2

        quicksort: quicksort kernel 5: recursive functions
        quickhull: chain kernel 19: recursive functions
        barnes-hut: tree kernel 22: recursive functions
        barnes-hut-squares: order: the intrinsic `rank_segments_up`
        batcher: bitonic_merge kernel 15: recursive functions
        batcher: bitonic_sort kernel 4: recursive functions
    "#]].assert_eq(&table);
}

/// The programs of `examples`, from their first form to their last one.
#[test]
fn programs_of_the_examples() {
    // They name their data from the root of the project.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::set_current_dir(root).expect("the root of the project is there");
    let files = std::fs::read_dir("examples").expect("there are examples");
    let mut paths: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "nesl"));
    paths.sort();
    if let Ok(only) = std::env::var("NESL_ONLY") {
        paths.retain(|p| p.display().to_string().contains(&only));
    }
    let simulator = Client::load().expect("the simulator was built").exclusive();
    let mut costs = Costs::new("example");
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut session = on_device();
        let before = session.stats();
        simulator.clear();
        session.enter(&name, &text, &mut |event| {
            if let Event::Diagnostic(diagnostic) = event {
                panic!("{name}: {}: {:?}", diagnostic.message, simulator.findings());
            }
        });
        costs.add(&name, &before, &mut session, &simulator);
    }
    let Costs { table, refused } = costs;
    let table = format!("{table}\n{refused}");
    expect![[r#"
        example              kernels   entries    on cpu    drains     reads  load KiB store KiB   k instr   refused
        barnes_hut                20        26         1         9        17      5063      1516     42577         1
        batcher                   58        59        10        18        26       169       119      4129        10
        bfs                       38        44         3        17        19        32        20      3854         3
        black_scholes              3         3         0         1         0         0         0        25         0
        closest_pair              19        19         2         9        15       209        28      7808         2
        collatz                    6         7         0         6         2        32        27      5582         0
        components               330       382         3        92        99      6146      1394     25181         3
        dot_product                3         3         0         3         2        66         8      8346         0
        edit_distance             31        45         0        19         1       864       604      2204         0
        fft                       43        43         3         9        14        65        43       680         1
        heat                       4         6         0         4         0      2259       874      1211         0
        histogram                 26        29         0        10        10        40        11      2104         0
        independent_set           27        27         0         9         8        57        15      1944         0
        integration                3         3         3         3         9         1         0       219         1
        kmeans                   183       233         1        77        58       959       472      9835         1
        knn                       31        33         2        16        18      2180       748      5448         2
        life                      35        43         0        18        10       202        74      1765         0
        line_fit                  10        11         0         7         4        33         9      1846         0
        list_ranking              38        40         0        21        19     10359      5101     20882         0
        mandelbrot                 3         4         0         3         4         5        56      2848         0
        matrix                    88        99         3        68        68       319       252      3845         3
        monte_carlo                9        12         0         6         6       168       120     40134         0
        nqueens                   11        18         0        15         5     21103     14382     11338         0
        pagerank                 376       376         0       125       123      1141        92     11898         0
        parentheses               24        32         0        17         5         8         5      4137         0
        picture                  186       208         1        76        53       240       399      5646         1
        primes                    15        15         3         9         7        14        18       623         3
        quickhull                 42        42         2        19        35      3234      1119     24980         2
        quicksort                 37        47         5        22        25       837       651      7136         5
        run_length                27        33         0        18         7       274       113      2023         0
        spanning_tree             24        27         1        12        12       126       135      4127         1
        sparse_matrix             25        28         0        13         9       519       120      2399         0
        string_search             30        44         0        26        12      2586      1980      3243         0
        word_count                25        29         0        16        15       368       162      3973         0

        barnes_hut: pulls kernel 50: recursive functions
        batcher: bitonic_merge@int kernel 16: recursive functions
        batcher: bitonic_merge@int kernel 53: recursive functions
        batcher: bitonic_sort@int kernel 17: recursive functions
        batcher: bitonic_sort@int kernel 5: recursive functions
        batcher: odd_even_merge@char kernel 17: recursive functions
        batcher: odd_even_merge@int kernel 17: recursive functions
        batcher: odd_even_merge@int kernel 39: recursive functions
        batcher: odd_even_sort@char kernel 5: recursive functions
        batcher: odd_even_sort@int kernel 27: recursive functions
        batcher: odd_even_sort@int kernel 5: recursive functions
        bfs: main kernel 2: the intrinsic `groups`
        bfs: spread.in_one_thread kernel 13: the collective operation `store`
        bfs: spread.in_one_thread kernel 25: the collective operation `store`
        closest_pair: closest kernel 15: recursive functions
        closest_pair: closest kernel 22: recursive functions
        components: settle.in_one_thread kernel 50: the collective operation `store`
        components: settle.in_one_thread kernel 62: the collective operation `store`
        components: settle.in_one_thread kernel 79: the collective operation `store`
        fft: fft kernel 13: recursive functions
        integration: integrate kernel 6: recursive functions
        kmeans: main kernel 22: the intrinsic `text_groups`
        knn: groups: the intrinsic `group_text_segments`
        knn: order: the intrinsic `rank_segments_up`
        matrix: determinant kernel 17: recursive functions
        matrix: main kernel 0: recursive functions
        matrix: solve_rows kernel 25: recursive functions
        picture: main kernel 20: recursive functions
        primes: main kernel 1: recursive functions
        primes: primes kernel 28: recursive functions
        primes: primes kernel 4: recursive functions
        quickhull: main kernel 11: recursive functions
        quickhull: main kernel 7: recursive functions
        quicksort: main kernel 7: recursive functions
        quicksort: quicksort@char kernel 6: recursive functions
        quicksort: quicksort@float kernel 6: recursive functions
        quicksort: quicksort@int kernel 11: recursive functions
        quicksort: quicksort@int kernel 6: recursive functions
        spanning_tree: boruvka.in_one_thread kernel 30: the collective operation `store`
    "#]].assert_eq(&table);
}

/// Returns the kernels that were refused between two looks.
fn newly_refused<'a>(before: &[Refusal], after: &'a [Refusal]) -> Vec<&'a Refusal> {
    let launches = |all: &[Refusal], kernel: &str| {
        all.iter().find(|refusal| refusal.kernel == kernel).map_or(0, |refusal| refusal.launches)
    };
    after.iter().filter(|refusal| refusal.launches > launches(before, &refusal.kernel)).collect()
}

/// Returns a row of the table: a name, and numbers or their titles.
fn row(name: &str, columns: [impl Display; 9]) -> String {
    let columns = columns.map(|column| format!("{column:>10}"));
    format!("{name:<18}{}\n", columns.concat())
}
