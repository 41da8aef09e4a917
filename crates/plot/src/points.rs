//! Clouds of points: many of them in few bytes, or each with a text of its own.

use super::clip::Point;
use super::draw::{Canvas, MANY};
use super::marks::Series;
use super::svg::{num, title};
use super::theme::marker;

/// Other markers than circles are elements of their own up to here.
const FEW: usize = 300;
/// A path covers itself without getting darker: points that overlap show only across paths.
const LAYERS: usize = 6;

impl Canvas<'_> {
    pub fn points(&self, series: Series, points: &[(f64, f64)]) -> String {
        let visible = self.visible(points);
        if visible.is_empty() {
            return String::new();
        }
        let dense = visible.len() > MANY;
        let compact = Compact::new(series, dense);
        if compact.style != Style::Dots && visible.len() <= FEW {
            let markers = visible
                .iter()
                .map(|&(x, y)| marker(series, x, y, usual_radius(dense)));
            let markers: Vec<String> = markers.collect();
            return format!("<g class=\"us-points\">\n{}\n</g>\n", markers.join("\n"));
        }
        let layers = (0..LAYERS.min(visible.len())).map(|layer| {
            let point = |&(x, y): &Point| {
                let (x, y) = (num(x + compact.start.0), num(y + compact.start.1));
                format!("M{x} {y}{}", compact.rest)
            };
            let of_layer = visible.iter().skip(layer).step_by(LAYERS);
            let path: String = of_layer.map(point).collect();
            format!("<path d=\"{path}\"/>\n")
        });
        let layers: String = layers.collect();
        format!("<g {}>\n{layers}</g>\n", compact.attributes(dense))
    }

    pub fn labelled_points(&self, series: Series, points: &[(f64, f64, String)]) -> String {
        let places = points.iter().filter_map(|(x, y, text)| {
            let (x, y) = (self.x.fraction_within(*x)?, self.y.fraction_within(*y)?);
            Some((self.frame.x(x), self.frame.y(y), text))
        });
        let places: Vec<(f64, f64, &String)> = places.collect();
        if places.is_empty() {
            return String::new();
        }
        let dense = places.len() > MANY;
        let class = if dense { "us-dense" } else { "us-points" };
        let mut svg = format!("<g class=\"{class}\">\n");
        for (x, y, text) in places {
            let drawn = marker(series, x, y, usual_radius(dense));
            svg += &format!("<g>{}{drawn}</g>\n", title(text));
        }
        svg + "</g>\n"
    }
}

/// A series' marker as a piece of a path.
struct Compact {
    /// From the place of the point to where the piece starts.
    start: (f64, f64),
    rest: &'static str,
    style: Style,
}

#[derive(PartialEq)]
enum Style {
    /// Strokes without length, but with round ends.
    Dots,
    Shapes,
    Crosses,
}

impl Compact {
    /// In the order of [`marker`], of sizes that are short to write.
    fn new(series: Series, dense: bool) -> Self {
        use Style::{Crosses, Dots, Shapes};
        let (start, rest, style) = match (series.0 % 7, dense) {
            (0, _) => ((0.0, 0.0), "h0", Dots),
            (1, true) => ((0.0, -2.7), "l2.5 4.5h-5z", Shapes),
            (1, false) => ((0.0, -4.0), "l3.5 6.5h-7z", Shapes),
            (2, true) => ((-2.0, -2.0), "h4v4h-4z", Shapes),
            (2, false) => ((-3.0, -3.0), "h6v6h-6z", Shapes),
            (3, true) => ((0.0, -3.0), "l3 3-3 3-3-3z", Shapes),
            (3, false) => ((0.0, -4.0), "l4 4-4 4-4-4z", Shapes),
            (4, true) => ((0.0, 2.7), "l-2.5-4.5h5z", Shapes),
            (4, false) => ((0.0, 4.0), "l-3.5-6.5h7z", Shapes),
            (5, true) => ((-3.0, 0.0), "h6m-3-3v6", Crosses),
            (5, false) => ((-4.0, 0.0), "h8m-4-4v8", Crosses),
            (_, true) => ((-2.0, -2.0), "l4 4m0-4l-4 4", Crosses),
            (_, false) => ((-3.0, -3.0), "l6 6m0-6l-6 6", Crosses),
        };
        Self { start, rest, style }
    }

    fn attributes(&self, dense: bool) -> String {
        let diameter = 2.0 * usual_radius(dense);
        let (width, cap) = match self.style {
            Style::Shapes if dense => return "class=\"us-dense\"".to_owned(),
            Style::Shapes => return "class=\"us-points\"".to_owned(),
            Style::Dots => (diameter, "round"),
            Style::Crosses => (0.42 * diameter, "butt"),
        };
        let (width, opacity) = (num(width), if dense { ".45" } else { ".7" });
        format!(
            "fill=\"none\" stroke=\"currentColor\" stroke-width=\"{width}\" stroke-linecap=\"{cap}\" stroke-opacity=\"{opacity}\""
        )
    }
}

fn usual_radius(dense: bool) -> f64 {
    if dense { 2.2 } else { 3.2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readback::{frames, shown};
    use crate::{Axis, Figure, Mark, Panel};

    fn figure(mark: Mark) -> String {
        let axis = || Axis::linear("").range(0.0, 1.0);
        let panel = Panel::new("").x(axis()).y(axis());
        Figure::new("", "").panel(panel.mark(mark)).svg()
    }

    fn cloud(count: usize) -> Vec<(f64, f64)> {
        let at = |k: usize, step: f64| (k as f64 * step).fract();
        (0..count).map(|k| (at(k, 0.618), at(k, 0.414))).collect()
    }

    #[test]
    fn points_take_less_than_thirty_bytes_each() {
        for series in (0..8).map(Series) {
            for count in [301, 400, 401, 2000] {
                let empty = figure(Mark::points(series, vec![(0.5, 0.5)])).len();
                let full = figure(Mark::points(series, cloud(count))).len();
                let each = (full as f64 - empty as f64) / count as f64;
                assert!(
                    each < 30.0,
                    "{each} bytes for each of {count} of {series:?}"
                );
            }
        }
    }

    #[test]
    fn every_point_is_drawn_once_where_it_is() {
        let cloud = cloud(500);
        let svg = figure(Mark::points(Series(0), cloud.clone()));
        let [left, top, width, height] = frames(&svg)[0];
        let paths = svg.split("<path d=\"").skip(1);
        let dots = paths.flat_map(|path| path.split_once('"').unwrap().0.split_terminator("h0"));
        let dots: Vec<Point> = dots
            .filter_map(|dot| dot.strip_prefix('M')?.split_once(' '))
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        assert_eq!(dots.len(), 500);
        for (x, y) in cloud {
            let (x, y) = (left + x * width, top + (1.0 - y) * height);
            // All numbers are rounded to a tenth.
            let near = |dot: &Point| (dot.0 - x).abs() < 0.16 && (dot.1 - y).abs() < 0.16;
            assert!(dots.iter().any(near), "no dot at {x} {y}");
        }
    }

    #[test]
    fn compact_markers_are_centred_like_the_others() {
        for series in (0..7).map(Series) {
            let few = figure(Mark::points(series, vec![(0.5, 0.5)]));
            let many = figure(Mark::points(series, vec![(0.5, 0.5); 301]));
            let [left, top, width, height] = frames(&many)[0];
            let start = many.split("<path d=\"M").nth(1).unwrap();
            let mut start = start.split(['h', 'l']).next().unwrap().split(' ');
            let mut next = || start.next().unwrap().parse::<f64>().unwrap();
            let (dx, dy) = (next() - left - width / 2.0, next() - top - height / 2.0);
            assert!(dx.abs() < 4.2 && dy.abs() < 4.2, "{series:?}: {dx} {dy}");
            let markers = |svg: &str| svg.matches("<path d=").count();
            assert!(markers(&few) <= 1 && markers(&many) == LAYERS);
        }
    }

    #[test]
    fn texts_of_points_are_escaped_and_belong_to_them() {
        let nasty = "row 3: a<b> & \"c\" 'd'";
        let points = vec![
            (0.2, 0.2, nasty.to_owned()),
            (0.4, 0.2, "plain".to_owned()),
            (9.0, 0.2, "outside".to_owned()),
            (f64::NAN, 0.2, "nowhere".to_owned()),
        ];
        for (series, tag) in [(0, "circle"), (1, "path")] {
            let svg = figure(Mark::labelled_points(Series(series), points.clone()));
            let document = roxmltree::Document::parse(&svg).unwrap();
            // The first is the figure's own.
            assert_eq!(shown(&document, "title")[1..], [nasty, "plain"]);
            let labelled = document.descendants().filter(|node| {
                node.has_tag_name(tag)
                    && node.parent_element().is_some_and(|parent| {
                        parent.children().any(|child| child.has_tag_name("title"))
                    })
            });
            assert!(labelled.count() >= 2);
        }
    }
}
