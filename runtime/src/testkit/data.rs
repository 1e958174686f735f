//! Elements of the host.

use crate::kir::Ty;

macro_rules! data {
    ($($variant:ident $ty:ty,)+) => {
        /// The elements of an array.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "they are what they say")]
        pub enum Data {
            $($variant(Vec<$ty>),)+
            Bool(Vec<bool>),
        }

        $(impl From<Vec<$ty>> for Data {
            fn from(elements: Vec<$ty>) -> Data {
                Data::$variant(elements)
            }
        }

        impl<const N: usize> From<[$ty; N]> for Data {
            fn from(elements: [$ty; N]) -> Data {
                Data::$variant(elements.to_vec())
            }
        })+

        impl Data {
            /// The type of the elements.
            pub fn ty(&self) -> Ty {
                match self {
                    $(Data::$variant(_) => Ty::$variant,)+
                    Data::Bool(_) => Ty::Bool,
                }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Data::$variant(elements) => elements.len(),)+
                    Data::Bool(elements) => elements.len(),
                }
            }

            /// Each element at its place.
            ///
            /// # Panics
            /// If the places are not those from 0 on, each once.
            pub fn permuted(&self, places: &[i64]) -> Data {
                match self {
                    $(Data::$variant(elements) => Data::$variant(permuted(elements, places)),)+
                    Data::Bool(elements) => Data::Bool(permuted(elements, places)),
                }
            }

            /// In the machine's order.
            pub fn bytes(&self) -> Vec<u8> {
                match self {
                    $(Data::$variant(elements) => {
                        elements.iter().flat_map(|x| x.to_ne_bytes()).collect()
                    })+
                    Data::Bool(elements) => elements.iter().map(|x| u8::from(*x)).collect(),
                }
            }

            /// From the machine's order.
            ///
            /// # Panics
            /// If a bool is neither 0 nor 1.
            pub fn from_bytes(ty: Ty, bytes: &[u8]) -> Data {
                match ty {
                    $(Ty::$variant => {
                        let chunks = bytes.chunks_exact(size_of::<$ty>());
                        Data::$variant(chunks.map(|chunk| {
                            <$ty>::from_ne_bytes(chunk.try_into().expect("so many bytes"))
                        }).collect())
                    })+
                    Ty::Bool => Data::Bool(bytes.iter().map(|byte| match byte {
                        0 => false,
                        1 => true,
                        other => panic!("a bool is {other}"),
                    }).collect()),
                }
            }
        }
    };
}

data! { I32 i32, I64 i64, F32 f32, F64 f64, U8 u8, }

impl From<Vec<bool>> for Data {
    fn from(elements: Vec<bool>) -> Data {
        Data::Bool(elements)
    }
}

impl<const N: usize> From<[bool; N]> for Data {
    fn from(elements: [bool; N]) -> Data {
        Data::Bool(elements.to_vec())
    }
}

impl Data {
    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Says where `got` differs. The zeros differ, all NaNs are the same.
    pub fn compare(&self, got: &Data) -> Result<(), String> {
        match (self, got) {
            (Data::F32(a), Data::F32(b)) => {
                compare(a, b, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
            }
            (Data::F64(a), Data::F64(b)) => {
                compare(a, b, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
            }
            (Data::I32(a), Data::I32(b)) => compare(a, b, |a, b| a == b),
            (Data::I64(a), Data::I64(b)) => compare(a, b, |a, b| a == b),
            (Data::U8(a), Data::U8(b)) => compare(a, b, |a, b| a == b),
            (Data::Bool(a), Data::Bool(b)) => compare(a, b, |a, b| a == b),
            (a, b) => Err(format!("{} elements, not {}", b.ty(), a.ty())),
        }
    }
}

fn permuted<T: Copy>(elements: &[T], places: &[i64]) -> Vec<T> {
    let mut moved = elements.to_vec();
    for (element, place) in elements.iter().zip(places) {
        moved[*place as usize] = *element;
    }
    moved
}

fn compare<T: std::fmt::Debug>(
    expected: &[T],
    got: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("{} elements, not {}", got.len(), expected.len()));
    }
    match expected.iter().zip(got).position(|(a, b)| !same(a, b)) {
        None => Ok(()),
        Some(at) => Err(format!("element {at} is {:?}, not {:?}", got[at], expected[at])),
    }
}
