mod counters;
mod document;
mod positions;
mod render;
mod sample;
mod text;
