// Package config is the configuration, key by key (D14). It is read once: the defaults, over them the file that --config
// names, over that the variables WAYSIDE_…, over those the flags (D12.1). All problems are reported together, each with its
// key and its line, variable or flag. Unknown keys are problems.
package config
