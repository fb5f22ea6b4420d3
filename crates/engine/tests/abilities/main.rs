//! What `load` can do beyond one URL at one pace, tried from end to end against servers that write down what came.

mod limits;
mod outcome;
mod pace;
#[path = "../peers/mod.rs"]
mod peers;
mod recorder;
mod requests;
#[path = "../truth/scripted.rs"]
mod scripted;
