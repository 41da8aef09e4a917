//! Strongly connected components of a graph of rows: the parts that a cycle of links cannot leave.

/// For each of `num_nodes` nodes the number of its component. Tarjan's algorithm, without recursion.
pub(super) fn components(
    num_nodes: usize,
    edges: impl Iterator<Item = (usize, usize)>,
) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut targets = vec![Vec::new(); num_nodes];
    for (from, to) in edges {
        targets[from].push(to);
    }
    let mut component = vec![NEW; num_nodes];
    let mut num_components = 0;
    let mut index = vec![NEW; num_nodes];
    let mut lowest = vec![0; num_nodes];
    let mut next_index = 0;
    let mut open = Vec::new();
    // (node, how many of its edges were followed)
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..num_nodes {
        if index[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (node, ref mut followed)) = path.last_mut() {
            if *followed == 0 {
                index[node] = next_index;
                lowest[node] = next_index;
                next_index += 1;
                open.push(node);
            }
            if let Some(&target) = targets[node].get(*followed) {
                *followed += 1;
                if index[target] == NEW {
                    path.push((target, 0));
                } else if component[target] == NEW {
                    lowest[node] = lowest[node].min(index[target]);
                }
                // A node is entered only while nothing of it was followed.
                continue;
            }
            if lowest[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member] = num_components;
                    if member == node {
                        break;
                    }
                }
                num_components += 1;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                lowest[parent] = lowest[parent].min(lowest[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Two nodes share a component exactly when each can be reached from the other.
        #[test]
        fn components_are_mutual_reachability(edges in prop::collection::vec((0..9usize, 0..9usize), 0..30)) {
            let component = components(9, edges.iter().copied());
            let mut reach = [[false; 9]; 9];
            (0..9).for_each(|k| reach[k][k] = true);
            edges.iter().for_each(|&(from, to)| reach[from][to] = true);
            for via in 0..9 {
                for from in 0..9 {
                    for to in 0..9 {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            for i in 0..9 {
                for j in 0..9 {
                    prop_assert_eq!(component[i] == component[j], reach[i][j] && reach[j][i]);
                }
            }
        }
    }
}
