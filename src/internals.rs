//! What this repository's own tests, benches and pages use besides the library's interface. It may change without notice:
//! nothing else should use it. Rooms are private, so an item that is neither here, nor in the interface, nor used by another
//! room is reported as dead code.

pub mod after {
    pub mod predict {
        pub use crate::after::predict::Prediction;
    }
}

pub mod baseline {
    pub use crate::baseline::compare::read_truth;
    pub use crate::baseline::{Baseline, least_squares};
}

pub mod config {
    pub use crate::config::{Config, Data, DataSource, Sampler, load, of_arrays, parse, schema};
}

pub mod data {
    pub use crate::data::{Blocks, Dataset, Notes, read};
}

pub mod fit {
    pub use crate::fit::{
        CHECKPOINT_EVERY, Existing, FitOptions, Prepared, Program, prepare, prepare_with, read_data,
    };
}

pub mod model {
    pub use crate::model::{
        Family, ModelError, Outputs, Pairs, StanModel, StanPairs, Standardised, ThetaGivenPi,
    };

    pub mod stan {
        pub use crate::model::stan::adopt::adopt;
        pub use crate::model::stan::{
            BuildObserver, Compiler, SilentBuild, StanError, StanSource, Toolchain, shipped_model,
            shipped_names,
        };
    }
}

pub mod numerics {
    pub use crate::numerics::{log_gamma, mean, sd};

    pub mod rng {
        pub use crate::numerics::rng::{DrawSeeds, stream};
    }
}

pub mod posterior {
    pub use crate::posterior::diagnostics::{mcse_mean, summarize};
    pub use crate::posterior::draws::{ChainDraws, read_links, read_output};
}

pub mod report {
    pub use crate::report::write;
}

pub mod sampler {
    pub mod chain {
        pub use crate::sampler::chain::{
            Chain, ChainParts, ChainSettings, DrawsInMemory, LINK_COLUMNS, LinkedDensity,
            LinkedPairs, SAMPLER_COLUMNS, Silent, StepTwo,
        };
    }

    pub mod links {
        pub use crate::sampler::links::{
            Checkerboard, Collapsed, FamilyLogLik, LinkKernel, ModeSearch, Normal, PriorKind,
            Restart,
        };
    }
}

pub mod text {
    pub use crate::text::list;
}

pub mod study {
    pub use crate::study::{CONTRACTION_D, CONTRACTION_T, epsilon2, radius};

    pub mod simulate {
        pub use crate::study::simulate::{
            Design, DesignName, Settings, Source, Truth, mislink_file, simulate,
        };
    }
}
