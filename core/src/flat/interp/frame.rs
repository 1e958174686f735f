//! The frame of a call of a flat function for some work items: its index spaces and values.

use crate::flat::{Function, SpaceId, SpaceKind};
use crate::interp::Value;
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

/// The elements of an index space, numbered from 0.
#[derive(Debug)]
pub(crate) struct Elements {
    /// The number of elements.
    pub count: usize,
    /// The index space around, from which values are read, and for each element the number of the
    /// element there that it came from.
    around: Option<(SpaceId, Vec<usize>)>,
    /// The index space with an element for each segment, and for each element the number of its
    /// segment.
    pub segments: Option<(SpaceId, Vec<usize>)>,
    /// The index of each element in its segment.
    pub(super) position: Vec<usize>,
}

impl Elements {
    fn new(
        count: usize,
        around: Option<(SpaceId, Vec<usize>)>,
        segments: Option<(SpaceId, Vec<usize>)>,
    ) -> Elements {
        let mut lengths: FxHashMap<usize, usize> = FxHashMap::default();
        let position = (0..count).map(|element| {
            let segment = segments.as_ref().map_or(0, |(_, of)| of[element]);
            let length = lengths.entry(segment).or_default();
            *length += 1;
            *length - 1
        });
        let position = position.collect();
        Elements { count, around, segments, position }
    }
}

/// The frame of a call: the index spaces and values that were computed so far.
#[derive(Debug)]
pub(crate) struct Frame<'p> {
    /// The function that is called.
    pub function: &'p Function,
    spaces: FxHashMap<SpaceId, Elements>,
    /// The index space of each variable, and its value for each element.
    values: FxHashMap<Var, (SpaceId, Vec<Value>)>,
    types: FxHashMap<Var, Ty>,
}

impl<'p> Frame<'p> {
    /// Begins a call for `count` work items; `args` has for each parameter a value for each work
    /// item.
    pub(super) fn new(function: &'p Function, args: Vec<Vec<Value>>, count: usize) -> Frame<'p> {
        let spaces = FxHashMap::from_iter([(SpaceId::CALLER, Elements::new(count, None, None))]);
        let params = function.params.iter().zip(args);
        let values = params.map(|((var, _), values)| (*var, (SpaceId::CALLER, values))).collect();
        let mut types: FxHashMap<Var, Ty> = function.params.iter().cloned().collect();
        function.body.each_let(&mut |binding| {
            types.insert(binding.var, binding.ty.clone());
        });
        Frame { function, spaces, values, types }
    }

    /// Returns the elements of an index space, if it has been made.
    pub(crate) fn space(&self, space: SpaceId) -> Option<&Elements> {
        self.spaces.get(&space)
    }

    /// Returns the elements of an index space that has been made.
    pub(super) fn elements(&self, space: SpaceId) -> &Elements {
        self.spaces.get(&space).or_bug("an index space is made before it is used")
    }

    /// Returns the index space of a variable, if it has been computed.
    pub(crate) fn home(&self, var: Var) -> Option<SpaceId> {
        self.values.get(&var).map(|(home, _)| *home)
    }

    /// Returns the values of a variable for all elements of its index space, if it has been
    /// computed.
    pub(crate) fn values(&self, var: Var) -> Option<&[Value]> {
        self.values.get(&var).map(|(_, values)| &values[..])
    }

    /// Returns the type of a variable.
    pub(crate) fn ty(&self, var: Var) -> Option<&Ty> {
        self.types.get(&var)
    }

    /// Returns a variable that no step binds.
    pub(super) fn unused(&self) -> Var {
        Var(self.types.keys().map(|var| var.0 + 1).max().unwrap_or(0))
    }

    /// Binds a variable to its values, one for each element of its index space.
    pub(super) fn define(&mut self, var: Var, space: SpaceId, values: Vec<Value>) {
        self.values.insert(var, (space, values));
    }

    /// Returns the number of the element of `home`, an index space around, that an element comes
    /// from.
    pub(crate) fn outer(&self, mut space: SpaceId, mut element: usize, home: SpaceId) -> usize {
        while space != home {
            let (around, of) = self.elements(space).around.as_ref().or_bug("a value is in scope");
            element = of[element];
            space = *around;
        }
        element
    }

    /// Returns the value of an operand at an element of an index space.
    pub(crate) fn read(&self, atom: Atom, space: SpaceId, element: usize) -> Value {
        match atom {
            Atom::Var(var) => {
                let (home, values) =
                    self.values.get(&var).or_bug("a value is computed before it is used");
                values[self.outer(space, element, *home)].clone()
            }
            Atom::Unit => Value::Unit,
            Atom::Int(x) => Value::Int(x),
            Atom::Float(x) => Value::Float(x),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
        }
    }

    /// Returns the values of an operand at all elements of an index space.
    pub(crate) fn all(&self, atom: Atom, space: SpaceId) -> Vec<Value> {
        let count = self.elements(space).count;
        (0..count).map(|element| self.read(atom, space, element)).collect()
    }

    /// Returns the sequence that an element of an index space is an element of.
    pub(super) fn sequence_of(&self, sequence: Var, space: SpaceId, element: usize) -> Value {
        let (around, of) =
            self.elements(space).around.as_ref().or_bug("elements come from a sequence");
        self.read(Atom::Var(sequence), *around, of[element])
    }

    /// Returns the values of each segment of `from`; `outer` is the index space with an element for
    /// each segment.
    pub(super) fn by_segment(&self, value: Atom, from: SpaceId, outer: SpaceId) -> Vec<Vec<Value>> {
        let mut all = vec![Vec::new(); self.elements(outer).count];
        let (owner, segments) = self.elements(from).segments.as_ref().or_bug("there are segments");
        debug_assert_eq!(*owner, outer, "the segments belong to the index space of the result");
        for (element, segment) in segments.iter().enumerate() {
            all[*segment].push(self.read(value, from, element));
        }
        all
    }

    /// Makes an index space of at most `max_elements` elements; returns false if it has more.
    pub(super) fn enter(&mut self, space: SpaceId, max_elements: usize) -> bool {
        let elements = match self.function.index_space(space).kind {
            SpaceKind::Caller => return true,
            SpaceKind::Elements { of, sequence } => {
                let length = |value: &Value| value.as_sequence().map(|sequence| sequence.len());
                self.segmented(of, Atom::Var(sequence), length, max_elements)
            }
            SpaceKind::Count { of, count } => {
                let length = |value: &Value| usize::try_from(value.as_int()?).ok();
                self.segmented(of, count, length, max_elements)
            }
            SpaceKind::Filter { of, flag, is } => {
                let flags = self.all(Atom::Var(flag), of);
                let kept = flags.iter().enumerate().filter(|(_, flag)| flag.as_bool() == Some(is));
                let kept: Vec<usize> = kept.map(|(element, _)| element).collect();
                let segments = self.elements(of).segments.as_ref().map(|(owner, segments)| {
                    (*owner, kept.iter().map(|element| segments[*element]).collect())
                });
                Some(Elements::new(kept.len(), Some((of, kept)), segments))
            }
            SpaceKind::Concat { of, inner } => {
                let count = self.elements(inner).count;
                let owner = (0..count).map(|element| self.outer(inner, element, of)).collect();
                Some(Elements::new(count, Some((inner, (0..count).collect())), Some((of, owner))))
            }
        };
        let Some(elements) = elements.filter(|elements| elements.count <= max_elements) else {
            return false;
        };
        self.spaces.insert(space, elements);
        true
    }

    /// Returns an index space with a segment for each element of `of`; `None` if it would have more
    /// than `max_elements` elements.
    fn segmented(
        &self,
        of: SpaceId,
        made_of: Atom,
        length: impl Fn(&Value) -> Option<usize>,
        max_elements: usize,
    ) -> Option<Elements> {
        let mut owner = Vec::new();
        for (element, value) in self.all(made_of, of).iter().enumerate() {
            let length = length(value).or_bug("a segment has a length that is not negative");
            if owner.len() + length > max_elements {
                return None;
            }
            owner.extend(std::iter::repeat_n(element, length));
        }
        Some(Elements::new(owner.len(), Some((of, owner.clone())), Some((of, owner))))
    }
}
