use std::process::ExitCode;

fn main() -> ExitCode {
    unshuffle::main()
}
