//! Histograms: filled bars, or their outline as a line in steps.

use super::clip::{self, Point};
use super::draw::Canvas;
use super::marks::Series;

/// Two bars whose sides are closer than this, as a fraction of the axis, are neighbours.
const SAME_SIDE: f64 = 1e-6;

/// A bar as fractions of both axes.
#[derive(Clone, Copy)]
struct Bar {
    left: f64,
    right: f64,
    top: f64,
}

impl Canvas<'_> {
    pub fn bars(&self, bars: &[(f64, f64, f64)]) -> String {
        let floor = self.floor();
        let mut path = String::new();
        for bar in self.placed(bars).iter().filter(|bar| bar.top != floor) {
            let Bar { left, right, top } = *bar;
            let corners = vec![(left, floor), (left, top), (right, top), (right, floor)];
            let shape = self.path(vec![clip::polygon(corners)]);
            if !shape.is_empty() {
                path += &shape;
                path.push('z');
            }
        }
        if path.is_empty() {
            return path;
        }
        format!(
            "<path fill=\"currentColor\" fill-opacity=\".4\" stroke=\"currentColor\" stroke-width=\".8\" d=\"{path}\"/>\n"
        )
    }

    pub fn steps(&self, series: Series, bars: &[(f64, f64, f64)], marked: bool) -> String {
        let floor = self.floor();
        let placed = self.placed(bars);
        let mut path = String::new();
        for run in placed.chunk_by(|a, b| (b.left - a.right).abs() < SAME_SIDE) {
            let steps = run
                .iter()
                .flat_map(|bar| [(bar.left, bar.top), (bar.right, bar.top)]);
            let (start, end) = ((run[0].left, floor), (run[run.len() - 1].right, floor));
            let line = std::iter::once(start).chain(steps).chain([end]);
            let line: Vec<Option<Point>> = line.map(Some).collect();
            path += &self.path(clip::polyline(line));
        }
        if path.is_empty() {
            return path;
        }
        let mut svg = format!("<path class=\"us-line\" d=\"{path}\"/>\n");
        if marked {
            let middle = |&(low, high, height): &(f64, f64, f64)| (0.5 * (low + high), height);
            svg += &self.markers(series, &bars.iter().map(middle).collect::<Vec<_>>());
        }
        svg
    }

    fn placed(&self, bars: &[(f64, f64, f64)]) -> Vec<Bar> {
        let place = |&(low, high, height): &(f64, f64, f64)| {
            let (a, b) = (self.x.fraction(low)?, self.x.fraction(high)?);
            Some(Bar {
                left: a.min(b),
                right: a.max(b),
                top: self.y.fraction(height)?,
            })
        };
        let mut placed: Vec<Bar> = bars.iter().filter_map(place).collect();
        placed.sort_by(|a, b| a.left.total_cmp(&b.left));
        placed
    }
}
