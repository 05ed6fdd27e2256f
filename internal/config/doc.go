// Package config is the configuration, key by key (D14). It is read once: the defaults, over them the file that --config
// names, over that the variables WAYSIDE_…, over those the flags (D12.1). Every problem is reported at once, each with
// the key and the line, variable or flag it stands in; nothing that is not a key is passed over.
package config
