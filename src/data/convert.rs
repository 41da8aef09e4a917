//! The output of a linkage program as one linked file, its candidates, and a config that fits it. Where records are linked
//! to nobody, the config names the two files instead, since a linked file does not have these records.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::formula::Formula;
use super::linkage::{KnownLinks, Linkage};
use super::linked::Linked;
use super::read::Columns;
use super::relinkable::push_new;
use super::table::{Table, check_rereadable};
use super::{Candidate, DataError, LabelNotes, Notes};
use crate::config::{Data, DataSource, LinkPairs};
use crate::sampler::links::{LinkFacts, LinkSpace};
use crate::text::{digits, to_csv};

/// The names of the files that a converted linkage has.
pub const LINKED: &str = "linked.csv";
pub const CANDIDATES: &str = "candidates.csv";

/// The files of a converted linkage, and what was done.
pub struct Conversion {
    /// Both files, one line for each link, with what is known of it.
    pub linked: String,
    /// Other places where a row may belong, where the config names the linked file.
    pub candidates: Option<String>,
    /// Its paths of two files are those of the data that were converted.
    pub config: Value,
    pub notes: Notes,
    pub num_candidates: usize,
    pub num_movable: usize,
}

/// The column of probabilities in a file of pairs, by the names that linkage programs give it.
pub fn probability_column(pairs: &Path) -> Result<Option<String>, DataError> {
    const NAMES: [&str; 3] = ["match_probability", "posterior", "probability"];
    // The links are picked from them afterwards.
    check_rereadable(pairs)?;
    let table = Table::read(pairs, "the file of pairs")?;
    let found = NAMES.iter().find(|name| table.position(name).is_some());
    Ok(found.map(|name| name.to_string()))
}

/// Picks the links of `data`, which names pairs, and writes them as one file, with a config for the model `model`.
pub fn convert(data: &Data, model: &str) -> Result<Conversion, DataError> {
    let mut notes = Notes::default();
    let linked = Linked::read(data, &mut notes)?;
    let formula = Formula::new(data, &linked.header(), &linked.files())?;
    let columns = Columns::find(&linked, &formula, None, data)?;
    let label = data.response_label();
    linked.check_sides((&label, &columns.response), &columns.staying())?;
    let (Some(linkage), DataSource::Pairs { left, right, links }) = (&linked.linkage, &data.source)
    else {
        panic!("a linkage is converted from pairs");
    };
    let mut known = linkage.known(&linked, columns.response[0].table == 0);
    let audit = linkage
        .notes
        .labels
        .as_ref()
        .filter(|labels| labels.checked > 0);
    if audit.is_some() {
        // An audit is of the rate of all links; the probabilities weigh the candidates.
        known.match_probability = None;
    }
    let conversion = Writer {
        linked: &linked,
        linkage,
        known: &known,
        left,
        right,
        links,
        data,
    };
    let (text, names) = conversion.linked_csv();
    let all_are_linked = notes.linked_to_nobody() == (0, 0);
    let (candidates, data) = match all_are_linked {
        true => (conversion.candidates_csv(), conversion.one_file(&names)),
        false => (None, conversion.two_files()),
    };
    Ok(Conversion {
        linked: text,
        candidates,
        config: config(model, data, audit),
        num_candidates: known.candidates.as_ref().map_or(0, Vec::len),
        num_movable: num_movable(&known, linked.num_rows()),
        notes,
    })
}

fn num_movable(known: &KnownLinks, num_rows: usize) -> usize {
    let triple = |pair: &Candidate| (pair.row, pair.partner, pair.weight);
    let candidates = known.candidates.as_ref();
    let candidates: Option<Vec<_>> = candidates.map(|pairs| pairs.iter().map(triple).collect());
    let facts = LinkFacts {
        block_of_row: None,
        safe: known.safe.as_deref(),
        match_probability: known.match_probability.as_deref(),
        candidates: candidates.as_deref(),
    };
    LinkSpace::new(num_rows, facts).num_movable()
}

struct Writer<'a> {
    linked: &'a Linked,
    linkage: &'a Linkage,
    known: &'a KnownLinks,
    left: &'a Path,
    right: &'a Path,
    links: &'a LinkPairs,
    data: &'a Data,
}

/// What the columns that convert fills are called in the linked file.
struct Names {
    id: Option<String>,
    probability: Option<String>,
    safe: Option<String>,
}

impl Writer<'_> {
    fn linked_csv(&self) -> (String, Names) {
        let linked = self.linked;
        let columns = linked.columns();
        let mut header = linked.names_apart();
        let id = self.links.left.as_ref().map(|id| {
            let place = columns
                .iter()
                .position(|&column| column.table == 0 && linked.name(column) == id);
            header[place.expect("the pairs were found by it")].clone()
        });
        let probability = self.linkage.probability.as_ref();
        let names = Names {
            id,
            probability: probability.map(|_| push_new(&mut header, "match_probability")),
            safe: self
                .linkage
                .safe
                .as_ref()
                .map(|_| push_new(&mut header, "safe")),
        };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(linked.delimiter())
            .from_writer(Vec::new());
        let in_memory = "memory can be written to";
        writer.write_record(&header).expect(in_memory);
        for row in 0..linked.num_rows() {
            let cells = columns
                .iter()
                .map(|&column| linked.cell_as_typed(column, row).to_string());
            let probability = self.linkage.probability.iter().map(|p| digits(p[row]));
            let safe = self.linkage.safe.iter();
            let safe = safe.map(|safe| if safe[row] { "yes" } else { "no" }.to_string());
            let cells: Vec<String> = cells.chain(probability).chain(safe).collect();
            writer.write_record(&cells).expect(in_memory);
        }
        let bytes = writer.into_inner().expect(in_memory);
        (String::from_utf8(bytes).expect("UTF-8 was read"), names)
    }

    /// Rows by their id in the left file, or else by their number in the linked file.
    fn candidates_csv(&self) -> Option<String> {
        let id = self.links.left.as_ref();
        let id = id.map(|id| {
            let columns = self.linked.columns().into_iter();
            let mut found =
                columns.filter(|&column| column.table == 0 && self.linked.name(column) == id);
            found.next().expect("the pairs were found by it")
        });
        let name = |row: usize| match id {
            Some(column) => self.linked.cell(column, row).to_string(),
            None => (row + 1).to_string(),
        };
        let lines = |pair: &Candidate| [name(pair.row), name(pair.partner), digits(pair.weight)];
        let candidates = self.known.candidates.as_ref()?;
        let bytes = to_csv(["row", "partner", "weight"], candidates.iter().map(lines));
        Some(String::from_utf8(bytes).expect("UTF-8 was written"))
    }

    /// The data of a config that reads the linked file.
    fn one_file(&self, names: &Names) -> Map<String, Value> {
        let mut data = Map::new();
        data.insert("file".into(), json!(LINKED));
        data.insert("formula".into(), json!(self.data.formula));
        let has_probability = self.known.match_probability.is_some();
        let probability = names.probability.as_ref().filter(|_| has_probability);
        let candidates = self
            .known
            .candidates
            .as_ref()
            .map(|_| CANDIDATES.to_string());
        for (key, value) in [
            ("id", &names.id),
            ("safe", &names.safe),
            ("match_probability", &probability.cloned()),
            ("candidates", &candidates),
        ] {
            if let Some(value) = value {
                data.insert(key.into(), json!(value));
            }
        }
        data
    }

    /// The data of a config that reads both files and picks the links again.
    fn two_files(&self) -> Map<String, Value> {
        let mut links = json!(self.links);
        let keys = links.as_object_mut().expect("an object");
        keys.retain(|_, value| !value.is_null());
        let entries = [
            ("left", json!(self.left)),
            ("right", json!(self.right)),
            ("links", links),
            ("formula", json!(self.data.formula)),
            ("id", json!(self.links.left)),
        ];
        let entries = entries.into_iter().filter(|(_, value)| !value.is_null());
        entries
            .map(|(key, value)| (key.to_string(), value))
            .collect()
    }
}

fn config(model: &str, data: Map<String, Value>, audit: Option<&LabelNotes>) -> Value {
    let mut config = json!({"model": {"stan": model}, "data": data});
    if let Some(LabelNotes { checked, wrong, .. }) = audit {
        let audit = json!({"checked": checked, "wrong": wrong});
        config["permutation"] = json!({"prior": {"name": "beta_binomial", "audit": audit}});
    }
    config
}
