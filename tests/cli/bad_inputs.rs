//! Bad inputs, one in a row: each ends with its exit code and one sentence that names the place and the fix; none panics.

use std::fs;

use crate::common::{Project, csv_of, rows};
use serde_json::json;

use Input::*;

/// What is bad, besides a project that is ready to fit.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// `check --set` this.
    Set,
    /// The text of config.json.
    Config,
    /// The text of data.csv; what stands behind `|` is set. `<rows>` are good rows.
    Data,
    /// `data.formula`.
    Formula,
    /// The text of `data.candidates`.
    Candidates,
    /// The text of a Stan program.
    Stan,
    /// The text of the estimates that `pool` reads.
    Pool,
    /// The text of a study's config.
    Study,
    /// Arguments, separated by spaces.
    Args,
}

/// Kind, input, what stderr says, exit code.
type Row = (Input, &'static str, &'static str, i32);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (Set, "sampler=[1,60,50]", r#"config.json: `sampler` is [1,60,50]; write an object such as {"chains": 4, "draws": 1000}"#, 2),
    (Set, r#"permutation=[null,{"name":"none"}]"#, r#"config.json: `permutation` is [null,{"name":"none"}]; write an object such as {"prior": {"name": "beta_binomial"}}"#, 2),
    (Set, r#"permutation.prior=["beta_binomial"]"#, r#"config.json: `permutation.prior` is ["beta_binomial"]; write an object such as {"name": "beta_binomial"}"#, 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","audit":[100,7]}"#, r#"config.json: `permutation.prior.audit` is [100,7]; write an object such as {"checked": 100, "wrong": 7}"#, 2),
    (Set, r#"permutation.update=["none"]"#, r#"config.json: `permutation.update` is ["none"]; write an object such as {"name": "active_set"}"#, 2),
    (Set, r#"model=["linear"]"#, r#"config.json: `model` is ["linear"]; write an object such as {"stan": "linear"}"#, 2),
    (Set, r#"model.family=["gaussian"]"#, r#"config.json: `model.family` is ["gaussian"]; write an object such as {"name": "gaussian"}"#, 2),
    (Set, "model.data=[1]", r#"config.json: `model.data` is [1]; write an object such as {"K": 3}"#, 2),
    (Set, r#"data=["data.csv"]"#, r#"config.json: `data` is ["data.csv"]; write an object such as {"file": "wages.csv", "response": "log_wage", "predictors": ["educ"]}"#, 2),
    (Set, r#"data.reference=["a"]"#, r#"config.json: `data.reference` is ["a"]; write an object such as {"sector": "public"}"#, 2),
    (Set, r#"data.links=["a","b"]"#, r#"config.json: `data.links` is ["a","b"]; write a column such as "person", or {"left": "register_id", "right": "id"}"#, 2),
    (Set, "temperature=[1,1]", r#"config.json: `temperature` is [1,1]; write a number in (0, 1], "1/n" or {"stan": 1.0, "permutation": 0.5}"#, 2),
    (Set, r#"temperature={"stan":[1]}"#, r#"config.json: `temperature.stan` is [1]; write a number in (0, 1] or "1/n""#, 2),
    (Set, "sampler.init=[1]", r#"config.json: `sampler.init` is [1]; write "auto", a number of 0 or more, an object of parameter values, or the path of a .json file of them"#, 2),
    (Set, r#"sampler.metric=["dense"]"#, r#"config.json: `sampler.metric` is ["dense"]; write text in quotes"#, 2),
    (Set, r#"sampler={"draws":5,"draws":6}"#, r#"--set sampler={"draws":5,"draws":6}: key `draws` is given twice at line 1 column 18; remove one of the two"#, 2),
    (Set, r#"sampler.init={"beta":[0,0],"beta":[1,1]}"#, r#"--set sampler.init={"beta":[0,0],"beta":[1,1]}: key `beta` is given twice at line 1 column 20; remove one of the two"#, 2),
    (Set, "sampler.draws", "--set sampler.draws: write key=value, for example --set sampler.draws=2000", 2),
    (Set, "=5", "--set =5: write the key as names joined by points, for example sampler.draws", 2),
    (Set, ".draws=5", "--set .draws=5: write the key as names joined by points, for example sampler.draws", 2),
    (Set, "sampler..draws=5", "--set sampler..draws=5: write the key as names joined by points, for example sampler.draws", 2),
    (Set, "sampler.draws.x=5", "--set sampler.draws.x=5: `sampler.draws` is 200 and has no `x` inside; set `sampler.draws` itself", 2),
    (Set, r#"data.predictors.5="z""#, r#"--set data.predictors.5="z": `data.predictors` is a list of 1; use an index from 0 up to, not including, 1 in the place of `5`"#, 2),
    (Set, r#"data.predictors.x="z""#, r#"--set data.predictors.x="z": `data.predictors` is a list of 1; use an index from 0 up to, not including, 1 in the place of `x`"#, 2),
    (Set, "sampler.chians=2", "config.json: unknown key `sampler.chians`; did you mean `chains`?", 2),
    (Set, "sampler.wamup=2", "config.json: unknown key `sampler.wamup`; did you mean `warmup`?", 2),
    (Set, "seed=1", "config.json: unknown key `seed`; the keys here are `name`, `model`, `data`, `temperature`, `likelihood_power`, `permutation`, `sampler` and `output`", 2),
    (Set, "modell=1", "config.json: unknown key `modell`; did you mean `model`?", 2),
    (Set, "data.respnse=y", "config.json: unknown key `data.respnse`; did you mean `response`?", 2),
    (Set, "data.blok=x", "config.json: unknown key `data.blok`; did you mean `block`?", 2),
    (Set, "permutation.priors=1", "config.json: unknown key `permutation.priors`; did you mean `prior`?", 2),
    (Set, r#"permutation.prior={"name":"beta"}"#, r#"config.json: `permutation.prior.name` is "beta"; the choices here are `beta_binomial`, `match_probability`, `uniform` and `hamming`"#, 2),
    (Set, r#"permutation.prior={"name":"uniform","theta":1}"#, r#"config.json: `permutation.prior` is {"name":"uniform","theta":1}; `uniform` has no `theta`; remove `theta` or choose another name"#, 2),
    (Set, r#"permutation.prior={"name":"hamming"}"#, r#"config.json: `permutation.prior.theta` is missing; add it, for example "theta": 3"#, 2),
    (Set, r#"permutation.update={"name":"activeset"}"#, r#"config.json: `permutation.update.name` is "activeset"; did you mean `active_set`?"#, 2),
    (Set, r#"permutation.update={"name":"active_set","steps":5}"#, r#"config.json: `permutation.update` is {"name":"active_set","steps":5}; `active_set` has no `steps`; remove `steps` or choose another name"#, 2),
    (Set, "permutation.feedback=some", r#"config.json: `permutation.feedback` is "some"; did you mean `none`?"#, 2),
    (Set, r#"model.family={"name":"normal"}"#, r#"config.json: `model.family.name` is "normal"; the choices here are `gaussian`, `asymmetric_laplace`, `student_t`, `robust`, `poisson`, `logistic`, `log_normal` and `stan`"#, 2),
    (Set, r#"model.family={"name":"student_t"}"#, r#"config.json: `model.family.nu` is missing; add it, for example "nu": 4"#, 2),
    (Set, "model.priors=wide", r#"config.json: `model.priors` is "wide"; the choices here are `scaled` and `paper`"#, 2),
    (Set, "model.outcome=counts", r#"config.json: `model.outcome` is "counts"; did you mean `count`?"#, 2),
    (Set, "model.stan=liner", r#"config.json: `model.stan` is "liner"; write a shipped model "#, 2),
    (Set, "model.stan=models/linear", r#"config.json: `model.stan` is "models/linear"; the path of a Stan program ends in .stan"#, 2),
    (Set, "model.stan=none.stan", "cannot read the Stan file none.stan: No such file or directory", 2),
    (Set, "sampler.metric=full", r#"config.json: `sampler.metric` is "full"; the choices here are `dense` and `diagonal`"#, 2),
    (Set, "sampler.trajectory=hmc", r#"config.json: `sampler.trajectory` is "hmc"; the choices here are `nuts` and `static`"#, 2),
    (Set, "data.missing=omit", r#"config.json: `data.missing` is "omit"; the choices here are `error` and `drop`"#, 2),
    (Set, r#"temperature="1/m""#, r#"config.json: `temperature` is "1/m"; write a number in (0, 1], "1/n" or {"stan": 1.0, "permutation": 0.5}"#, 2),
    (Set, "sampler.chains=0", "config.json: `sampler.chains` is 0; it must be 1 or more", 2),
    (Set, "sampler.chains=1000000000", "config.json: `sampler.chains` is 1000000000; it must be at most 10000", 2),
    (Set, "sampler.chains=9223372036854775808", "config.json: `sampler.chains` is 9223372036854775808; it must be at most 10000", 2),
    (Set, "sampler.chains=18446744073709551616", "config.json: `sampler.chains` is 1.8446744073709552e+19; write a whole number of 0 or more, without quotes", 2),
    (Set, "sampler.chains=-1", "config.json: `sampler.chains` is -1; write a whole number of 0 or more, without quotes", 2),
    (Set, "sampler.chains=2.5", "config.json: `sampler.chains` is 2.5; write a whole number of 0 or more, without quotes", 2),
    (Set, "sampler.draws=0", "config.json: `sampler.draws` is 0; it must be 1 or more", 2),
    (Set, "sampler.draws=18446744073709551615", "config.json: `sampler.draws` is 18446744073709551615; it must be at most 1000000000", 2),
    (Set, "sampler.warmup=10000000000", "config.json: `sampler.warmup` is 10000000000; it must be at most 1000000000", 2),
    (Set, "sampler.thin=0", "config.json: `sampler.thin` is 0; it must be 1 or more", 2),
    (Set, "sampler.thin=1000", "config.json: `sampler.thin` is 1000; it must be at most `sampler.draws`, which is 200", 2),
    (Set, "sampler.target_accept=1", "config.json: `sampler.target_accept` is 1; it must be between 0 and 1, both excluded", 2),
    (Set, "sampler.target_accept=1e999", r#"config.json: `sampler.target_accept` is "1e999"; write a number without quotes"#, 2),
    (Set, "sampler.max_depth=0", "config.json: `sampler.max_depth` is 0; it must be from 1 to 20", 2),
    (Set, "sampler.max_depth=21", "config.json: `sampler.max_depth` is 21; it must be from 1 to 20", 2),
    (Set, "sampler.seed=-1", "config.json: `sampler.seed` is -1; write a whole number of 0 or more, without quotes", 2),
    (Set, "sampler.seed=18446744073709551616", "config.json: `sampler.seed` is 1.8446744073709552e+19; write a whole number of 0 or more, without quotes", 2),
    (Set, "sampler.init=-1", "config.json: `sampler.init` is -1; it must be 0 or more", 2),
    (Set, "sampler.init=1000", "config.json: `sampler.init` is 1000; it must be at most 100, since a start so far away has no density", 2),
    (Set, "sampler.init=somewhere", r#"config.json: `sampler.init` is "somewhere"; write "auto", a number of 0 or more, an object of parameter values, or the path of a .json file of them"#, 2),
    (Set, "sampler.init=none.json", "cannot read `none.json`", 2),
    (Set, r#"sampler.init={"bta":[1,1],"sigma2":1}"#, "sampler.init has a value for `bta`, which is no parameter of linear.stan; did you mean `beta`?", 2),
    (Set, r#"sampler.init={"zzzzzz":1}"#, "sampler.init has a value for `zzzzzz`, which is no parameter of linear.stan; its parameters are `beta`, `sigma2`, `weight` and `y`", 2),
    (Set, "temperature=0", "config.json: `temperature` is 0; it must be above 0 and at most 1", 2),
    (Set, "temperature=2", "config.json: `temperature` is 2; it must be above 0 and at most 1", 2),
    (Set, "temperature=-1", "config.json: `temperature` is -1; it must be above 0 and at most 1", 2),
    (Set, r#"temperature={"stan":0}"#, "config.json: `temperature.stan` is 0; it must be above 0 and at most 1", 2),
    (Set, r#"likelihood_power={"permutation":2}"#, "config.json: `likelihood_power.permutation` is 2; it must be above 0 and at most 1", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","a":0}"#, "config.json: `permutation.prior.a` is 0; it must be above 0", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","a":1e18,"b":1e18}"#, "config.json: `permutation.prior.a` is 1000000000000000000; it must be from 1e-9 to 1e9", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","b":1e-300}"#, "config.json: `permutation.prior.b` is 1e-300; it must be from 1e-9 to 1e9", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","no_error":1}"#, r#"config.json: `permutation.prior.no_error` is 1; it must be 0 or more and below 1; to keep every link, write "update": {"name": "none"} in `permutation`"#, 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","audit":{"checked":10000000000000000,"wrong":1}}"#, "config.json: `permutation.prior.audit.checked` is 10000000000000000; it must be at most 1000000000", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","audit":{"checked":10,"wrong":11}}"#, "config.json: `permutation.prior.audit.wrong` is 11; it must be at most `checked`, which is 10", 2),
    (Set, r#"permutation.prior={"name":"beta_binomial","audit":{"checked":10,"wrong":1,"weight":2}}"#, "config.json: `permutation.prior.audit.weight` is 2; it must be above 0 and at most 1", 2),
    (Set, r#"permutation.prior={"name":"uniform","max_moved":1}"#, "config.json: `permutation.prior.max_moved` is 1; one row alone cannot move, so write 0, or 2 or more", 2),
    (Set, r#"permutation.prior={"name":"hamming","theta":-1}"#, "config.json: `permutation.prior.theta` is -1; it must be 0 or more", 2),
    (Set, r#"permutation.prior={"name":"hamming","theta":1e308}"#, r#"config.json: `permutation.prior.theta` is 1e308; it must be at most 1e6; to keep every link, write "update": {"name": "none"} in `permutation`"#, 2),
    (Set, r#"permutation.prior={"name":"match_probability"}"#, r#"config.json: `permutation.prior.name` is "match_probability"; name the column of these probabilities in `data.match_probability`, or choose another prior"#, 2),
    (Set, r#"permutation.update={"name":"checkerboard","steps":0}"#, "config.json: `permutation.update.steps` is 0; it must be 1 or more", 2),
    (Set, r#"permutation.update={"name":"checkerboard","steps":18446744073709551615}"#, "config.json: `permutation.update.steps` is 18446744073709551615; it must be at most 1000000000", 2),
    (Set, r#"model.family={"name":"quantile","tau":1}"#, r#"config.json: `model.family.name` is "quantile"; the choices here are `gaussian`, `asymmetric_laplace`, `student_t`, `robust`, `poisson`, `logistic`, `log_normal` and `stan`"#, 2),
    (Set, r#"model.family={"name":"student_t","nu":0}"#, "config.json: `model.family.nu` is 0; it must be above 0", 2),
    (Set, r#"model.data={"K":"three"}"#, r#"config.json: `model.data.K` is "three"; Stan data are numbers and lists of numbers"#, 2),
    (Set, r#"model.data={"N":3}"#, "model.data has an entry `N`, which unshuffle fills in itself; remove or rename it", 2),
    (Set, r#"model.data={"sigma2_scal":3}"#, "model.data has an entry `sigma2_scal`, which is not in the data block of linear.stan; did you mean `sigma2_scale`?", 2),
    (Set, "output=~/fits", r#"config.json: `output` is "~/fits"; only a shell knows what ~ stands for, so write the whole path"#, 2),
    (Formula, "y ~ Surv(x, y)", "data.formula is `y ~ Surv(x, y)`; at character 5 Surv(...) lists responses, so it stands alone left of `~` in data.formula", 2),
    (Formula, "Surv(y, y) ~ x", "data.formula has the response `y` twice; remove one of the two", 2),
    (Args, "convert a.csv b.csv c.csv --formula y~x --threshold nan", "invalid value 'nan' for '--threshold <P>': write a number of 0 or more and below 1", 2),
    (Set, "name=a/b", r#"config.json: `name` is "a/b"; it names a folder, so it cannot contain / or \; set "output" for another place"#, 2),
    (Set, r#"name="""#, "config.json: `name` is empty; fill it in or remove the key", 2),
    (Set, r#"name="..""#, r#"config.json: `name` is ".."; it names a folder, so it cannot contain / or \; set "output" for another place"#, 2),
    (Set, "sampler=4", r#"config.json: `sampler` is 4; write an object such as {"chains": 4, "draws": 1000}"#, 2),
    (Set, "data.file=12", "config.json: `data.file` is 12; write text in quotes", 2),
    (Set, r#"data.file="""#, "config.json: `data.file` is empty; fill it in or remove the key", 2),
    (Set, "data.predictors=x", r#"config.json: `data.predictors` is "x"; write a list such as ["educ", "exper"]"#, 2),
    (Set, "data.predictors=[]", r#"config.json: `data.predictors` is missing; add it, for example "predictors": ["educ", "exper"]"#, 2),
    (Set, "data.predictors=[3]", "config.json: `data.predictors[0]` is 3; write text in quotes", 2),
    (Set, r#"data.predictors=["x",""]"#, "config.json: `data.predictors[1]` is empty; fill it in or remove the key", 2),
    (Set, r#"data.predictors=["x","x"]"#, "data.predictors names `x` twice; remove one of the two", 2),
    (Set, r#"data.predictors=["y"]"#, "`y` is data.response and also in data.predictors; remove it from one of them", 2),
    (Set, r#"data.predictors=["zz"]"#, "data.csv: no column `zz` (data.predictors); the columns are `x` and `y`", 2),
    (Set, r#"data.response="""#, r#"config.json: `data.response` is missing; add it, for example "response": "log_wage""#, 2),
    (Set, "data.response=[]", "config.json: `data.response` is []; name one column or more", 2),
    (Set, r#"data.response=["y","y"]"#, "data.response has the response `y` twice; remove one of the two", 2),
    (Set, "data.response=yy", "data.csv: no column `yy` (data.response); did you mean `y`?", 2),
    (Set, "data.intercept=1", "config.json: `data.intercept` is 1; write true or false, without quotes", 2),
    (Set, "data.id=idd", "data.csv: no column `idd` (data.id); the columns are `x` and `y`", 2),
    (Set, "data.block=blok", "data.csv: no column `blok` (data.block); the columns are `x` and `y`", 2),
    (Set, "data.safe=zzz", "data.csv: no column `zzz` (data.safe); the columns are `x` and `y`", 2),
    (Set, "data.match_probability=p", "data.csv: no column `p` (data.match_probability); the columns are `x` and `y`", 2),
    (Set, "data.candidates=none.csv", "cannot find the data file none.csv; check data.candidates, which is relative to the config file", 2),
    (Set, "data.file=none.csv", "cannot find the data file none.csv; check data.file, which is relative to the config file", 2),
    (Set, "data.file=.", "cannot read .", 2),
    (Set, "data.left=data.csv", r#"config.json: `data.file` is "data.csv"; the data are one file or two, so remove it or remove data.left"#, 2),
    (Set, r#"data.reference={"x":"a"}"#, "data.reference names `x`, which is not a category among the predictors; remove it or write C(x)", 2),
    (Set, r#"output="""#, "config.json: `output` is empty; fill it in or remove the key", 2),
    (Set, "output=data.csv", r#"config.json: `output` is "data.csv"; that folder holds the data file, so choose a folder of its own"#, 2),
    (Set, "output=data.csv/a", "cannot write to data.csv/a (data.csv is not a folder); choose another `output`", 2),
    (Set, "output=.", r#"config.json: `output` is "."; that folder holds the data file, so choose a folder of its own"#, 2),
    (Set, "output=/proc/nothing/here", "cannot write to /proc/nothing/here", 2),
    (Set, "name=12", "config.json: `name` is 12; write text in quotes", 2),
    (Config, "", "config.json, line 1, column 0: not valid JSON, EOF while parsing a value; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Config, "{", "config.json, line 1, column 1: not valid JSON, EOF while parsing an object; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Config, "[1]", r#"config.json is [1]; write an object such as {"model": {...}, "data": {...}}"#, 2),
    (Config, r#""text""#, r#"config.json is "text"; write an object such as {"model": {...}, "data": {...}}"#, 2),
    (Config, "null", r#"config.json is null; write an object such as {"model": {...}, "data": {...}}"#, 2),
    (Config, r#"{"model": {"stan": "linear"},}"#, "config.json, line 1, column 30: not valid JSON, trailing comma; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Config, r#"{"model": 1, "model": 2}"#, "config.json, line 1, column 20: not valid JSON, key `model` is given twice; remove one of the two", 2),
    (Config, r#"{"sampler": {"draws": 1, "draws": 2}}"#, "config.json, line 1, column 32: not valid JSON, key `draws` is given twice; remove one of the two", 2),
    (Config, r#"{"sampler": {"init": 1e999}}"#, "config.json, line 1, column 26: not valid JSON, number out of range; write a number below 1e308", 2),
    (Config, "// a comment\n{}", "config.json, line 1, column 1: not valid JSON, expected value; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Config, "{}", r#"config.json: `model` is missing; add it, for example "model": {"stan": "linear"}"#, 2),
    (Config, r#"{"model": {"stan": "linear"}}"#, r#"config.json: `data` is missing; add it, for example "data": {"file": "wages.csv", "response": "log_wage", "predictors": ["educ", "exper"]}"#, 2),
    (Config, r#"{"model": {}, "data": {}}"#, r#"config.json: `model.stan` is missing; add it, for example "stan": "linear""#, 2),
    (Config, r#"{"data": {"file": "a.csv"}, "model": {"stan": "linear"}}"#, r#"config.json: `data.formula` is missing; add it, for example "formula": "log(wage) ~ educ + exper""#, 2),
    (Config, "{'model': 1}", "config.json, line 1, column 2: not valid JSON, key must be a string; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Config, "\u{0}", "config.json, line 1, column 1: not valid JSON, expected value; JSON has no comments, no comma after the last entry, and double quotes around text", 2),
    (Data, "", "data.csv is empty; it needs a header line with the column names and then one line for each row", 2),
    (Data, "\n\n", "data.csv is empty; it needs a header line with the column names and then one line for each row", 2),
    (Data, "x,y\n", "data.csv has a header line but no rows; add the data below it", 2),
    (Data, "x\ty\n1,2\n", "data.csv, line 2: 1 value where the header has 2 columns; give one value for each column, and put values that contain the separator (tab) in double quotes", 2),
    (Data, "x,x,y\n1,2,3\n", "data.csv, line 1: columns 1 and 2 are both named `x`; rename one of them", 2),
    (Data, "\"x,y\n<rows>", "data.csv, line 1: the name of column 1 does not end on this line; close the double quote that is open here", 2),
    (Data, "x,y\n1,2\n2,three\n", r#"data.csv, line 3: `y` is "three"; write a number"#, 2),
    (Data, "x,y\n1,2\n2\n", "data.csv, line 3: 1 value where the header has 2 columns; give one value for each column, and put values that contain the separator (`,`) in double quotes", 2),
    (Data, "x,y\n1,2\n2,3,4\n", "data.csv, line 3: 3 values where the header has 2 columns; give one value for each column, and put values that contain the separator (`,`) in double quotes", 2),
    (Data, "x,y\n1,2\n2,\n3,1\n4,2\n", r#"data.csv: missing values in `y` (1, first on line 3); fill them in, or leave such rows out with "missing": "drop" in the config's data"#, 2),
    (Data, "x,y\n1,NA\n2,NA\n", r#"data.csv: missing values in `y` (2, first on line 2); fill them in, or leave such rows out with "missing": "drop" in the config's data"#, 2),
    (Data, "x,y\n1,inf\n2,3\n3,4\n", r#"data.csv, line 2: `y` is "inf"; write a finite number or remove the row"#, 2),
    (Data, "x,y\n1,1e400\n2,3\n3,4\n", r#"data.csv, line 2: `y` is "1e400"; write a finite number or remove the row"#, 2),
    (Data, "x,y\n1,2\n", "data.csv has 1 row for 2 coefficients (with the intercept); add rows or remove predictors until there are more rows than coefficients", 2),
    (Data, "x,y\n1,2\n2,3\n", "data.csv has 2 rows for 2 coefficients (with the intercept); add rows or remove predictors until there are more rows than coefficients", 2),
    (Data, "x,y\n1,2\n1,3\n1,5\n1,6\n", "data.csv: `x` (data.predictors) is 1 in every row; remove it, since the intercept already stands for a constant", 2),
    (Data, "x,y\n1,2\n2,2\n3,2\n4,2\n", "data.csv: `y` (data.response) is 2 in every row; choose a response that varies", 2),
    (Data, "x,y\n\"1,2\n2,3\n3,4\n4,5\n5,6\n6\",7\n7,8\n8,9\n9,1\n", "data.csv, line 2: a value in double quotes goes on over lines that look like rows; close the double quote that is open here, or remove it", 2),
    (Data, "x;y\n1,5;2,5\n2;3\n3;4\n", r#"data.csv, line 2: `y` is "2,5"; write decimals with a point (1.5, not 1,5) and no separator of thousands"#, 2),
    (Data, "X,Y\n<rows>", "data.csv: no column `y` (data.response); did you mean `Y`?", 2),
    (Data, "x\u{1b}[31m,y\n<rows>", "data.csv: no column `x` (data.predictors); the columns are `x\u{241b}[31m` and `y`", 2),
    (Data, "x,y\n1,\u{1b}[2J\n2,3\n", "data.csv, line 2: `y` is \"\u{241b}[2J\"; write a plain number such as 1.5, without units", 2),
    (Data, "x,y\n1,0x10\n2,3\n", r#"data.csv, line 2: `y` is "0x10"; write a plain number such as 1.5, without units"#, 2),
    (Data, "x,y\n1,\"1,000\"\n2,3\n", r#"data.csv, line 2: `y` is "1,000"; write decimals with a point (1.5, not 1,5) and no separator of thousands"#, 2),
    (Data, "x,y\n1,2\n2,\n3,\n|data.missing=drop", "data.csv has 1 row for 2 coefficients (with the intercept); add rows or remove predictors until there are more rows than coefficients", 2),
    (Data, "x,y,m\n0,0,1\n1,1,0.5\n2,4,2\n3,2,0.5\n4,2,1\n|data.match_probability=m", r#"data.csv, line 4: `m` is "2"; write a probability, above 0 and at most 1"#, 2),
    (Data, "x,y,s\n0,0,yes\n1,1,no\n2,4,maybe\n3,2,no\n4,2,no\n|data.safe=s", r#"data.csv, line 4: `s` is "maybe"; write true or false, 1 or 0, yes or no"#, 2),
    (Data, "x,y\n0,0.5\n1,1.5\n2,4.5\n3,2.5\n4,2.5\n5,4.5\n6,1.5\n7,0.5\n|model.stan=poisson", "data.csv, row 1: `y` is 0.5, but for the model poisson it must be a count (0, 1, 2, ...); correct it, or choose another model.stan", 2),
    (Data, "x,y\n0,0\n1,1\n2,2\n3,0\n4,1\n5,2\n6,0\n7,1\n|model.stan=logistic", "data.csv, row 3: `y` is 2, but for the model logistic it must be 0 or 1; correct it, or choose another model.stan", 2),
    (Data, "x,y\n0,-3\n1,-2\n2,-1\n3,0\n4,1\n5,2\n6,3\n7,4\n|model.stan=gamma", "data.csv, row 1: `y` is -3, but for the model gamma it must be above 0; correct it, or choose another model.stan", 2),
    (Data, "x,y\n1,1e300\n2,-2e300\n3,4\n4,5\n", "data.csv: the largest value of `y` (data.response) is 2e300; choose a unit in which it is between 1e-100 and 1e100", 2),
    (Data, "x,y\n1e-310,1\n2e-310,2\n3e-310,4\n", "data.csv: the largest value of `x` (data.predictors) is 3e-310; choose a unit in which it is between 1e-100 and 1e100", 2),
    (Formula, "y", "data.formula is `y`; at character 2 an operator or `~` was expected, but the text ends there", 2),
    (Formula, "y ~", "data.formula is `y ~`; at character 4 a column, a function such as log(x), or I(...) was expected, but the text ends there", 2),
    (Formula, "~ x", "data.formula is `~ x`; at character 1 a column, a number or a function such as log(x) was expected, not `~`", 2),
    (Formula, "y ~ x +", "data.formula is `y ~ x +`; at character 8 a column, a function such as log(x), or I(...) was expected, but the text ends there", 2),
    (Formula, "y ~ x - zzz", "data.formula is `y ~ x - zzz`; at character 9 `zzz` is taken away, but it is not among the terms before it", 2),
    (Formula, "y ~ x - x", "data.formula has no predictor; add a column", 2),
    (Formula, "y ~ zz", "data.csv: no column `zz` (data.formula); the columns are `x` and `y`", 2),
    (Formula, "y ~ x + y", "`y` stands on both sides of data.formula; remove it from one of them", 2),
    (Formula, "y ~ lg(x)", "data.formula is `y ~ lg(x)`; at character 5 `lg` is no function here; did you mean `log`?", 2),
    (Formula, "y ~ log(x)", "data.csv, line 2: `log(x)` needs log(-1.4), which is not a finite number; correct the row or leave it out", 2),
    (Formula, "y ~ x / 2", "data.formula is `y ~ x / 2`; at character 7 `/` is arithmetic, which stands inside I(...), such as I(x / 2)", 2),
    (Formula, "y ~ x^0", "data.formula is `y ~ x^0`; at character 7 a whole number of 1 or more was expected, not `0`", 2),
    (Formula, "y ~ x ~ x", "data.formula is `y ~ x ~ x`; at character 7 an operator such as `+`, or the end, was expected, not `~`", 2),
    (Formula, "y ~ (x", "data.formula is `y ~ (x`; at character 7 an operator such as `+`, or `)`, was expected, but the text ends there", 2),
    (Formula, "y ~ x)", "data.formula is `y ~ x)`; at character 6 an operator such as `+`, or the end, was expected, not `)`", 2),
    (Formula, "y ~ `x", "data.formula is `y ~ `x`; at character 5 the backtick is not closed", 2),
    (Formula, "y ~ x; rm", "data.formula is `y ~ x; rm`; at character 6 `;` has no meaning; put the name of a column that has such characters in backticks", 2),
    (Formula, "y ~ 5", "data.formula is `y ~ 5`; at character 5 `5` is arithmetic, which stands inside I(...), such as I(x / 2)", 2),
    (Formula, "1 ~ x", "data.formula has the response `1`, in which there is no column; name the column of the response", 2),
    (Formula, "y ~ C(log(x))", "data.formula is `y ~ C(log(x))`; at character 10 `)` was expected, not `(`", 2),
    (Formula, "cbind(y, y) ~ x", "data.formula has the response `y` twice; remove one of the two", 2),
    (Formula, "y ~ cbind(x)", r#"data.formula is `y ~ cbind(x)`; at character 5 cbind(...) lists responses, so it stands alone left of `~` in data.formula; data.response takes a list such as ["food", "rent"]"#, 2),
    (Formula, "y ~ I(1/0*x)", "data.csv, line 2: `I(1 / 0 * x)` needs 1 / 0, which is not a finite number; correct the row or leave it out", 2),
    (Formula, "y ~ x + I(2*x)", "data.csv: `I(2 * x)` is a linear combination of `x`, so their coefficients cannot be told apart; remove one of these columns from data.formula", 2),
    (Candidates, "row,partner\n", "pairs.csv has a header line but no rows; add the data below it", 2),
    (Candidates, "row,partner\n1,1\n", r#"pairs.csv, line 2: `partner` is "1"; a row's own link is always possible, so remove the line"#, 2),
    (Candidates, "row,partner\n1,2\n1,2\n", r#"pairs.csv, lines 2 and 3: `row` is "1" with `partner` "2" in both; remove one of them"#, 2),
    (Candidates, "row,partner\n1,99\n", r#"pairs.csv, line 2: `partner` is "99"; without data.id, write the number of a row of the data, from 1 to 20"#, 2),
    (Candidates, "row,partner\na,2\n", r#"pairs.csv, line 2: `row` is "a"; without data.id, write the number of a row of the data, from 1 to 20"#, 2),
    (Candidates, "row,partner,wieght\n1,2,5\n", "pairs.csv, line 1: the column `wieght` has no meaning in data.candidates; call it `weight`, or give it another name if it is something else", 2),
    (Candidates, "row,partner,weights\n1,2,5\n", "pairs.csv, line 1: the column `weights` has no meaning in data.candidates; call it `weight`, or give it another name if it is something else", 2),
    (Candidates, "row,partner,weight\n1,2,1e308\n", r#"pairs.csv, line 2: `weight` is "1e308"; write a number from 1e-100 to 1e100; only the ratios of a row's weights matter"#, 2),
    (Candidates, "row,partner,weight\n1,2,1e-300\n", r#"pairs.csv, line 2: `weight` is "1e-300"; write a number from 1e-100 to 1e100; only the ratios of a row's weights matter"#, 2),
    (Candidates, "row,partner,weight\n1,2,0\n", r#"pairs.csv, line 2: `weight` is "0"; write a number above 0, or remove a pair that is impossible"#, 2),
    (Candidates, "row,partner,weight\n1,2,-1\n", r#"pairs.csv, line 2: `weight` is "-1"; write a number above 0, or remove a pair that is impossible"#, 2),
    (Candidates, "row,partner,weight\n1,2,\n", r#"pairs.csv, line 2: `weight` is ""; write a number above 0"#, 2),
    (Candidates, "row,partner,weight\n1,2,much\n", r#"pairs.csv, line 2: `weight` is "much"; write a number"#, 2),
    (Candidates, "rows,partner\n1,2\n", "pairs.csv: no column `row` (data.candidates); did you mean `rows`?", 2),
    (Candidates, "row\n1\n", "pairs.csv: no column `partner` (data.candidates); the header is the one column `row`, so separate columns by commas, semicolons or tabs", 2),
    (Candidates, "", "pairs.csv is empty; it needs a header line with the column names and then one line for each row", 2),
    (Pool, "set,name,estimate,standard_error,variance\n1,a,1,2,9\n2,a,1,2,4\n", r#"e.csv, line 2: `standard_error` is "2"; the square of it is not `variance`, which is 9; remove the column that is wrong"#, 2),
    (Pool, "set,name,estimate\n1,a,1\n", "e.csv: no column `standard_error` (needed by unshuffle pool); the columns are `set`, `name` and `estimate`", 2),
    (Pool, "set,name,estimate,variance\n1,a,1,-1\n", r#"e.csv, line 2: `variance` is "-1"; write a number of 0 or more"#, 2),
    (Pool, "set,name,estimate,variance\n1,a,nan,1\n", r#"e.csv, line 2: `estimate` is "nan"; write a number"#, 2),
    (Pool, "set,name,estimate,variance\n1,a,1,1\n", "e.csv: `a` stands in one set only; pool estimates of at least two completed data sets", 2),
    (Pool, "set,name,estimate,variance\n1,a,1,1\n1,a,2,1\n", "e.csv: `a` stands twice in set 1; remove one of the two", 2),
    (Pool, "set,name,estimate,variance\n1,a,1,1\n2,a,2,1\n1,b,2,1\n", "e.csv: `b` stands in 1 sets, but `a` in 2; give an estimate of each in every set", 2),
    (Pool, "set,name,estimate,variance\n", "e.csv has a header line but no rows; add the data below it", 2),
    (Pool, "", "e.csv is empty; it needs a header line with the column names and then one line for each row", 2),
    (Pool, "set,name,estimate,variance,df_complete\n1,a,1,1,0\n2,a,1,1,5\n", r#"e.csv, line 2: `df_complete` is "0"; write a number above 0, or nothing for a large sample"#, 2),
    (Args, "fit config.json --threads 0", "invalid value '0' for '--threads <N>': write 1 or more", 2),
    (Args, "study study.json --jobs 0", "invalid value '0' for '--jobs <N>': write 1 or more", 2),
    (Args, "simulate --design paper --n 1000000000000 --output zz", "--n is 1000000000000; rows times predictors can be at most 100000000", 2),
    (Args, "simulate --design general --n 18446744073709551615 --predictors 2 --output zz", "--n is 18446744073709552000; rows times predictors can be at most 100000000", 2),
    (Args, "simulate --design general --n 100 --predictors 18446744073709551615 --output zz", "--predictors is 18446744073709552000; rows times predictors can be at most 100000000", 2),
    (Args, "simulate --design general --n 100 --output zz", "this design needs --predictors, their number", 2),
    (Args, "simulate --design paper --n 3 --output zz", "--n is 3, which is too small: this design needs at least 21 rows", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --mislinked 1.5 --output zz", "--mislinked is 1.5; it is a fraction, from 0 to 1", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --mislinked nan --output zz", "--mislinked is NaN; it is a fraction, from 0 to 1", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --r2 0 --output zz", "--r2 is 0; it must be above 0 and at most 1", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --sigma -1 --output zz", "unexpected argument '-1' found", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --kind blocks --blocks 0 --output zz", "--blocks is 0; there must be at least one", 2),
    (Args, "simulate --design general --n 50 --predictors 0 --output zz", "--predictors is 0; there must be at least one", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --beta 1e308 --x-scale 1e308 --output zz", "these settings make responses that are too large for a number; choose a smaller --x-scale, --beta, --intercept or --sigma", 2),
    (Args, "summary none", "cannot read none: No such file or directory", 2),
    (Args, "summary .", ". has no draws_<chain>.csv: it is not the output of a fit", 2),
    (Args, "diagnose none", "cannot read none: No such file or directory", 2),
    (Args, "report none", "cannot read none: No such file or directory", 2),
    (Args, "export none", "cannot read none: No such file or directory", 2),
    (Args, "predict none data.csv", "cannot read none: No such file or directory", 2),
    (Args, "pool none.csv", "cannot find none.csv; give a CSV file with columns set, name, estimate and standard_error", 2),
    (Args, "compile none.stan", "cannot read the Stan file none.stan: No such file or directory", 2),
    (Args, "compile linaer", "cannot read the Stan file linaer: No such file or directory", 2),
    (Args, "adopt none.stan", "the following required arguments were not provided:", 2),
    (Args, "init out2 --model cubic", "there is no shipped model `cubic`: choose one of linear, quantile, student_t, robust, multivariate, mean_shift, poisson, logistic, negative_binomial, gamma, log_normal, hierarchical, weibull_survival, log_normal_survival", 2),
    (Args, "check none.json", "cannot read `none.json`", 2),
    (Args, "check .", "cannot read `.`", 2),
    (Args, "study none.json", "cannot read `none.json`", 2),
    (Args, "fit config.json --truth none.json", "cannot read none.json: No such file or directory", 2),
    (Args, "assess none.json", "cannot read `none.json`", 2),
    (Args, "fit config.json --threads x", "invalid value 'x' for '--threads <N>': invalid digit found in string", 2),
    (Args, "nonsense", "unrecognized subcommand 'nonsense'", 2),
    (Args, "fit", "the following required arguments were not provided:", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"ls": {"baseline": "least_squares"}}, "repeats": 0}"#, "study.json: `repeats` is 0; it must be 1 or more", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"ls": {"baseline": "least_squares"}}, "repeats": 1000000000000}"#, "study.json: `repeats` is 1000000000000; it must be at most 1000000", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"ls": {"baseline": "least_squares"}}, "repeats": [1]}"#, "study.json: `repeats` is [1]; write a whole number of 0 or more, without quotes", 2),
    (Study, r#"{"methods": {"ls": {"baseline": "least_squares"}}}"#, r#"study.json: `data` is missing; add it, for example "data": {"design": "paper", "n": 100}"#, 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}}"#, r#"study.json: `methods` is missing; add it, for example "methods": {"huber": {"baseline": "huber"}}"#, 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {}}"#, "study.json: `methods` is {}; name at least one", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": [1]}"#, r#"study.json: `methods` is [1]; write an object such as {"huber": {"baseline": "huber"}}"#, 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"a": {"baseline": "lasso"}}}"#, r#"study.json: `methods.a.baseline` is "lasso"; the choices here are `least_squares`, `huber`, `mixture`, `quantile`, `known_rate` and `robust_mixture`"#, 2),
    (Study, r#"{"data": {"design": "paper"}, "methods": {"ls": {"baseline": "least_squares"}}}"#, r#"study.json: `data.n` is missing; add it, for example "n": 100"#, 2),
    (Study, r#"{"data": {"design": "papers", "n": 10}, "methods": {"ls": {"baseline": "least_squares"}}}"#, r#"study.json: `data.design` is "papers"; did you mean `paper`?"#, 2),
    (Study, r#"{"data": {"design": "paper", "n": 1000000000000000}, "methods": {"ls": {"baseline": "least_squares"}}}"#, "study.json: data.n is 1000000000000000; rows times predictors can be at most 100000000", 2),
    (Study, r#"{"data": ["paper", 100], "methods": {"ls": {"baseline": "least_squares"}}}"#, r#"study.json: `data` is ["paper",100]; write an object, which is keys and values in braces"#, 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"ls": {"baseline": "least_squares"}}, "sampler": {"seed": 1}}"#, "study.json: `sampler.seed` is given; every fit has a seed of its own, hashed from `seed`; remove it", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"ls": {"baseline": "least_squares"}}, "jobs": 0}"#, "study.json: `jobs` is 0; it must be 1 or more, or left out", 2),
    (Study, r#"{"data": {"design": "general", "n": 100, "predictors": 2, "mislinked": 2}, "methods": {"ls": {"baseline": "least_squares"}}}"#, "study.json: data.mislinked is 2; it is a fraction, from 0 to 1", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"a": {"sampler": [1]}}}"#, "study.json: `methods.a.sampler` is 1; write an object, which is keys and values in braces", 2),
    (Study, r#"{"data": {"design": "paper", "n": 100}, "methods": {"a": [1]}}"#, r#"study.json: `methods.a` is 1; write an object such as {"baseline": "huber"} or {"temperature": 0.5}"#, 2),
    (Stan, "parameters {\n  real x\n}\n", "Syntax error in 'm.stan', line 3, column 0 to column 1, parsing error:", 2),
    (Stan, "model {}\n", "m.stan has no parameter `y`: declare `vector[N] y;` (for a list of responses `matrix[N, K] y;`) in `parameters`, or name your own block in the config's model.response", 2),
    (Stan, "functions {\n#include none.stan\n}\n", "m.stan, line 2: cannot find the included file `none.stan`", 2),
    (Stan, "", "m.stan has no parameter `y`: declare `vector[N] y;` (for a list of responses `matrix[N, K] y;`) in `parameters`, or name your own block in the config's model.response", 2),
    (Stan, "data { int N; int D; matrix[N, D] X; real alpha; }\nparameters { vector[N] y; vector[D] beta; real<lower=0> sigma2; }\nmodel {\n#include a,b.stan\n}\n", "m.stan, line 4: cannot find the included file `a,b.stan`", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --sigma=-1 --output zz", "--sigma is -1; it must be 0 or more", 2),
    (Args, "simulate --design general --n 50 --predictors 2 --r2 0.5 --sigma 1 --output zz", "--r2 and --sigma both set the scale of the errors; remove one of them", 2),
    (Args, "simulate --design paper --n 50 --mislinked 0.2 --output zz", "--mislinked does not apply to --design paper; remove it", 2),
    (Args, "adopt none.stan --response y", "cannot read the Stan file none.stan: No such file or directory", 2),
    (Set, r#"model.data={"K":null}"#, "config.json: `model.data.K` is null; Stan data are numbers and lists of numbers", 2),
    (Set, "sampler.standardise=1", "config.json: `sampler.standardise` is 1; write true or false, without quotes", 2),
    (Set, r#"data.reference={"x":1}"#, "config.json: `data.reference.x` is 1; write text in quotes", 2),
    (Set, r#"permutation.prior={"name":"hamming","theta":1e7}"#, r#"config.json: `permutation.prior.theta` is 10000000; it must be at most 1e6; to keep every link, write "update": {"name": "none"} in `permutation`"#, 2),
    (Data, "x,y,z\n1,2,\u{1b}]0;title\u{7}\n2,3,4\n3,5,6\n|data.predictors=[\"x\",\"z\"]", "data.csv, line 2: `z` is \"\u{241b}]0;title\u{2407}\"; write a plain number such as 1.5, without units, or C(z) if it is a category", 2),
    (Data, "PK\u{3}\u{4}xl/workbook.xml", r#"data.csv is an Excel workbook or a zip archive; save the table as "CSV UTF-8", and name that file"#, 2),
    (Data, "PAR1\u{15}", r#"data.csv is a Parquet file; save the table as "CSV UTF-8", and name that file"#, 2),
    (Data, "BZh91AY", "data.csv is compressed (bzip2); unpack it, and name the unpacked file", 2),
    (Data, "\u{0}x\u{0},\u{0}y\u{0}\n\u{0}1\u{0},\u{0}2\u{0}\n", r#"data.csv is UTF-16 text, not UTF-8; save the table as "CSV UTF-8", and name that file"#, 2),
    (Data, "cafe\u{301},y\n<rows>|data.predictors=[\"caf\u{e9}\"]", "did you mean `cafe\u{301}`? Its accents are other characters (Unicode NFC or NFD), so copy the name from the file", 2),
    (Config, r#"{"temperature": NaN}"#, "config.json, line 1, column 17: not valid JSON, expected value; JSON has no NaN and no Infinity: write a finite number, or leave the key out", 2),
    (Config, r#"{"temperature": -Infinity}"#, "JSON has no NaN and no Infinity: write a finite number, or leave the key out", 2),
    (Config, "{\"sampler\":\n  {\"standardise\": True}}", "config.json, line 2, column 19: not valid JSON, expected value; JSON writes true, false and null in small letters", 2),
    (Args, "summary config.json", "config.json has no fit yet: there is no folder out; run `unshuffle fit config.json` first", 2),
    (Args, "diagnose data.csv", "data.csv is a file where a folder is needed; name the output folder of a fit, or its config (.json)", 2),
    (Args, "report data.csv", "data.csv is a file where a folder is needed; name the output folder of a fit, or its config (.json)", 2),
    (Args, "fit config.json --set output=data.csv/a", "cannot write to data.csv/a (data.csv is not a folder); choose another `output`", 2),
    (Args, "fit config.json --resume --set output=data.csv/a", "cannot write to data.csv/a (data.csv is not a folder); choose another `output`", 2),
    (Args, "fit config.json --set output=/proc/nothing", "cannot write to /proc/nothing (", 2),
    (Args, "fit plan config.json --set output=/proc/nothing", "cannot write to /proc/nothing (", 2),
    (Config, "{\"model\": {\"stan\": \"li\nnear\"}}", r#"config.json, line 2, column 0: not valid JSON, control character (\u0000-\u001F) found while parsing a string; JSON has no comments, no comma after the last entry, and double quotes around text"#, 2),
    (Set, "temperature=1e-300", "config.json: `temperature` is 1e-300; it must be 1e-9 or more, since a smaller power leaves nothing of the likelihood", 2),
    (Set, r#"likelihood_power={"permutation":1e-10}"#, "config.json: `likelihood_power.permutation` is 0.0000000001; it must be 1e-9 or more, since a smaller power leaves nothing of the likelihood", 2),
    (Data, "x,y,k\n0,0,a\n1,1,b\n2,4,\n3,2,a\n4,2,\n|data.id=k", r#"data.csv, lines 2 and 5: `k` is "a" in both; data.id tells the rows of the results apart, so correct one of them, name another column, or remove data.id"#, 2),
    (Set, "data.file=/dev/zero", "/dev/zero is a pipe or a device, and the data of a fit are read more than once; save them as a file", 2),
    (Set, "data.candidates=/dev/zero", "/dev/zero is a pipe or a device, and the data of a fit are read more than once; save them as a file", 2),
    (Args, "check /dev/zero", "cannot read `/dev/zero` (it is a device and no file); check the path", 2),
    (Args, "study /dev/zero", "cannot read `/dev/zero` (it is a device and no file); check the path", 2),
    (Args, "check huge.json", "cannot read `huge.json` (it has more than 64 MB); check the path", 2),
    (Args, "compile /dev/zero", "cannot read the Stan file /dev/zero: it is a device and no file", 2),
    (Args, "fit config.json --truth /dev/zero", "cannot read /dev/zero: it is a device and no file", 2),
    (Args, "pool /dev/zero", "cannot read /dev/zero (it is a device and no file)", 2),
    (Args, "init out2 --from /dev/zero", "cannot read /dev/zero (it is a device and no file); --from must be a CSV file that you may read", 2),
    (Args, "init out2 --from none.csv", "cannot find none.csv; check the path behind --from", 2),
    (Args, "convert none.csv data.csv data.csv --formula y~x", "cannot find none.csv, the left file; check its path", 2),
    (Args, "convert data.csv none.csv data.csv --formula y~x", "cannot find none.csv, the right file; check its path", 2),
    (Args, "convert data.csv data.csv none.csv --formula y~x", "cannot find none.csv, the file of pairs; check its path", 2),
    (Pool, "set,name,estimate,variance\n1,a,1.5e308,1\n2,a,-1.5e308,1\n", "e.csv: the pooled variance or interval of `a` is too large for a number; write its estimates in another unit", 2),
    (Pool, "set,name,estimate,variance\n1,a,1,1.5e308\n2,a,2,1.5e308\n3,a,1e154,1.5e308\n", "e.csv: the pooled variance or interval of `a` is too large for a number; write its estimates in another unit", 2),
    (Pool, "set,name,estimate,standard_error\n1,a,1,1e200\n2,a,1,1\n", r#"e.csv, line 2: `standard_error` is "1e200"; choose a unit in which it is between 1e-150 and 1e150, or write 0"#, 2),
    (Pool, "set,name,estimate,standard_error\n1,a,1,1\n2,a,1,1e-200\n", r#"e.csv, line 3: `standard_error` is "1e-200"; choose a unit in which it is between 1e-150 and 1e150, or write 0"#, 2),
    (Pool, "set,name,estimate,variance,df_complete\n1,a,1,0,10\n2,a,2,0,10\n", "e.csv: the variances of `a` are 0 or almost 0 but its estimates differ, so `df_complete` leaves no degrees of freedom; correct the variances, or remove `df_complete`", 2),
    (Args, "check config.json --set data.file=huge.json", "huge.json takes more memory than ", 2),
    (Args, "check config.json --set data.candidates=huge.json", " which is all that is free; data.candidates must be a file that has an end and fits into memory, so leave out rows and columns that are not needed, or use a machine with more memory", 2),
    (Args, "pool huge.json", "the file of estimates must be a file that has an end and fits into memory", 2),
    (Args, "init out2 --from huge.json", "--from must be a file that has an end and fits into memory", 2),
    (Args, "convert data.csv data.csv huge.json --formula y~x", "the file of pairs must be a file that has an end and fits into memory", 2),
    (Args, "pool .", "cannot read . (Is a directory (os error 21)); the file of estimates must be a CSV file that you may read", 2),
    (Args, "export none", "name the output folder of a fit, or its config (.json)", 2),
    (Args, "predict none data.csv", "name the output folder of a fit, or its config (.json)", 2),
    (Args, "init data.csv", "cannot write to data.csv: a file stands where a folder is needed; choose another folder", 2),
    (Args, "man data.csv/man", "cannot write to data.csv/man: a file stands where a folder is needed; choose another folder", 2),
    (Args, "simulate --design paper --n 100 --output data.csv", "cannot write to data.csv: a file stands where a folder is needed; choose another folder", 2),
    (Set, "sampler.init=none.json", "cannot read `none.json` (No such file or directory (os error 2)); check sampler.init", 2),
    (Set, r#"sampler.init={"beta":[1],"sigma2":1}"#, "; correct the starting values in the config's sampler.init", 2),
    (Pool, "set,name,estimate,variance\n1,,1,1\n2,,1,1\n", r#"e.csv, line 2: `name` is ""; write the name of the coefficient"#, 2),
];

/// Formulas that would overflow a stack if they were read to their end.
fn deep_formulas() -> Vec<String> {
    let nested = |open: &str, count: usize| {
        let (open, close) = (open.repeat(count), ")".repeat(count));
        format!("{open}x{close}")
    };
    vec![
        format!("y ~ I({})", nested("(", 20_000)),
        format!("y ~ {}", nested("(", 20_000)),
        format!("y ~ {}", nested("log(", 20_000)),
        format!("{} ~ x", nested("exp(", 20_000)),
        format!("y ~ I({}x)", "-".repeat(100_000)),
        format!("y ~ I({}x)", "+".repeat(100_000)),
        format!("y ~ I(x{})", "^2".repeat(20_000)),
        format!("y ~ I(x{})", "+1".repeat(100_000)),
        format!("y ~ I(x{})", "/2".repeat(100_000)),
    ]
}

/// Runs the binary on one bad input in `project`, which is as new; returns its exit code and stderr.
fn run(project: &Project, kind: Input, input: &str) -> (Option<i32>, String) {
    project.configure(&[]);
    let good = csv_of(&rows());
    project.write("data.csv", &good);
    let mut args = vec!["check", "config.json"];
    match kind {
        Set => args.extend(["--set", input]),
        Config => drop(project.write("config.json", input)),
        Data => {
            let (text, set) = input.split_once('|').unwrap_or((input, ""));
            let good_rows = good.split_once('\n').unwrap().1;
            project.write("data.csv", &text.replace("<rows>", good_rows));
            if !set.is_empty() {
                args.extend(["--set", set]);
            }
        }
        Formula => {
            let data = json!({"file": "data.csv", "formula": input});
            project.configure(&[("data", data)]);
        }
        Candidates => {
            project.write("pairs.csv", input);
            args.extend(["--set", "data.candidates=pairs.csv"]);
        }
        Stan => {
            project.write("m.stan", input);
            args.extend(["--set", "model.stan=m.stan"]);
        }
        Pool => {
            project.write("e.csv", input);
            args = vec!["pool", "e.csv"];
        }
        Study => {
            project.write("study.json", input);
            args = vec!["study", "plan", "study.json"];
        }
        Args => args = input.split(' ').collect(),
    }
    let output = project.unshuffle(&args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let folder = format!("{}/", project.path("").display()).replace("//", "/");
    (output.status.code(), stderr.replace(&folder, ""))
}

/// What is wrong with the end of a run, if anything.
fn problem(kind: Input, ended: &(Option<i32>, String), says: &str, code: i32) -> Option<String> {
    let (found, stderr) = ended;
    // clap and stanc have more to say.
    // With an empty cache another test may be compiling the same program.
    let sentences = stderr.trim_end().lines();
    let sentences = sentences.filter(|line| !line.starts_with("Waiting for another process"));
    let is_one_sentence = matches!(kind, Args | Stan) || sentences.count() == 1;
    let has_controls = stderr.chars().any(|c| c.is_control() && c != '\n');
    let panicked = ["panicked", "RUST_BACKTRACE", "overflowed its stack"];
    let panicked = panicked.iter().any(|word| stderr.contains(word));
    let as_expected = *found == Some(code) && stderr.contains(says);
    let good = as_expected && is_one_sentence && !has_controls && !panicked;
    (!good).then(|| format!("{found:?} {stderr:.600}"))
}

#[test]
fn every_bad_input_is_one_sentence_and_an_exit_code() {
    assert!(ROWS.len() >= 200, "{} rows", ROWS.len());
    let project = Project::new(&[]);
    // Terabytes that are not on the disk.
    let huge = fs::File::create(project.path("huge.json")).unwrap();
    huge.set_len(1 << 42).unwrap();
    let mut wrong = Vec::new();
    for &(kind, input, says, code) in ROWS {
        let ended = run(&project, kind, input);
        if let Some(problem) = problem(kind, &ended, says, code) {
            wrong.push(format!(
                "{kind:?} {input}\n  expected {code} {says}\n  found {problem}"
            ));
        }
    }
    assert!(
        !project.path("out").exists(),
        "a bad input leaves no output"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} bad inputs", ROWS.len());
}

#[test]
fn deep_formulas_end_with_a_sentence_and_not_with_the_stack() {
    let project = Project::new(&[]);
    for formula in deep_formulas() {
        let ended = run(&project, Formula, &formula);
        let found = problem(Formula, &ended, "more than 500", 2);
        assert_eq!(found, None, "{formula:.40}");
    }
    let brackets = "[".repeat(100_000);
    let ended = run(&project, Config, &brackets);
    let says = "recursion limit exceeded; write fewer brackets inside one another";
    assert_eq!(problem(Config, &ended, says, 2), None);
    // As deep as a person would write.
    let formula = format!("y ~ I({}x{})", "(".repeat(100), ")".repeat(100));
    let (code, stderr) = run(&project, Formula, &formula);
    assert_eq!(code, Some(0), "{stderr}");
}
