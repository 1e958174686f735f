//! The folders of the user in which `nesl` keeps things from one run to the next.

use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};
use std::path::PathBuf;

/// The folder for what is worth keeping and not worth saving: what was typed, say.
pub fn state() -> Option<PathBuf> {
    let strategy = strategy()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()))
}

/// The folder for what the user has written to set up `nesl`.
pub fn config() -> Option<PathBuf> {
    Some(strategy()?.config_dir())
}

/// The folder for what can be computed again: `NESL_CACHE`, or the user's cache directory. An empty
/// `NESL_CACHE` says that nothing is to be kept.
pub fn cache() -> Option<PathBuf> {
    match std::env::var_os("NESL_CACHE") {
        Some(path) if path.is_empty() => None,
        Some(path) => Some(path.into()),
        None => Some(strategy()?.cache_dir()),
    }
}

fn strategy() -> Option<impl AppStrategy> {
    choose_app_strategy(AppStrategyArgs {
        top_level_domain: String::new(),
        author: String::new(),
        app_name: "nesl".to_string(),
    })
    .ok()
}
