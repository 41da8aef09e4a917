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
            // Down to the floor at both ends, but not along the frame.
            let (first, last) = (run[0].left, run[run.len() - 1].right);
            let start = (first > SAME_SIDE).then_some((first, floor));
            let end = (last < 1.0 - SAME_SIDE).then_some((last, floor));
            let line: Vec<Point> = start.into_iter().chain(steps).chain(end).collect();
            path += &self.path(clip::polyline(line.into_iter().map(Some)));
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

#[cfg(test)]
mod tests {
    use crate::readback::{frames, numbers};
    use crate::{Axis, Figure, Mark, Panel, Series};

    const STEPS: [(f64, f64, f64); 3] = [(0.0, 1.0, 2.0), (1.0, 2.0, 4.0), (3.0, 4.0, 1.0)];

    fn figure(mark: Mark) -> String {
        let panel = Panel::new("").x(Axis::linear("")).y(Axis::linear(""));
        Figure::new("", "").panel(panel.mark(mark)).svg()
    }

    /// Path data of the only mark.
    fn path(svg: &str) -> &str {
        let group = &svg[svg.find("<g class=\"us-c0\">").expect("a mark")..];
        let path = &group[group.find(" d=\"").expect("a path") + 4..];
        &path[..path.find('"').expect("an end")]
    }

    #[test]
    fn bars_stand_on_zero_and_are_as_high_as_asked() {
        let svg = figure(Mark::bars(Series(0), STEPS.to_vec()));
        let [left, top, width, height] = frames(&svg)[0];
        let bars: Vec<&str> = path(&svg).split_terminator('z').collect();
        assert_eq!(bars.len(), 3);
        // The axis reaches 4 % of the range of heights beyond the highest.
        let unit = height / 4.12;
        for (bar, (low, high, value)) in bars.iter().zip(STEPS) {
            let corners: Vec<f64> = bar
                .split(['M', 'L', ' '])
                .filter_map(|n| n.parse().ok())
                .collect();
            let (x, y) = (corners.iter().step_by(2), corners.iter().skip(1).step_by(2));
            let near = |a: f64, b: f64| assert!((a - b).abs() < 0.11, "{a} is not {b}");
            near(
                x.clone().copied().fold(f64::MAX, f64::min),
                left + width * low / 4.0,
            );
            near(x.copied().fold(0.0, f64::max), left + width * high / 4.0);
            near(y.clone().copied().fold(0.0, f64::max), top + height);
            near(
                y.copied().fold(f64::MAX, f64::min),
                top + height - unit * value,
            );
        }
    }

    #[test]
    fn outlines_are_steps_that_come_down_between_bars_but_not_at_the_frame() {
        let svg = figure(Mark::steps(Series(0), STEPS.to_vec()));
        let [left, top, _, height] = frames(&svg)[0];
        let runs: Vec<&str> = path(&svg).split('M').skip(1).collect();
        assert_eq!(runs.len(), 2);
        // Two bars and the way down after them; the way up to the third.
        assert_eq!(runs[0].matches('L').count(), 4);
        assert_eq!(runs[1].matches('L').count(), 2);
        let all = numbers(&svg, "us-line").concat();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.11, "{a} is not {b}");
        near(all[0], left);
        near(all[1], top + height * (1.0 - 2.0 / 4.12));
        near(all[9], top + height);
        near(all[11], top + height);
    }

    #[test]
    fn outlines_of_several_series_carry_markers() {
        let steps = |k| Mark::steps(Series(k), STEPS.to_vec());
        let panel = Panel::new("").marks([steps(0), steps(1)]);
        let svg = Figure::new("", "").panel(panel).svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(figure(steps(0)).matches("<circle").count(), 0);
    }

    #[test]
    fn bars_that_cannot_be_drawn_are_left_out_and_empty_ones_have_an_axis() {
        let odd = vec![
            (0.0, 1.0, f64::NAN),
            (f64::NEG_INFINITY, 0.0, 1.0),
            (0.0, 1.0, 3.0),
        ];
        for mark in [Mark::bars, Mark::steps] {
            let svg = figure(mark(Series(0), odd.clone()));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert_eq!(path(&svg).matches('M').count(), 1);
            assert!(figure(mark(Series(0), Vec::new())).contains("no data"));
        }
        let svg = figure(Mark::steps(
            Series(0),
            vec![(0.0, 1.0, 0.0), (1.0, 2.0, 0.0)],
        ));
        let [_, top, _, height] = frames(&svg)[0];
        assert_eq!(numbers(&svg, "us-line")[0][1], top + height);
        assert!(svg.contains(">0.0</text>") && svg.contains(">1.0</text>"));
    }
}
