// Package mapping converts the objects or lines of a document without a known vocabulary to rows (D17.34). A mapping is
// data: it names members or columns, and the meaning of their words. It runs no code, and the cost of evaluating it is
// proportional to the length of its own text, which is bounded.
package mapping
