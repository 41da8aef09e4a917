//! A drawn figure read back, for tests.

use roxmltree::{Document, Node};

fn of_class(svg: &str, class: &str, attributes: &[&str]) -> Vec<Vec<String>> {
    let document = Document::parse(svg).expect("valid XML");
    let nodes = document
        .descendants()
        .filter(|node| node.attribute("class") == Some(class));
    let values = |node: Node| {
        let value = |name: &&str| node.attribute(*name).expect("the attribute").to_owned();
        attributes.iter().map(value).collect()
    };
    nodes.map(values).collect()
}

/// Left, top, width and height of every panel's frame.
pub(super) fn frames(svg: &str) -> Vec<[f64; 4]> {
    let frames = of_class(svg, "us-frame", &["x", "y", "width", "height"]);
    let number = |text: &String| text.parse().expect("a number");
    frames
        .iter()
        .map(|frame| [0, 1, 2, 3].map(|k| number(&frame[k])))
        .collect()
}

/// The numbers in the data of every path of a class.
pub(super) fn numbers(svg: &str, class: &str) -> Vec<Vec<f64>> {
    let paths = of_class(svg, class, &["d"]);
    let of_path = |path: &Vec<String>| {
        let parts = path[0].split(|c: char| c.is_ascii_alphabetic() || c == ' ');
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    paths.iter().map(of_path).collect()
}

/// The text of all elements with a tag, without that of elements within.
pub(super) fn shown(document: &Document, tag: &str) -> Vec<String> {
    let own = |node: Node| {
        let texts = node.children().filter(Node::is_text);
        texts
            .filter_map(|text| text.text().map(str::to_owned))
            .collect()
    };
    let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
    nodes.map(own).collect()
}
