// Package audit is who may read what of the audit log (D11.8): curators the decisions about feeds, admins everything.
package audit
