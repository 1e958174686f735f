//! Recursion groups: the strongly connected components of the graph of references between items
//! (Tarjan, "Depth-first search and linear graph algorithms", 1972).

use super::input::Item;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The components of more than one member among `members`, in the order of their first members;
/// each in the order of `members`. Edges out of `members` are ignored.
///
/// Iterative, as a program may chain thousands of functions.
pub(crate) fn nontrivial(
    members: &[Item],
    references: impl Fn(Item) -> Vec<Item>,
) -> Arc<[Arc<[Item]>]> {
    let number: FxHashMap<Item, usize> = members.iter().enumerate().map(|(i, m)| (*m, i)).collect();
    let edges: Vec<Vec<usize>> = members
        .iter()
        .map(|m| references(*m).iter().filter_map(|r| number.get(r).copied()).collect())
        .collect();
    let mut components: Vec<Vec<usize>> = components(&edges);
    components.retain(|c| c.len() > 1);
    for component in &mut components {
        component.sort_unstable();
    }
    components.sort_unstable();
    components.iter().map(|c| c.iter().map(|i| members[*i]).collect()).collect()
}

/// The number of items at which [`small_component`] gives up.
const MAX_REACHED_ITEMS: usize = 64;

/// The component of one member, itself included, in the order of `positions`; `None` if more than
/// [`MAX_REACHED_ITEMS`] items are reached from it. Most programs are long and their functions call
/// few others, so the component of one is found without computing those of the whole file, and
/// does not depend on the references of the others.
pub(crate) fn small_component(
    member: Item,
    positions: &FxHashMap<Item, u32>,
    references: impl Fn(Item) -> Vec<Item>,
) -> Option<Vec<Item>> {
    let mut number: FxHashMap<Item, usize> = FxHashMap::default();
    let mut reached = vec![member];
    number.insert(member, 0);
    // The reverse edges: for each reached item, the numbers of those that refer to it.
    let mut referring: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(from) = reached.get(at).copied() {
        for to in references(from).into_iter().filter(|to| positions.contains_key(to)) {
            let to = *number.entry(to).or_insert_with(|| {
                reached.push(to);
                referring.push(Vec::new());
                reached.len() - 1
            });
            referring[to].push(at);
        }
        if reached.len() > MAX_REACHED_ITEMS {
            return None;
        }
        at += 1;
    }
    let mut inside = vec![false; reached.len()];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut inside[at], true) {
            todo.extend(&referring[at]);
        }
    }
    let mut group: Vec<Item> =
        reached.iter().zip(inside).filter(|(_, inside)| *inside).map(|(item, _)| *item).collect();
    group.sort_unstable_by_key(|item| positions[item]);
    Some(group)
}

/// All strongly connected components of a graph given by its adjacency lists.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNVISITED: usize = usize::MAX;
    let mut index = vec![UNVISITED; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let mut stack = Vec::new();
    let mut out = Vec::new();
    let mut next = 0;
    // The call stack of the recursive formulation: a node and the number of its edges already followed.
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for root in 0..edges.len() {
        if index[root] != UNVISITED {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, done)) = calls.pop() {
            if done == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            } else {
                // Back from the child along edge `done - 1`.
                low[node] = low[node].min(low[edges[node][done - 1]]);
            }
            let mut edge = done;
            let mut descended = false;
            while edge < edges[node].len() {
                let child = edges[node][edge];
                if index[child] == UNVISITED {
                    calls.push((node, edge + 1));
                    calls.push((child, 0));
                    descended = true;
                    break;
                }
                if on_stack[child] {
                    low[node] = low[node].min(index[child]);
                }
                edge += 1;
            }
            if descended || low[node] != index[node] {
                continue;
            }
            let mut component = Vec::new();
            while let Some(member) = stack.pop() {
                on_stack[member] = false;
                component.push(member);
                if member == node {
                    break;
                }
            }
            out.push(component);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::components;

    fn sorted(edges: &[&[usize]]) -> Vec<Vec<usize>> {
        let edges: Vec<Vec<usize>> = edges.iter().map(|e| e.to_vec()).collect();
        let mut all = components(&edges);
        for c in &mut all {
            c.sort_unstable();
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn finds_cycles() {
        assert_eq!(sorted(&[&[1], &[2], &[0], &[3]]), vec![vec![0, 1, 2], vec![3]]);
        assert_eq!(sorted(&[&[1], &[0], &[0, 3], &[2]]), vec![vec![0, 1], vec![2, 3]]);
        assert_eq!(sorted(&[&[1, 2], &[], &[1]]), vec![vec![0], vec![1], vec![2]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<Vec<usize>> =
            (0..200_000).map(|i| if i + 1 < 200_000 { vec![i + 1] } else { vec![0] }).collect();
        assert_eq!(components(&edges).len(), 1);
    }
}
