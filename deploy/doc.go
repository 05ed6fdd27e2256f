// Package deploy contains the files that operators copy, and no code: its tests check the files against the program.
package deploy
