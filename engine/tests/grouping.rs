//! Tests that what is sorted, grouped and collected takes a fixed number of launches, whatever the number of
//! rows and keys, and stores no more than in proportion to the elements.

use expect_test::expect;
use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Counters, Options};
use std::fmt::Write as _;

/// The inputs, for a number of elements: ints and pairs with their positions, and the same in ragged rows.
fn inputs(elements: usize) -> String {
    format!(
        "n = {elements};
        k = {{rem(i * i * 7919, 1009) : i in [0:n]}};
        kv = {{(x, i) : x in k; i in [0:n]}};
        l = {{rem(i, 9) : i in [0:n / 4]}};
        rows = partition(take(k, sum(l)), l);
        pairs = partition(take(kv, sum(l)), l);"
    )
}

const PROGRAMS: [&str; 21] = [
    "#sort(k)",
    "#permute({x + 1 : x in k}, rank(k))",
    "#histogram(k)",
    "#histogram({code_char(rem(x, 26)) : x in k})",
    "#histogram({float(x) : x in k})",
    "#histogram({(rem(x, 7), x > 3) : x in k})",
    "#remove_duplicates(k)",
    "#remove_duplicates({@x : x in k})",
    "#collect(kv)",
    "#int_collect({(x, @i) : (x, i) in kv})",
    "#{sort(r) : r in rows}",
    "sum({sum(rank(r)) : r in rows})",
    "sum({#histogram(r) : r in rows})",
    "sum({#remove_duplicates(r) : r in rows})",
    "sum({#union(r, [1]) : r in rows})",
    "sum({#collect(r) : r in pairs})",
    "sum({#int_collect(r) : r in pairs})",
    "sum({sum(permute(r, rank(r))) : r in rows})",
    "sum({sum(permute({x * 2 : x in r}, rank(r))) : r in rows})",
    "sum({r[0] + sort(r)[0] : r in rows | #r > 0})",
    "sum({sum(sort(drop(r, 1))) : r in rows | #r > 0})",
];

/// Returns the counters of a form with inputs of some size, and the bytes of the inputs.
fn measure(form: &str, elements: usize, strategy: Strategy) -> (Counters, u64) {
    let settings = Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        strategy,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
    session.set_runtime(Some(Box::new(Reference::new(options))));
    let mut enter = |text: &str| {
        session.enter("program.nesl", text, &mut |event| {
            if let Event::Diagnostic(diagnostic) = event {
                panic!("{form}: {}", diagnostic.message);
            }
        });
        let stats = session.stats();
        assert_eq!(stats.unsupported, [], "{form}");
        stats.counters
    };
    let before = enter(&inputs(elements));
    let after = enter(&format!("{form};"));
    let launches = after.launches - before.launches;
    let work = after.work - before.work;
    (Counters { launches, work, ..after }, before.bytes)
}

/// Few rows are as many launches as many, and twice the elements about twice the work and the memory.
#[test]
fn launches_do_not_grow_and_work_does_not_outgrow_the_elements() {
    let mut table =
        format!("{:62}{:>21}{:>21}\n", "launches, bytes for each element", "flattened", "chosen");
    for form in PROGRAMS {
        let _ = write!(table, "{form:62}");
        for strategy in [Strategy::Always(Version::Flattened), Strategy::Auto] {
            let (few, few_inputs) = measure(form, 1 << 15, strategy);
            let (many, inputs) = measure(form, 1 << 17, strategy);
            assert_eq!(few.launches, many.launches, "{form}");
            assert!(many.work <= 5 * few.work, "{form}: {} and {}", few.work, many.work);
            let bytes = |counters: &Counters, inputs| counters.peak_bytes.saturating_sub(inputs);
            assert!(bytes(&many, inputs) <= 5 * bytes(&few, few_inputs).max(1024), "{form}");
            let each = bytes(&many, inputs) as f64 / f64::from(1 << 17);
            let _ = write!(table, "{:>12}{each:>9.1}", many.launches);
        }
        table.push('\n');
    }
    expect![[r#"
        launches, bytes for each element                                          flattened               chosen
        #sort(k)                                                                 1      8.0           1      8.0
        #permute({x + 1 : x in k}, rank(k))                                      3     24.0           3     24.0
        #histogram(k)                                                            4     16.0           4     16.0
        #histogram({code_char(rem(x, 26)) : x in k})                             3     17.0           3     17.0
        #histogram({float(x) : x in k})                                          6     24.0           6     24.0
        #histogram({(rem(x, 7), x > 3) : x in k})                                5     24.0           5     24.0
        #remove_duplicates(k)                                                    4     16.0           4     16.0
        #remove_duplicates({@x : x in k})                                        6     34.9           6     34.9
        #collect(kv)                                                             6     32.0           6     32.0
        #int_collect({(x, @i) : (x, i) in kv})                                  10     53.2          10     53.2
        #{sort(r) : r in rows}                                                   1      8.0           1      8.0
        sum({sum(rank(r)) : r in rows})                                          3     10.0           2      2.0
        sum({#histogram(r) : r in rows})                                         3     16.0           2      2.0
        sum({#remove_duplicates(r) : r in rows})                                 3     16.0           2      2.0
        sum({#union(r, [1]) : r in rows})                                        8     34.0           2      2.0
        sum({#collect(r) : r in pairs})                                         10     40.0           2      2.0
        sum({#int_collect(r) : r in pairs})                                     11     54.0           2      2.0
        sum({sum(permute(r, rank(r))) : r in rows})                              3     10.0           2      2.0
        sum({sum(permute({x * 2 : x in r}, rank(r))) : r in rows})               5     24.0           2      2.0
        sum({r[0] + sort(r)[0] : r in rows | #r > 0})                            8     17.1           3      3.8
        sum({sum(sort(drop(r, 1))) : r in rows | #r > 0})                        8     18.0           3      3.8
    "#]].assert_eq(&table);
}
