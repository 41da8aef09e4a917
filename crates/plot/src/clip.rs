//! Cutting lines and polygons to the unit square, in which a panel's marks live: no clip paths, whose ids would clash on a page.

pub(super) type Point = (f64, f64);

/// The part of a segment inside the unit square (Liang and Barsky).
pub(super) fn segment((x0, y0): Point, (x1, y1): Point) -> Option<(Point, Point)> {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (delta, room) in [(-dx, x0), (dx, 1.0 - x0), (-dy, y0), (dy, 1.0 - y0)] {
        if delta == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if delta < 0.0 {
            enter = enter.max(room / delta);
        } else {
            leave = leave.min(room / delta);
        }
    }
    let at = |t: f64| (x0 + t * dx, y0 + t * dy);
    let start = if enter == 0.0 { (x0, y0) } else { at(enter) };
    let end = if leave == 1.0 { (x1, y1) } else { at(leave) };
    (enter <= leave).then_some((start, end))
}

/// Pieces of a line with gaps that lie inside the unit square.
pub(super) fn polyline(points: impl IntoIterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    let mut before: Option<Point> = None;
    for point in points {
        match (before, point) {
            (Some(a), Some(b)) => {
                if let Some((start, end)) = segment(a, b) {
                    match pieces.last_mut() {
                        Some(piece) if piece.last() == Some(&start) => piece.push(end),
                        _ => pieces.push(vec![start, end]),
                    }
                }
            }
            // A point alone between two gaps is still drawn, as a dot.
            (None, Some(b)) if inside(b) => pieces.push(vec![b]),
            _ => {}
        }
        before = point;
    }
    pieces
}

pub(super) fn inside((x, y): Point) -> bool {
    (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)
}

/// The part of a polygon inside the unit square (Sutherland and Hodgman).
pub(super) fn polygon(mut corners: Vec<Point>) -> Vec<Point> {
    // The distance of a corner into each side's half plane.
    let sides: [fn(Point) -> f64; 4] = [|p| p.0, |p| 1.0 - p.0, |p| p.1, |p| 1.0 - p.1];
    for depth in sides {
        let mut kept = Vec::with_capacity(corners.len() + 4);
        for (k, &b) in corners.iter().enumerate() {
            let a = corners[(k + corners.len() - 1) % corners.len()];
            let (da, db) = (depth(a), depth(b));
            if (da < 0.0) != (db < 0.0) {
                let t = da / (da - db);
                kept.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
            }
            if db >= 0.0 {
                kept.push(b);
            }
        }
        corners = kept;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_cut_at_the_sides() {
        assert_eq!(
            segment((-1.0, 0.5), (2.0, 0.5)),
            Some(((0.0, 0.5), (1.0, 0.5)))
        );
        assert_eq!(
            segment((0.2, 0.2), (0.8, 0.4)),
            Some(((0.2, 0.2), (0.8, 0.4)))
        );
        assert_eq!(segment((-1.0, 2.0), (2.0, 2.0)), None);
        assert_eq!(segment((-1.0, 0.5), (0.5, 2.5)), None);
    }

    #[test]
    fn lines_break_at_gaps_and_where_they_leave() {
        let line = [(0.1, 0.1), (0.2, 0.2), (0.3, 5.0), (0.4, 0.2), (0.5, 0.2)].map(Some);
        let pieces = polyline(line);
        assert_eq!(pieces.len(), 2);
        assert_eq!((pieces[0].len(), pieces[1].len()), (3, 3));
        let gaps = [Some((0.1, 0.1)), None, Some((0.3, 0.3)), Some((0.4, 0.4))];
        assert_eq!(
            polyline(gaps),
            [vec![(0.1, 0.1)], vec![(0.3, 0.3), (0.4, 0.4)]]
        );
    }

    #[test]
    fn polygons_are_cut_on_all_sides() {
        let around = vec![(-1.0, -1.0), (2.0, -1.0), (2.0, 2.0), (-1.0, 2.0)];
        let mut corners = polygon(around);
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(corners, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]);
        assert!(polygon(vec![(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)]).is_empty());
    }
}
