"""From a policy to decisions: odds, draws and decisions of whole data frames."""
