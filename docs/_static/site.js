// Opened as a file the site may not fetch its own pages: results of a search then have no extract.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
