// Package deploy holds what an operator copies, and no code: its tests hold the files to the program that they run.
package deploy
