//! Tests of charts and pages. How a page looks is checked in a browser (`tests/clients/html_report.py`).

mod charts;
mod pages;
