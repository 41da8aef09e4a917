//! What holds for the source as a whole: arrows between rooms, documents that are true, kernels that do not allocate.

mod allocations;
mod docs;
mod fuzz;
mod rooms;
