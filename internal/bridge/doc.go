// Package bridge is the one table of the formats that feeds may have beside v1 (D17), and what all of them share on the way from a
// foreign document to rows: unpacking, counting what is skipped, and the bounds of items. A format is one entry of the table.
package bridge
