// Package mapping says how the objects or lines of a document without a known vocabulary become rows (D17.34). A mapping is data: it names
// members or columns, and what their words mean. It runs no code, and evaluating one costs what its own text is long, which is bounded.
package mapping
