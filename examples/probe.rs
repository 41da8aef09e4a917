use unshuffle::*;
fn main() {
    for folder in std::env::args().skip(1) {
        let folder = std::path::PathBuf::from(folder);
        let out = folder.join("out");
        let config = config::load(&out.join("config.json"), &[], &stan::shipped_names()).unwrap();
        let data = fit::read_data(&config).unwrap();
        let space = fit::link_space(&data);
        let chains = draws::read_output(&out).unwrap();
        let p_moved: Vec<f64> = csv::Reader::from_path(out.join("rows.csv")).unwrap().deserialize::<std::collections::HashMap<String,String>>().map(|r| r.unwrap()["p_moved"].parse().unwrap()).collect();
        let start = std::time::Instant::now();
        let p = trust::Fit { config: &config, data: &data, space: &space, chains: &chains, p_moved: &p_moved }.p_values();
        let seconds = start.elapsed().as_secs_f64();
        let text: Vec<String> = p.iter().map(|(a, p)| format!("{a:?}={:.4}", p.unwrap_or(f64::NAN))).collect();
        println!("{} {} sec={seconds:.2}", folder.file_name().unwrap().to_string_lossy(), text.join(" "));
    }
}
