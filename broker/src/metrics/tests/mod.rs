mod counters;
mod document;
mod render;
mod sample;
mod text;
