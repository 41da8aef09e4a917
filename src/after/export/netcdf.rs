//! Groups of labelled arrays as netCDF-4, which `arviz.from_netcdf` and `xarray.open_datatree` read.

use std::collections::BTreeMap;

use netcdf_writer::{
    DimensionId, Error, NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions, NcWriteType,
    VariableId,
};

/// The values of an array, the last dimension running fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Real(Vec<f64>),
    Whole(Vec<i64>),
    Flag(Vec<bool>),
    Text(Vec<String>),
}

/// An array with named dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub name: String,
    /// Name and length of each.
    pub dims: Vec<(String, usize)>,
    pub values: Values,
}

/// Arrays that share their dimensions; one that is named like a dimension has its coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub name: &'static str,
    pub arrays: Vec<Array>,
}

/// The file: its groups, with the attributes `about` of the file and of each group.
pub(super) fn bytes(groups: &[Group], about: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    let format = NcWriteFormat::Nc4;
    let (_, bytes) = described(groups, about)?.to_vec(NcWriteOptions { format })?;
    Ok(bytes)
}

fn described(groups: &[Group], about: &[(&str, &str)]) -> Result<NcFileBuilder, Error> {
    let mut builder = NcFileBuilder::new();
    for (name, value) in about {
        builder.add_attribute(*name, NcAttrValue::Chars((*value).into()))?;
    }
    for group in groups {
        for (name, value) in about {
            builder.add_group_attribute(group.name, *name, NcAttrValue::Chars((*value).into()))?;
        }
        add_group(&mut builder, group)?;
    }
    Ok(builder)
}

fn add_group(builder: &mut NcFileBuilder, group: &Group) -> Result<(), Error> {
    let inside = |name: &str| format!("{}/{name}", group.name);
    let mut dimensions = BTreeMap::new();
    for (name, length) in group.arrays.iter().flat_map(|array| &array.dims) {
        if !dimensions.contains_key(name) {
            let id = builder.add_dimension_path(inside(name), *length as u64)?;
            dimensions.insert(name, id);
        }
    }
    for array in &group.arrays {
        let dims: Vec<_> = array
            .dims
            .iter()
            .map(|(name, _)| dimensions[name])
            .collect();
        let path = inside(&array.name);
        match &array.values {
            Values::Real(values) => {
                add_numbers(builder, path, &dims, values)?;
            }
            Values::Whole(values) => {
                add_numbers(builder, path, &dims, values)?;
            }
            Values::Flag(flags) => {
                // netCDF has no logical values; xarray writes them like this.
                let numbers: Vec<i8> = flags.iter().map(|flag| i8::from(*flag)).collect();
                let variable = add_numbers(builder, path, &dims, &numbers)?;
                let bool_of_numpy = NcAttrValue::Chars("bool".into());
                builder.add_variable_attribute(variable, "dtype", bool_of_numpy)?;
            }
            Values::Text(texts) => {
                let variable = builder.add_string_variable_path(path, &dims)?;
                builder.write_string_variable(variable, texts)?;
            }
        }
    }
    Ok(())
}

fn add_numbers<T: NcWriteType>(
    builder: &mut NcFileBuilder,
    path: String,
    dims: &[DimensionId],
    numbers: &[T],
) -> Result<VariableId, Error> {
    let variable = builder.add_variable_path::<T>(path, dims)?;
    builder.write_variable(variable, numbers)?;
    Ok(variable)
}
