//! Reductions and scans of segments of all lengths, equal and not, on a simulated device: the number of
//! lanes that a segment has, chunks of one segment, runs with and without segments that have no elements.
//! Results are those of a plain model, and those that round have the same bits in every order of blocks.

use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{self, Case, Data, Input};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// The orders in which blocks begin, with the devices.
const ORDERS: [[(&str, &str); 2]; 3] = [
    [("order", "forward"), ("device", "h100")],
    [("order", "reverse"), ("device", "t4")],
    [("order", "random"), ("device", "b200")],
];

/// The elements of an index space by segments.
enum Shape {
    Equal { rows: usize, length: usize },
    Ragged(Vec<usize>),
}

impl Shape {
    fn lengths(&self) -> Vec<usize> {
        match self {
            Shape::Equal { rows, length } => vec![*length; *rows],
            Shape::Ragged(lengths) => lengths.clone(),
        }
    }

    /// The first two parameters and the space of a kernel, and a case with their arguments.
    fn case(&self, name: &str, params: &str, body: &str) -> Case {
        let (second, space) = match self {
            Shape::Equal { .. } => ("i64", "regular"),
            Shape::Ragged(_) => ("[i64]", "segmented"),
        };
        let text = format!(
            "kernel \"k\"(v0: i64, v1: {second}, {params}) over {space} v0, v1 at v20, v21, v22 {{\n{body}}}\n"
        );
        let case = Case::new(name, text);
        match self {
            Shape::Equal { rows, length } => case.i64(*rows as i64).i64(*length as i64),
            Shape::Ragged(lengths) => {
                let mut offsets = vec![0i64];
                for length in lengths {
                    offsets.push(offsets[offsets.len() - 1] + *length as i64);
                }
                case.i64(lengths.len() as i64).array(offsets)
            }
        }
    }

    /// The elements of each segment, of a value of each index.
    fn split<T: Clone>(&self, all: &[T]) -> Vec<Vec<T>> {
        let mut rest = all;
        let lengths = self.lengths().into_iter();
        let parts = lengths.map(|length| {
            let (part, others) = rest.split_at(length);
            rest = others;
            part.to_vec()
        });
        parts.collect()
    }
}

/// Equal segments of lengths that lanes take, and of others; few and many; and ragged ones.
fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for length in [0, 1, 2, 3, 8, 9, 15, 16, 17, 20, 32, 33, 64, 68, 100, 128, 129, 255, 256, 1000]
    {
        for rows in [1, 5, 300] {
            shapes.push(Shape::Equal { rows, length });
        }
    }
    shapes.push(Shape::Equal { rows: 3, length: 5000 });
    shapes.push(Shape::Equal { rows: 5000, length: 1 });
    shapes.push(Shape::Equal { rows: 0, length: 16 });
    let ragged = |count: usize, length: &dyn Fn(usize) -> usize| {
        Shape::Ragged((0..count).map(|at| length(at.wrapping_mul(0x9e37_79b9) >> 7)).collect())
    };
    shapes.push(ragged(900, &|at| at % 9));
    shapes.push(ragged(300, &|at| at % 41));
    shapes.push(ragged(3000, &|_| 1));
    shapes.push(ragged(700, &|at| if at % 5 == 0 { at % 300 } else { 0 }));
    // So many segments without elements lie between two results that no ring has room for them.
    shapes.push(ragged(4000, &|at| usize::from(at % 700 == 0) * 3));
    shapes.push(ragged(40, &|at| if at % 10 == 3 { 3000 } else { at % 4 }));
    shapes.push(ragged(1000, &|_| 0));
    shapes
}

/// Kernels over a shape, with what they must give.
fn cases(shape: &Shape) -> Vec<Case> {
    let lengths = shape.lengths();
    let n: usize = lengths.iter().sum();
    let random = |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    let ints: Vec<i64> = (0..n).map(|at| random(at) as i64 % 1000 - 500).collect();
    let floats: Vec<f64> = ints.iter().map(|x| *x as f64).collect();
    let sums = |all: &[i64]| -> Vec<i64> {
        shape.split(all).iter().map(|part| part.iter().sum()).collect()
    };
    let mut cases = Vec::new();
    let one = shape.case(
        "one sum",
        "v2: [f64], v3: [f64]",
        "  v23: f64 = load v2[v22]\n  reduce segment add v23 -> v3\n",
    );
    let of_floats: Vec<f64> = sums(&ints).iter().map(|x| *x as f64).collect();
    cases.push(one.array(floats.clone()).out(of_floats));
    let bytes: Vec<bool> = ints.iter().map(|x| x & 1 == 1).collect();
    let odd: Vec<bool> =
        shape.split(&bytes).iter().map(|part| part.iter().fold(false, |a, b| a ^ b)).collect();
    let parity = shape.case(
        "a parity",
        "v2: [bool], v3: [bool]",
        "  v23: bool = load v2[v22]\n  reduce segment xor v23 -> v3\n",
    );
    cases.push(parity.array(Data::Bool(bytes)).out(Data::Bool(odd)));
    // Two reductions, one of what the place in the segment says, beside stores and a scatter.
    let body = "  v23: i64 = load v2[v22]
  v24: i64 = mul v23, v21
  v25: i64 = add v24, v20
  v26: f64 = convert v23
  store v5[v22] = v25
  v27: i64 = const 1
  v28: i64 = sub v0, v27
  v29: i64 = sub v28, v20
  reduce segment add v25 -> v3
  reduce segment max v26 -> v4
  scatter v20 -> v6[v29]
";
    let mut placed = Vec::with_capacity(n);
    for (segment, part) in shape.split(&ints).iter().enumerate() {
        let terms = part.iter().enumerate();
        placed.extend(terms.map(|(position, x)| x * position as i64 + segment as i64));
    }
    let greatest: Vec<f64> = shape
        .split(&floats)
        .iter()
        .map(|part| part.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        .collect();
    let rows = lengths.len();
    let numbers: Vec<i64> = (0..rows)
        .map(|at| rows - 1 - at)
        .map(|segment| if lengths[segment] == 0 { -7 } else { segment as i64 })
        .collect();
    let two = shape
        .case("two reductions", "v2: [i64], v3: [i64], v4: [f64], v5: [i64], v6: [i64]", body)
        .array(ints.clone())
        .out(sums(&placed))
        .out(greatest)
        .out(placed)
        .arg(Input::Array(vec![-7i64; rows].into()))
        .becomes(6, numbers);
    cases.push(two);
    // A result that the next stage reads, and a scan with totals.
    let body = "  v23: i64 = load v2[v22]
  v24: i64 = reduce segment add v23
  v25: i64 = scan segment add v23 total v4
} then {
  v26: i64 = add v24, v25
  store v3[v22] = v26
";
    let mut read = Vec::with_capacity(n);
    for part in shape.split(&ints) {
        let (all, mut before) = (part.iter().sum::<i64>(), 0);
        for x in part {
            read.push(all + before);
            before += x;
        }
    }
    let stages = shape.case("stages", "v2: [i64], v3: [i64], v4: [i64]", body);
    cases.push(stages.array(ints.clone()).out(read).out(sums(&ints)));
    let body = "  v23: f64 = load v2[v22]
  v24: f64 = scan segment min v23
  v25: f64 = scan add v23 total v5
} then {
  store v3[v22] = v24
  store v4[v22] = v25
";
    let (mut least, mut before, mut sum) = (Vec::new(), Vec::new(), 0.0);
    for part in shape.split(&floats) {
        let mut so_far = f64::INFINITY;
        for x in part {
            least.push(so_far);
            so_far = so_far.min(x);
        }
    }
    for x in &floats {
        before.push(sum);
        sum += x;
    }
    // In code so long that a thread has one element of a tile: the scanned value is stored as well.
    let long: String =
        (30..700).map(|at| format!("  v{at}: i64 = add v{}, v21\n", at - 1)).collect();
    let body_of_long = format!(
        "  v23: i64 = load v2[v22]\n  v29: i64 = add v23, v23\n{long}  v700: i64 = scan segment add v23\n  \
         reduce segment add v23 -> v3\n}} then {{\n  v701: i64 = add v23, v700\n  store v4[v22] = v701\n  \
         store v5[v22] = v699\n"
    );
    let (mut with, mut moved) = (Vec::new(), Vec::new());
    for part in shape.split(&ints) {
        let mut so_far = 0;
        for (position, x) in part.into_iter().enumerate() {
            so_far += x;
            with.push(so_far);
            moved.push(2 * x + 670 * position as i64);
        }
    }
    let beside =
        shape.case("one element", "v2: [i64], v3: [i64], v4: [i64], v5: [i64]", &body_of_long);
    cases.push(beside.array(ints.clone()).out(sums(&ints)).out(with).out(moved));
    let scans = shape.case("scans", "v2: [f64], v3: [f64], v4: [f64], v5: [f64]", body);
    cases.push(scans.array(floats).out(least).out(before).out([sum]));
    cases
}

/// The simulator for one test, which looks for races.
fn simulator(order: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    session.set("check", "1").unwrap();
    for (name, value) in order {
        session.set(name, value).unwrap();
    }
    session
}

fn check_order(order: usize) {
    let session = simulator(&ORDERS[order]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    for shape in shapes() {
        for case in cases(&shape) {
            let lengths = shape.lengths();
            let size = || format!("{} segments, {:?}…", lengths.len(), lengths.first());
            if let Err(why) = testkit::check(&case, &ptx) {
                let findings = session.findings();
                panic!("{}, {}: {why}\n{findings:?}\n{}", case.name, size(), case.text);
            }
            let findings = session.findings();
            assert!(findings.is_empty(), "{}, {}: {findings:?}\n{}", case.name, size(), case.text);
        }
    }
}

#[test]
fn blocks_in_order() {
    check_order(0);
}

#[test]
fn blocks_in_reverse() {
    check_order(1);
}

#[test]
fn blocks_at_random() {
    check_order(2);
}

/// Sums and prefixes that round have the same bits on all devices, whatever order blocks have.
#[test]
fn rounded_sums_are_the_same() {
    use nesl_runtime::kir::{Literal, parse};
    use nesl_runtime::runtime::{Arg, Launch, Runtime};
    let body = "  v23: f64 = load v2[v22]
  v24: f64 = scan segment add v23
  reduce segment add v23 -> v3
} then {
  store v4[v22] = v24
";
    for (rows, length) in [(3000, 9), (700, 64), (90, 1000), (3, 20_000)] {
        let shape = Shape::Equal { rows, length };
        let params = "v2: [f64], v3: [f64]";
        let sum = "  v23: f64 = load v2[v22]\n  reduce segment add v23 -> v3\n";
        let texts = [
            shape.case("", params, sum).text,
            shape.case("", "v2: [f64], v3: [f64], v4: [f64]", body).text,
        ];
        let results = ORDERS.map(|order| {
            let session = simulator(&order);
            let ptx = Ptx::new(0, Options::default()).unwrap();
            let n = rows * length;
            let bytes: Vec<u8> = (1..=n).flat_map(|at| (1.0 / at as f64).to_ne_bytes()).collect();
            let values = ptx.alloc(Ty::F64, n).unwrap();
            ptx.write(&values, 0, &bytes).unwrap();
            let outs = [rows, n].map(|length| ptx.alloc(Ty::F64, length).unwrap());
            let mut found = Vec::new();
            for (at, text) in texts.iter().enumerate() {
                let module = ptx.load(&parse(text).unwrap()).unwrap();
                let sizes = [rows, length].map(|x| Arg::Scalar(Literal::I64(x as i64)));
                let mut args = sizes.to_vec();
                args.push(Arg::Array(values.clone(), 0));
                args.extend(outs[..=at].iter().map(|out| Arg::Array(out.clone(), 0)));
                let work_items = None;
                let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items };
                ptx.launch(&launch).unwrap();
                for out in &outs[..=at] {
                    let mut bytes = vec![0; 8 * out.len()];
                    ptx.read(out, 0, &mut bytes).unwrap();
                    found.push(bytes);
                }
            }
            assert!(session.findings().is_empty(), "{:?}", session.findings());
            found
        });
        assert!(results[0] == results[1] && results[1] == results[2], "{rows} by {length}");
    }
}
