// Package bridge has the table of the formats that feeds may have beside v1 (D17), and the steps that all of them share on the way from a
// foreign document to rows: unpacking, counting of skipped items, and the bounds of items. A format is one entry of the table.
package bridge
