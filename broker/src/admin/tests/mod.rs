mod client;
mod endpoint;
